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


VISITS = dp.Schema(
    "visits",
    dp.People("id", max_rows=3, window=("day", "month")),
    {"day": dp.Date("2024-01-01", "2030-12-31"), "cost": dp.Integer(0, 50)},
)


@pytest.fixture(scope="module")
def truncated():
    """A ledger of estimates of what the caps cut off: 7 of 10 rows of everybody."""
    ledger = dp.open_ledger(":memory:", dp.PureDP(90))
    rows = [{"id": n % 40, "day": "2024-01-02", "cost": n % 50} for n in range(400)]
    curator = dp.Curator(dp.Memory({"visits": rows}), VISITS, ledger, who="ann")
    curator.estimate_truncation("visits", up_to=20, spend=dp.PureDP(10))
    curator.estimate_truncation("visits", up_to=20, of="cost", spend=dp.PureDP(10))
    return ledger


def test_what_the_caps_cut_off_is_said_where_it_was_asked_and_is_shown(truncated, tmp_path):
    cut = "Of the rows of visits the caps cut off a share of "
    assert cut not in dp.record(truncated, VISITS, WORDS).files["registry.yaml"]
    made = dp.record(truncated, VISITS, WORDS, questions=[2, 4])
    details = made.files["registry.yaml"].split("privacy_unit_details")[1]
    low, high = details.split(cut)[1].split(", at 95 %")[0].split(" to ")
    # An error of 0.01: beyond 20 of them on either side.
    assert 0.5 < float(low) < float(high) < 0.9
    assert details.count(cut) == 2
    assert '"data/entry-2.csv"' in made.files["evidence.json"]
    assert dp.check_record(made.write(tmp_path / "record"), truncated).charges == 2


def test_an_estimate_of_other_caps_is_refused(truncated):
    for max_rows in (2, 4, 20):
        unit = {**VISITS.to_dict()["unit"], "max_rows": max_rows}
        other = dp.Schema.from_dict({**VISITS.to_dict(), "unit": unit})
        with pytest.raises(dp.InvalidArgument, match="other schemas"):
            dp.record(truncated, other, WORDS)


def test_units_by_day_are_said(truncated):
    text = dp.record(truncated, VISITS, WORDS).files["registry.yaml"]
    said = text.split("data_source_type_details")[1].split("access_type")[0]
    assert "Data of visits come by the month: each is a unit of its own." in said
