"""Messy files: cells read otherwise than they are meant, by discreet, pandas and DuckDB's own reader.

    python benchmarks/messy.py                         200,000 records, seeds 1 to 5
    python benchmarks/messy.py --rows 20000 --seeds 7

The commands are those printed in docs/how-to/messy-files.md. `messy_data.py` writes each file and what it means. A
cell is wrong if it is read as another value, or not read though it means one, or read though it means nothing.
Three ways stand beside: pandas and DuckDB's reader with the options they have, and pandas written out by somebody who
knows everything that is in the file. Lines are those of the function or the commands.
"""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import pandas as pd

from discreet.data.columns.declared import SteppedColumn
from discreet.data.files.schema_file import read_schemas
from messy_data import SUBJECTS, write

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "messy-files.md"
KEYS = {"visits": "visit", "invoices": "rechnung"}
NOT_COMPARED = ("patient", "kunde")
"""Ids: a store keeps numbers of people instead."""


def commands(subject: str) -> list[str]:
    """Return the commands of a subject as the page prints them, each perhaps in several lines."""
    found = []
    for block in re.findall(
        r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S
    ):
        for command in block.strip().split("$ "):
            if f"{subject}." in command:
                found.append(command.strip())
    return found


def run_discreet(subject: str, folder: Path) -> tuple[pd.DataFrame, int]:
    """Run the commands; return the cells of the store as text, and the lines of the last report."""
    for command in commands(subject):
        words = shlex.split(command.replace("\\\n", " "))[1:]
        program = [str(Path(sys.executable).with_name("discreet")), *words]
        done = subprocess.run(
            program,
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise SystemExit(f"{command}\n{done.stderr}")
    return read_store(subject, folder), len(done.stdout.splitlines())


def read_store(subject: str, folder: Path) -> pd.DataFrame:
    """Return the cells of a prepared store as text."""
    (schema,) = read_schemas(folder / f"{subject}.toml")
    with duckdb.connect(str(folder / f"{subject}.store"), read_only=True) as connection:
        kept = connection.execute(f"SELECT * FROM {subject}").df()
    cells = {}
    for name, column in schema.columns.items():
        values = kept[name].astype(object).where(kept[name].notna(), None)
        if isinstance(column, SteppedColumn):
            cells[name] = [
                None if value is None else str(column.at(int(value))) for value in values
            ]
        else:
            cells[name] = [_text(value) for value in values]
    return pd.DataFrame(cells)


def pandas_options(path: Path) -> pd.DataFrame:
    """Visits by the options of pandas."""
    table = pd.read_csv(
        path, thousands=",", na_values=["n/a", "N/A", "-", "unknown", "999"], skipinitialspace=True
    )
    table["seen"] = pd.to_datetime(table["seen"], format="mixed", errors="coerce").dt.date
    table["weight"] = pd.to_numeric(table["weight"], errors="coerce")
    table["ward"] = table["ward"].str.strip().str.lower()
    table["height_unit"] = table["height_unit"].str.strip().str.lower()
    table["smoker"] = (
        table["smoker"]
        .str.strip()
        .str.lower()
        .map({"yes": True, "y": True, "no": False, "n": False})
    )
    return table


def pandas_written_out(path: Path) -> pd.DataFrame:
    """Visits by somebody who knows all that is in the file."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table = table.apply(lambda column: column.str.strip())
    table = table.mask(table.isin(["", "n/a", "N/A", "-", "unknown"]))
    seen = table["seen"]
    days = pd.to_datetime(seen, format="%Y-%m-%d", errors="coerce")
    for form in ("%d.%m.%Y", "%m/%d/%Y"):
        days = days.fillna(pd.to_datetime(seen, format=form, errors="coerce"))
    table["seen"] = days.dt.date
    parts = table["weight"].str.extract(r"^([0-9.]+)\s*(kg|lb)?$")
    factor = parts[1].map({"lb": 0.45359237}).fillna(1)
    table["weight"] = (pd.to_numeric(parts[0]) * factor).round(1)
    table["cost"] = pd.to_numeric(table["cost"].str.replace(",", ""))
    table["height"] = pd.to_numeric(table["height"])
    table["height_unit"] = table["height_unit"].str.lower()
    table["age"] = pd.to_numeric(table["age"].mask(table["age"] == "999"))
    meanings = {
        "e.r.": "emergency", "emerg.": "emergency", "i.c.": "intensive care", "intensivecare": "intensive care",
        "surgrey": "surgery", "matern.": "maternity", "cardiolgy": "cardiology", "cardio": "cardiology",
    }  # fmt: skip
    table["ward"] = table["ward"].str.lower().replace(meanings)
    truths = {"yes": True, "y": True, "no": False, "n": False}
    table["smoker"] = table["smoker"].str.lower().map(truths)
    return table


def duckdb_reader(path: Path) -> pd.DataFrame:
    """Visits by DuckDB's own reader, types detected."""
    marks = ["n/a", "N/A", "-", "unknown", "999", ""]
    columns = "* REPLACE (lower(trim(ward)) AS ward, lower(trim(height_unit)) AS height_unit)"
    text = (
        f"SELECT {columns} FROM read_csv(?, nullstr = {marks}, sample_size = -1, thousands = ',')"
    )
    return duckdb.execute(text, [str(path)]).df()


def wrong_cells(read: pd.DataFrame, truth: pd.DataFrame, key: str) -> dict[str, int]:
    """Count the wrong cells of each column; records that are there twice are compared twice."""
    meant = truth.drop_duplicates(key).set_index(key)
    of_row = read[key].map(_text)
    wrong = {}
    for name in truth.columns:
        if name in (key, *NOT_COMPARED):
            continue
        pairs = pd.DataFrame({"got": read[name].map(_text), "wanted": of_row.map(meant[name])})
        # Each pair is judged once: most of them occur many times.
        counts = pairs.fillna("").value_counts()
        wrong[name] = sum(count for pair, count in counts.items() if _differ(*pair, name))
    return wrong


def _text(value: object) -> str | None:
    if pd.isna(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _value(text: str, name: str) -> object:
    if name in ("smoker", "bezahlt"):
        return {"True": "yes", "False": "no"}.get(text, text)
    try:
        return Fraction(text)
    except ValueError:
        return text[:10] if text[:4].isdigit() else text


TOLERANCE = {"weight": Fraction("0.051")}
"""Half a step of columns that are rounded after they are scaled, and the last bits of a double."""


def _differ(got_text: str, wanted_text: str, name: str) -> bool:
    if not got_text or not wanted_text:
        return got_text != wanted_text
    got = _value(got_text, name)
    wanted = _value(wanted_text, name)
    if isinstance(got, Fraction) and isinstance(wanted, Fraction):
        return abs(got - wanted) > TOLERANCE.get(name, Fraction("1e-9"))
    return got != wanted


def lines_of(function: Callable[[Path], pd.DataFrame]) -> int:
    """Count the lines of a function, without its name and docstring."""
    return len(inspect.getsource(function).strip().splitlines()) - 2


def _print(who: str, lines: int, wrong: dict[str, int], cells: int, seconds: float) -> None:
    total = sum(wrong.values())
    worst = ", ".join(f"{name} {count:,}" for name, count in wrong.items() if count)
    print(
        f"{who:28} {lines:3} lines {total:9,} wrong of {cells:,} ({100 - 100 * total / cells:.3f} % as meant) {seconds:5.1f} s  {worst}"
    )


def main() -> None:
    """Print a line for each way, subject and seed."""
    options = argparse.ArgumentParser(description="Cells of messy files read otherwise than meant.")
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    given = options.parse_args()
    for subject in SUBJECTS:
        for seed in given.seeds:
            with tempfile.TemporaryDirectory() as place:
                _compare(subject, Path(place), given.rows, seed)


def _compare(subject: str, folder: Path, rows: int, seed: int) -> None:
    path = folder / f"{subject}.csv"
    truth = pd.read_csv(write(subject, path, rows, seed), dtype=str, keep_default_na=False)
    key = KEYS[subject]
    cells = len(truth) * (len(truth.columns) - 2)
    print(f"\n{subject}, seed {seed}: {len(truth):,} records")
    begun = time.perf_counter()
    read, report = run_discreet(subject, folder)
    seconds = time.perf_counter() - begun
    who = f"discreet ({report} lines told)"
    lines = len("\n".join(commands(subject)).splitlines())
    _print(who, lines, wrong_cells(read, truth, key), cells, seconds)
    if subject != "visits":
        return
    for function in (pandas_options, pandas_written_out, duckdb_reader):
        begun = time.perf_counter()
        table = function(path)
        seconds = time.perf_counter() - begun
        _print(
            function.__name__, lines_of(function), wrong_cells(table, truth, key), cells, seconds
        )


if __name__ == "__main__":
    main()
