"""Ledgers, schemas and words that the tests of records share."""

from __future__ import annotations

import random

import pytest

import discreet as dp

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "region": dp.Category(["N", "S", "E"]),
        "age": dp.Integer(0, 9),
        "income": dp.Real(0, 1000, step=1),
    },
)
WORDS = {
    "data_curators": ["City of Example"],
    "intended_use": "Planning: of 'buses' # and trams",
    "data_product_region": "Example",
    "data_product_sector": "Government",
    "description": "Counts of people\n  by region.",
    "justification": "- A census is due.",
    "notes": "Yes: no.",
    "registry_authors": ["A. Writer"],
}
"""The eight words that make a record of tier 3."""
SQL = {
    "means": "SELECT region, COUNT(*) AS n, AVG(income) AS mean FROM people GROUP BY region",
    "cube": "SELECT region, age, COUNT(*) AS n FROM people GROUP BY CUBE (region, age)",
    "line": "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM people GROUP BY age",
}


def made_rows(count=500):
    """Rows of made-up people."""
    draw = random.Random(1)
    rows = []
    for _ in range(count):
        age = draw.randrange(10)
        rows.append({"region": draw.choice("NSE"), "age": age, "income": 100 * age})
    return rows


def ask(ledger, *sqls, who="ann", why="", spend="1/4", rows=None):
    """Ask questions of a curator of made-up people."""
    store = dp.Memory({"people": made_rows() if rows is None else rows})
    curator = dp.Curator(store, PEOPLE, ledger, who=who)
    return [curator.sql(sql, spend=dp.PureDP(spend), why=why) for sql in sqls]


@pytest.fixture
def asked():
    """A ledger with a table of means, a cube and a line of running totals."""
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, *SQL.values())
    return ledger
