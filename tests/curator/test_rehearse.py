"""Rehearsals: made-up rows of the declared shape; no private row is read, nothing is spent."""

from __future__ import annotations

from collections import Counter

import pytest

import discreet as dp
from curator.cases import MEAN, PEOPLE, ROWS, VISITS, WARDS, curator, opened
from discreet.curator.verbs.rehearse import make_up

EVERY = {
    "i": dp.Integer(-3, 3),
    "r": dp.Real(0, 1, step="1/4"),
    "d": dp.Date("2024-01-01", "2024-01-09"),
    "t": dp.Timestamp("2024-01-01T00:00:00", "2024-01-01T00:00:09"),
    "c": dp.Category(["N", "S"], other=True),
    "b": dp.Boolean(null_key=True),
    "w": dp.Text(3),
}


class Untouched:
    """A store whose private rows nobody may ask for."""

    def __init__(self):
        self.store = dp.Memory(ROWS)
        self.check, self.explain, self.public_values = (
            self.store.check,
            self.store.explain,
            self.store.public_values,
        )

    def tally(self, tally):
        raise AssertionError("a private row was read")


def untouched(schemas=(PEOPLE, VISITS, WARDS)):
    return dp.Curator(Untouched(), schemas, opened())


class TestMadeUpRows:
    def test_have_every_kind_within_its_bounds_and_some_nulls(self):
        schema = dp.Schema("all", dp.Rows(), EVERY)
        rows = make_up([schema], 2_000).tables["all"]
        assert len(rows) == 2_000 and all(set(row) == set(EVERY) for row in rows)
        for name, column in EVERY.items():
            values = [row[name] for row in rows]
            assert 0 < values.count(None) < 200
            assert all(column.read(value) == value for value in values if value is not None)
            assert len(set(values) - {None}) > 1

    def test_belong_to_people_who_have_several(self):
        rows = make_up([VISITS], 900).tables["visits"]
        each = Counter(row["id"] for row in rows)
        assert len(rows) == 900 and 2 < 900 / len(each) < 4 and max(each.values()) > 3

    def test_are_the_same_each_time(self):
        assert make_up([PEOPLE, VISITS]).tables == make_up([PEOPLE, VISITS]).tables

    @pytest.mark.parametrize("name", EVERY)
    def test_of_a_public_table_have_a_unique_key(self, name):
        schema = dp.Schema.public_table("all", EVERY, key=name)
        rows = make_up([schema]).tables["all"]
        keys = [row[name] for row in rows]
        assert len(set(keys)) == len(keys) > 1
        make_up([schema]).check(schema)

    @pytest.mark.parametrize("name", EVERY)
    def test_of_a_public_table_repeat_no_value_more_than_it_states(self, name):
        schema = dp.Schema.public_table("all", EVERY, max_rows={name: 2})
        make_up([schema]).check(schema)

    def test_of_a_public_table_draw_on_what_it_holds(self):
        store = dp.Memory({"all": [{"d": "2024-01-05", "c": "S", "i": 1, "r": "0.5"}]})
        schema = dp.Schema.public_table("all", EVERY, key=("d", "c"))
        [row] = make_up(
            [schema], 5, lambda table, column: store.public_values(schema, column)
        ).tables["all"]
        assert [EVERY[name].read(row[name]) for name in "dcir"] == [
            EVERY["d"].read("2024-01-05"),
            "S",
            1,
            0.5,
        ]

    def test_without_a_key_there_is_still_a_table(self):
        assert make_up([dp.Schema.public_table("all", {"c": EVERY["c"]})]).tables["all"]


class TestARehearsal:
    def test_reads_nothing_and_is_marked_and_free(self):
        asked = untouched()
        answer = asked.rehearse(MEAN, spend=dp.PureDP(1))
        assert answer.columns == ("region", "n", "income") and answer.column("region") == [
            "N",
            "S",
            "E",
        ]
        assert (
            answer.receipt is None
            and "rehearsal: made-up data" in str(answer)
            and "rehearsal" in answer._repr_html_()
        )
        assert asked.spent() == dp.PureDP(0) and len(asked.ledger.history()) == 1

    def test_has_the_plan_and_the_errors_of_the_real_answer(self):
        asked = curator()
        sql = "SELECT w.city, COUNT(*) AS n FROM people p JOIN wards w ON p.ward = w.ward GROUP BY w.city"
        rehearsed, real = (
            asked.rehearse(sql, spend=dp.PureDP(1)),
            asked.sql(sql, spend=dp.PureDP(1)),
        )
        assert rehearsed.plan == real.plan and rehearsed.keys == real.keys
        assert sum(rehearsed.column("n")) > 500

    def test_may_cost_more_than_is_left(self):
        assert len(untouched().rehearse(MEAN, spend=dp.PureDP(100), rows=10)) == 3

    def test_of_people_and_quantiles(self):
        sql = "SELECT paid, COUNT(DISTINCT id) AS n, MEDIAN(minutes) AS m FROM visits GROUP BY paid"
        assert len(untouched().rehearse(sql, spend=dp.PureDP(5))) == 2

    @pytest.mark.parametrize("rows", [-1, 1.5, "many", None, 10**7])
    def test_of_no_number_of_rows_is_refused(self, rows):
        with pytest.raises(dp.InvalidArgument, match="rows must be"):
            untouched().rehearse(MEAN, spend=dp.PureDP(1), rows=rows)
