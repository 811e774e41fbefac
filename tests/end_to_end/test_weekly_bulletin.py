"""A hospital's weekly bulletin for five years, by a fast clock: CSV drops, one charge, a public page of final numbers.

As in docs/tutorials/weekly-bulletin.md with `periods=1826`, in a new process each Monday. Old rows leave the file,
patients are deleted: what stood on the page stays.
"""

from __future__ import annotations

import csv
from collections import Counter
from datetime import timedelta

import pytest

import discreet as dp
from streams.cases import START, set_clock

WARDS = ["surgery", "medicine"]
VISITS = dp.Schema(
    "visits",
    dp.People("patient", max_rows=10),
    {"day": dp.Date("2020-01-01", "2060-12-31"), "ward": dp.Category(WARDS)},
)
SQL = "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward"
DAYS, LATE, PATIENTS, MOST, APART = 1826, 2, 120, 20, 7
PLENTY = dp.ZCDP(10**14)
"""So much budget that noise is far below one row: who counts is seen."""


def patients_of(day):
    """Return the patients of a day, each in one ward; they come again after days or weeks."""
    return sorted({(5 * day + each * each * 11) % PATIENTS for each in range(8)})


def drop(path, day):
    """Write the file of a day: three weeks of rows up to yesterday, without those who were deleted."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["patient", "day", "ward"])
        for at in range(max(0, day - 21), min(day, DAYS)):
            for patient in patients_of(at):
                # On each first of a year of the stream one patient is deleted.
                if patient >= day // 365:
                    out.writerow([f"p{patient}", START + timedelta(days=at), WARDS[patient % 2]])


def expected():
    """Return what each day publishes by ward: patients count on their first 20 days, a week apart."""
    used, last = Counter(), {}
    found = []
    for day in range(DAYS):
        # Days close on Mondays, two days after their end.
        closes = 7 * -(-(day + 1 + LATE) // 7)
        wards = [0, 0]
        for patient in patients_of(day):
            near = day - last.get(patient, -APART) < APART
            if patient >= closes // 365 and not near and used[patient] < MOST:
                used[patient] += 1
                last[patient] = day
                wards[patient % 2] += 1
        found += wards
    return found


@pytest.mark.slow
def test_five_years(tmp_path, monkeypatch):
    ledger_path, path = tmp_path / "visits.ledger", tmp_path / "visits.csv"
    dp.open_ledger(ledger_path, PLENTY).close()
    seal = dp.Seal.create(tmp_path / "visits.key")
    words = {"start": START, "periods": DAYS, "late": LATE, "matters": {"day": 1}}
    words["per_person"] = dp.Days(MOST, apart=APART)
    page = {}
    for day in range(0, DAYS + 21, 7):
        set_clock(monkeypatch, day, hours=6)
        drop(path, day)
        with dp.open_ledger(ledger_path) as ledger:
            curator = dp.Curator(dp.DuckDB({"visits": str(path)}), [VISITS], ledger, who="bulletin")
            if not day:
                curator.stream(SQL, dp.ZCDP(10**13), name="visits", seal=seal, **words)
            report = curator.streams(seal)["visits"]
            report.close()
            # The page of this Monday: twelve weeks; a week that is whole never changes any more.
            ends = START + timedelta(days=report.closed - 1)
            for first, last, ward, n, *_ in report.by("week", 12).rows():
                if last < ends:
                    assert page.setdefault((first, last, ward), n) == n
    assert report.closed == DAYS and report.by("day").column("n") == expected()
    assert sum(page.values()) <= sum(report.total().column("n")) == sum(expected())
    with dp.open_ledger(ledger_path) as ledger:
        assert ledger.verify().charges == 1
        kinds = Counter(entry.kind for entry in ledger.history())
    assert kinds["charge"] == 1 and kinds["seal"] == kinds["period"] == DAYS
