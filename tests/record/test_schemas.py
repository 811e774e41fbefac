"""The schemas must be the ledger's: stored questions are read with them, and fingerprints compared."""

from __future__ import annotations

import pytest

import discreet as dp
from record.conftest import PEOPLE, SQL, WORDS, ask


def _changed(**facts):
    return dp.Schema.from_dict({**PEOPLE.to_dict(), **facts})


def _columns(**columns):
    known = PEOPLE.to_dict()["columns"]
    return _changed(columns={**known, **columns})


WRONG = {
    "other bounds": _columns(age={"type": "integer", "low": 0, "high": 8}),
    "other categories": _columns(region={"type": "category", "values": ["N", "S"]}),
    "another unit": _changed(unit={"kind": "people", "id": "id", "max_rows": 1}),
    "other neighbours": _changed(neighbours="replace"),
    "another table": _changed(name="visits"),
    "a column less": _changed(columns={"age": PEOPLE.to_dict()["columns"]["age"]}),
}


@pytest.fixture(scope="module")
def asked():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, *SQL.values())
    return ledger


@pytest.mark.parametrize("kind", WRONG)
def test_another_schema_is_refused(asked, kind):
    with pytest.raises(dp.InvalidArgument, match="other schemas|not the ledger's|not its schemas"):
        dp.record(asked, WRONG[kind], WORDS)


def test_a_later_version_of_the_same_schema_is_taken(asked):
    assert dp.record(asked, _changed(version="2"), WORDS).tier == 3


def test_a_public_table_alone_is_refused(asked):
    regions = dp.Schema.public_table("regions", {"region": dp.Category(["N"])})
    with pytest.raises(dp.InvalidArgument, match="schema of a private table"):
        dp.record(asked, regions, WORDS)


def test_neighbours_of_an_empty_ledger_are_compared():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1), neighbours="replace")
    with pytest.raises(dp.InvalidArgument, match="counts replace neighbours"):
        dp.record(ledger, PEOPLE, WORDS)
