"""Dashboards: what BI tools send is answered or free, and a page that is opened again costs nothing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.service.postgres.questions import Asked, Studied, study
from discreet.service.postgres.refusals import WireError, wire_error
from discreet.service.postgres.settings import Settings
from discreet.service.postgres.statements import split

BI_STATEMENTS = split((Path(__file__).parent / "bi_statements.sql").read_text())
LEAST_ANSWERED = 55
TERMS = Settings({}).set("discreet.epsilon", "1/10").terms()
TIMES = "'2024-02-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US'"
PANELS = [
    "SELECT COUNT(*) AS n FROM people WHERE age > {}",
    "SELECT region, COUNT(*) AS n FROM people WHERE age > {} GROUP BY region",
    "SELECT AVG(income) AS m FROM people WHERE age > {}",
    "SELECT region, AVG(income) AS m FROM people WHERE age > {} GROUP BY region",
    "SELECT SUM(income) AS s FROM people WHERE age > {}",
    "SELECT age, COUNT(*) AS n FROM people WHERE income > {} GROUP BY age",
    "SELECT MEDIAN(income) AS q FROM people WHERE age > {}",
    "SELECT MAX(income) AS x FROM people WHERE age > {}",
    "SELECT region, SUM(income) AS s FROM people WHERE age > {} GROUP BY region",
    "SELECT VARIANCE(income) AS v FROM people WHERE age > {}",
]
"""Ten questions of ten measurements: none is made of another's cells."""


@pytest.fixture(scope="module")
def curator():
    columns = {
        "day": dp.Date("2024-01-01", "2024-12-31"),
        "region": dp.Category(["N", "S", "E", "W"]),
        "product": dp.Category(["A", "B", "C"]),
        "amount": dp.Real(0, 1000, step=1),
        "age": dp.Integer(0, 120),
    }
    sales = dp.Schema("sales", dp.People("customer", max_rows=20), columns)
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(100, 1e-6))
    return dp.Curator(dp.Memory({"sales": []}), [sales], ledger)


def _study(curator, sql):
    try:
        return study(curator, Asked(sql, terms=TERMS))
    except DiscreetError as refusal:
        return wire_error(refusal)


def test_statements_of_bi_tools(curator):
    refused = {}
    for sql in BI_STATEMENTS:
        found = _study(curator, sql)
        if isinstance(found, WireError):
            refused[sql] = found
    assert len(BI_STATEMENTS) == 60
    assert len(BI_STATEMENTS) - len(refused) >= LEAST_ANSWERED
    # Whoever is refused learns what would work; and only rows of people are refused here.
    assert all(found.hint for found in refused.values())
    assert all(
        "shows rows" in found.words or "the person" in found.words for found in refused.values()
    )


@pytest.mark.parametrize(
    ("written", "literal"),
    [
        ("TO_DATE('2024-02-01', 'YYYY-MM-DD')", "DATE '2024-02-01'"),
        (f"TO_TIMESTAMP({TIMES})", "TIMESTAMP '2024-02-01 00:00:00'"),
    ],
)
def test_dates_as_dashboards_write_them(curator, written, literal):
    found = _study(curator, f"SELECT COUNT(*) AS n FROM sales WHERE day < {written}")
    assert isinstance(found, Studied), found.words
    # The very question that plain SQL asks, so that one answer serves both.
    plain = _study(curator, f"SELECT COUNT(*) AS n FROM sales WHERE day < {literal}")
    explained = [curator.explain(kept.sql, **TERMS.words()) for kept in (found, plain)]
    assert str(explained[0]) == str(explained[1])


def test_other_forms_of_dates_are_refused(curator):
    found = _study(
        curator, "SELECT COUNT(*) AS n FROM sales WHERE day < TO_DATE('1.2.24', 'D.M.Y')"
    )
    assert isinstance(found, WireError) and "TO_DATE" in found.words


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_dashboard_costs_its_ten_questions_once(own_wire, times):
    """Three people open ten panels again and again; other names and orders are other spellings."""
    wire = own_wire(limits="free_seconds = 60")
    seen = {}
    for opened in range(times):
        for who in ("ana", "bob", "stella"):
            with wire.connect(who) as line:
                for place, panel in enumerate(PANELS):
                    sql = panel.format(5 * times) + (" LIMIT 1000" if opened % 2 else "")
                    rows = line.execute(sql).fetchall()
                    assert seen.setdefault(place, rows) == rows
    once = Fraction(len(PANELS), 10)
    with wire.deployment.client("ana") as client:
        budget = client.get("/datasets/people/left").json()["left_for_all"]
    assert Fraction(budget["epsilon"]) == 100 - once
    assert {who: wire.spent(who) for who in ("ana", "bob", "stella")} == dict.fromkeys(
        ("ana", "bob", "stella"), once
    )
