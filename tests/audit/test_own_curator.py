"""The curator under its own auditor (large n: `make audit`)."""

import pytest

import discreet as dp
from audit.own_curator import BY_WARD, CASES, HEAVY, maker, store_of
from audit.own_questions import ONE, schema
from discreet.audit import audit, sql_run
from discreet.errors import InvalidArgument


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name", [pytest.param("public keys", marks=pytest.mark.slow), "unknown keys", "by error"]
)
def test_not_refuted(name):
    """False-alarm rate: 1e-11 for each of the audits."""
    run, claim, inputs = CASES[name]
    how = {"neighbours": "add-remove", "unit": "id", "confidence": 1 - 1e-11}
    report = audit(run, claim, inputs, samples=100, **how)
    assert report.verdict == "not refuted", report


@pytest.mark.statistical
def test_the_auditor_would_see():
    """A curator that spends 20 is refuted at 1; missed with probability below 1e-9."""
    much = dp.PureDP(20)
    run = sql_run(maker("people", much), "SELECT COUNT(*) AS n FROM visits", spend=much)
    assert audit(run, ONE, HEAVY, samples=100, neighbours="add-remove", unit="id").refuted


def test_a_kept_ledger_is_no_new_run():
    ledgers = {}

    def make(rows):
        ledger = ledgers.setdefault(len(rows), dp.open_ledger(":memory:", ONE))
        return dp.Curator(store_of(rows), [schema("people")], ledger)

    with pytest.raises(InvalidArgument, match="must open a new ledger"):
        audit(sql_run(make, BY_WARD, spend=ONE), ONE, HEAVY, samples=100)


def test_a_refusal_says_the_same_whatever_the_data():
    """Too little is left: the words of BudgetExceeded do not depend on the rows."""
    run = sql_run(maker("people", ONE), BY_WARD, spend=dp.PureDP(2))
    report = audit(run, ONE, HEAVY, samples=100)
    assert report.verdict == "not tested"
    assert "raised BudgetExceeded" in report.reason
