"""Messy files with their truth beside them: visits to a hospital, and invoices in German.

    python benchmarks/messy_data.py visits visits.csv --rows 200000 --seed 1

writes visits.csv and visits.truth.csv. Both files of a subject have the same records in the same
order; the truth has days in ISO, amounts in the column's own unit, listed keys, and nothing for what
is unknown. About one record in a hundred is there twice.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

UNKNOWN = ("", "n/a", "N/A", "-", "unknown", "  ")
UNKNOWN_GERMAN = ("", "k.A.", "unbekannt", "-", "keine Angabe")
LB = Fraction("0.45359237")
WARDS = {
    "emergency": ("emergency", "Emergency", "EMERGENCY ", "E.R.", "emerg."),
    "intensive care": ("intensive care", "Intensive Care", " intensive care", "I.C.", "intensivecare"),
    "surgery": ("surgery", "Surgery", "SURGERY", "surgrey", "\tsurgery"),
    "maternity": ("maternity", "Maternity", "maternity ", "MATERNITY", "matern."),
    "cardiology": ("cardiology", "Cardiology", "cardiolgy", "CARDIOLOGY", "cardio"),
}  # fmt: skip
BRANCHES = {
    "Köln": ("Köln", "köln", "KÖLN", "Koeln", "Köln "),
    "München": ("München", "MÜNCHEN", "Muenchen", "münchen", " München"),
    "Hamburg": ("Hamburg", "HAMBURG", "hamburg ", "Hamburk", "HH"),
    "Leipzig": ("Leipzig", "leipzig", "LEIPZIG", "Leipzg", "Leipzig\u00a0"),
}
WEIGHTS = (50, 20, 15, 10, 5)
"""How often the five spellings of a key occur."""
Record = tuple[dict[str, str], dict[str, str]]


def visits(dice: random.Random, rows: int) -> Iterator[Record]:
    """Yield visits: three formats of days, kg and lb, thousands, 999 for an unknown age."""
    for number in range(1, rows + 1):
        seen = _day(dice)
        seen_text = _one_of(
            dice,
            ((50, seen.isoformat()), (30, f"{seen:%d.%m.%Y}"), (20, f"{seen:%m/%d/%Y}")),
        )
        ward = dice.choice(list(WARDS))
        weight_text, weight = _weight(dice)
        centimetres = round(dice.gauss(170, 10), 1)
        height, unit = _one_of(
            dice,
            ((70, (centimetres, "cm")), (30, (round(centimetres / 2.54, 1), "in"))),
        )
        unit_text = dice.choices((unit, unit.upper(), f" {unit}"), (80, 15, 5))[0]
        cents = int(dice.lognormvariate(11, 1)) % 2_000_000
        age = min(110, int(dice.gauss(50, 20) ** 2) // 30)
        yield (
            {
                "visit": str(number),
                "patient": f"P{dice.randrange(rows // 3 + 1):06d}",
                "seen": _or_unknown(dice, seen_text, UNKNOWN, 0.01),
                "ward": dice.choices(WARDS[ward], WEIGHTS)[0],
                "weight": weight_text,
                "height": str(height),
                "height_unit": unit_text,
                "cost": f"{cents / 100:,.2f}",
                "age": _or_unknown(dice, str(age), ("999", *UNKNOWN), 0.05),
                "smoker": _or_unknown(dice, dice.choice(("yes", "no", "Y", "N")), UNKNOWN, 0.03),
            },
            {
                "seen": seen.isoformat(),
                "ward": ward,
                "weight": weight,
                "height": str(Fraction(str(height))),
                "height_unit": unit,
                "cost": str(Fraction(cents, 100)),
                "age": str(age),
                "smoker": "",
            },
        )


def invoices(dice: random.Random, rows: int) -> Iterator[Record]:
    """Yield invoices: days, amounts and weights as they are written in Germany."""
    for number in range(1, rows + 1):
        day = _day(dice)
        day_text = _one_of(
            dice,
            ((60, f"{day:%d.%m.%Y}"), (25, day.isoformat()), (15, f"{day:%d/%m/%Y}")),
        )
        branch = dice.choice(list(BRANCHES))
        cents = int(dice.lognormvariate(10, 1.2)) % 5_000_000
        amount = f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))
        grams = dice.randrange(100, 30_000)
        in_kilograms = f"{grams / 1000:.3f}".replace(".", ",") + " kg"
        pieces = dice.randrange(1, 400)
        yield (
            {
                "rechnung": str(number),
                "kunde": f"K-{dice.randrange(rows // 2 + 1)}",
                "datum": _or_unknown(dice, day_text, UNKNOWN_GERMAN, 0.01),
                "filiale": dice.choices(BRANCHES[branch], WEIGHTS)[0],
                "betrag": _one_of(dice, ((70, amount), (30, f"{amount} €"))),
                "gewicht": _one_of(dice, ((60, in_kilograms), (40, f"{grams} g"))),
                "menge": _or_unknown(dice, str(pieces), ("-1", "9999", *UNKNOWN_GERMAN), 0.04),
                "bezahlt": dice.choice(("ja", "nein", "Ja", "NEIN", "nein ")),
            },
            {
                "datum": day.isoformat(),
                "filiale": branch,
                "betrag": str(Fraction(cents, 100)),
                "gewicht": str(Fraction(grams, 1000)),
                "menge": str(pieces),
                "bezahlt": "",
            },
        )


SUBJECTS: dict[str, tuple[Callable[[random.Random, int], Iterator[Record]], str]] = {
    "visits": (visits, ","),
    "invoices": (invoices, ";"),
}
"""Records of each subject, and the delimiter of its file."""


def write(subject: str, path: Path, rows: int, seed: int) -> Path:
    """Write a messy file; return the path of its truth."""
    make, delimiter = SUBJECTS[subject]
    dice = random.Random(seed)
    truth_path = path.with_suffix(".truth.csv")
    with (
        path.open("w", encoding="utf-8", newline="") as messy_file,
        truth_path.open("w", encoding="utf-8", newline="") as truth_file,
    ):
        messy = csv.writer(messy_file, delimiter=delimiter, lineterminator="\n")
        truth = csv.writer(truth_file, lineterminator="\n")
        for number, (record, meant) in enumerate(make(dice, rows)):
            known = _known(record, meant)
            if number == 0:
                messy.writerow(record)
                truth.writerow(known)
            for _ in range(2 if dice.random() < 0.01 else 1):
                messy.writerow(record.values())
                truth.writerow(known.values())
    return truth_path


def _known(record: dict[str, str], meant: dict[str, str]) -> dict[str, str]:
    """Return what a record means: nothing where it is unknown, truths as yes and no."""
    truths = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "ja": "ja", "nein": "nein"}
    known = {}
    for name, text in record.items():
        written = text.strip()
        if written in {*UNKNOWN, *UNKNOWN_GERMAN, "999", "9999", "-1"} and name in meant:
            known[name] = ""
        elif name in ("smoker", "bezahlt"):
            known[name] = truths[written.lower()]
        else:
            known[name] = meant.get(name, text)
    return known


def _day(dice: random.Random) -> date:
    return date(2020, 1, 1) + timedelta(days=dice.randrange(1826))


def _weight(dice: random.Random) -> tuple[str, str]:
    """Return a weight as it is written, and in kilograms."""
    kilograms = round(dice.gauss(78, 15), 1)
    pounds = round(kilograms / float(LB), 1)
    in_pounds = (f"{pounds} lb", str(Fraction(str(pounds)) * LB))
    exact = str(Fraction(str(kilograms)))
    return _one_of(
        dice,
        ((40, (f"{kilograms} kg", exact)), (30, in_pounds), (30, (str(kilograms), exact))),
    )


def _one_of(dice: random.Random, choices):
    weights = [weight for weight, _ in choices]
    return dice.choices([choice for _, choice in choices], weights)[0]


def _or_unknown(dice: random.Random, text: str, marks: tuple[str, ...], share: float) -> str:
    return dice.choice(marks) if dice.random() < share else text


def main() -> None:
    """Write one file and its truth."""
    options = argparse.ArgumentParser(description="Write a messy file and its truth.")
    options.add_argument("subject", choices=SUBJECTS)
    options.add_argument("path", type=Path)
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    print(write(given.subject, given.path, given.rows, given.seed))


if __name__ == "__main__":
    main()
