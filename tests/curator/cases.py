"""A small world to ask about: people in regions, their visits, public wards; and curators over it."""

from __future__ import annotations

from fractions import Fraction

import discreet as dp
from discreet.statistics.shared_totals import SumWay

REGIONS = ["N", "S", "E"]
PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 120),
        "income": dp.Real(0, 1000, step=1),
        "region": dp.Category(REGIONS),
        "ward": dp.Integer(1, 4),
        "town": dp.Text(12),
    },
)
VISITS = dp.Schema(
    "visits",
    dp.People("id", max_rows=3, max_groups=2),
    {
        "minutes": dp.Integer(0, 60),
        "day": dp.Date("2024-01-01", "2024-01-31"),
        "paid": dp.Boolean(),
    },
)
WARDS = dp.Schema.public_table("wards", {"ward": dp.Integer(1, 4), "city": dp.Text(12)}, key="ward")
ROWS = {
    "people": [
        {"age": 20 + n % 50, "income": 100 + n % 700, "region": REGIONS[n % 2], "ward": 1 + n % 4, "town": "Rome"}
        for n in range(400)
    ],
    "visits": [{"id": n // 2, "minutes": n % 60, "day": f"2024-01-{1 + n % 31:02d}", "paid": n % 3 == 0} for n in range(200)],
    "wards": [{"ward": n, "city": "Oslo" if n < 3 else "Rome"} for n in range(1, 5)],
}  # fmt: skip
COUNT = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
MEAN = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"


def opened(budget=None, where=":memory:", **terms):
    return dp.open_ledger(where, dp.PureDP(10) if budget is None else budget, **terms)


def curator(ledger=None, rows=None, schemas=(PEOPLE, VISITS, WARDS), **more):
    return dp.Curator(
        dp.Memory({**ROWS, **(rows or {})}), schemas, opened() if ledger is None else ledger, **more
    )


def plan_otherwise(monkeypatch):
    """Put another planner in place: it divides a spend otherwise, as a better one would."""
    from discreet.plan import choose

    usual = choose.divide

    def other(*args, **more):
        parts = [part * (place + 2) for place, part in enumerate(usual(*args, **more))]
        return tuple(part / sum(parts) for part in parts)

    monkeypatch.setattr(choose, "divide", other)
    monkeypatch.setattr("discreet.plan.layout.possible_ways", lambda *_: (SumWay.APART,))
    monkeypatch.setattr(choose, "key_part", lambda _weights: Fraction(1, 3))


def told_later(answer):
    """The plan of a stored answer as it is told once the planner would plan otherwise."""
    return f"planned by an earlier release, charged as {answer.receipt.event}"
