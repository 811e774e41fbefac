"""A table of visits by day and region, a clock that tests set, and curators over both."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import discreet as dp
from discreet.ledger import clock

START = date(2027, 1, 1)
COLUMNS = {
    "day": dp.Date("2020-01-01", "2060-12-31"),
    "region": dp.Category(["N", "S"]),
    "minutes": dp.Integer(0, 60),
}
VISITS = dp.Schema("visits", dp.Rows(), COLUMNS)
PEOPLE = dp.Schema("visits", dp.People("who", max_rows=3), COLUMNS)
PERSON_DAYS = dp.Schema("visits", dp.People("who", max_rows=3, window=("day", "day")), COLUMNS)
BY_REGION = "SELECT day, region, COUNT(*) AS n FROM visits GROUP BY day, region"
ALL = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
PLENTY = dp.ZCDP(10**12)
"""So much budget that noise is far below one row: answers are exact."""


def visit(day, region="N", who="ann", minutes=10):
    return {"day": START + timedelta(days=day), "region": region, "who": who, "minutes": minutes}


def set_clock(monkeypatch, day, hours=0):
    """Let the ledger's clock say so many days after the start of the stream."""
    now = datetime(START.year, START.month, START.day, tzinfo=UTC) + timedelta(
        days=day, hours=hours
    )
    monkeypatch.setattr(clock, "now", lambda: now)


def curator(rows, ledger, schema=VISITS, who="ana"):
    return dp.Curator(dp.Memory({"visits": rows}), [schema], ledger, who=who)


def column(table, name="n"):
    return table.column(name)
