"""Public values that a question lists by itself: IN (SELECT …), tables of sets too wide to count, what a cap cuts."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import pytest

import discreet as dp
from discreet.errors import InvalidArgument, UnsupportedQuery
from discreet.query import parse
from discreet.query.algebra.tally import Free, Tally
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.grouping_sets import (
    cover_of,
    is_wide,
    largest_set,
    table_cells,
    table_question,
)
from discreet.query.python.truncation import truncation_question

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(-9, 120),
        "town": dp.Text(9),
        "born": dp.Date("1900-01-01", "2025-12-31"),
        "pay": dp.Real(0, 9),
    },
)
TOWNS = dp.Schema.public_table(
    "towns",
    {
        "name": dp.Text(9),
        "code": dp.Integer(-9, 9),
        "since": dp.Date("1900-01-01", "2025-12-31"),
        "rent": dp.Real(0, 9),
        "coast": dp.Boolean(),
    },
)
TABLES = {"people": PEOPLE, "towns": TOWNS}
VALUES = {
    "name": ["Oslo", "Oslo", "Bergen"],
    "code": [3, -2],
    "since": [date(2001, 2, 3), 11_000],
    "rent": [1.5],
}


def count(where: str, values=VALUES):
    return parse(
        f"SELECT COUNT(*) AS n FROM people WHERE {where}", TABLES, lambda _, column: values[column]
    )


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ("town IN (SELECT name FROM towns)", "town IN ('Oslo', 'Bergen')"),
        (
            "(age > 3 OR town IN (SELECT name FROM towns))",
            "(age > 3 OR town IN ('Oslo', 'Bergen'))",
        ),
        (
            "CASE WHEN town IN (SELECT name FROM towns) THEN 1 ELSE 0 END = 0",
            "CASE WHEN town IN ('Oslo', 'Bergen') THEN 1 ELSE 0 END = 0",
        ),
        ("age IN (SELECT code FROM towns)", "age IN (3, -2)"),
        ("born IN (SELECT since FROM towns)", "born IN ('2001-02-03', '2000-02-13')"),
    ],
)
def test_a_public_column_is_written_out(asked, listed):
    assert count(asked) == count(listed)


@pytest.mark.parametrize(
    "asked",
    [
        "town NOT IN (SELECT DISTINCT t.NAME FROM Towns t)",
        "NOT (age > 3 OR (town IN (SELECT name FROM towns)))",
        "(town IN (SELECT name FROM towns)) IS NULL",
        "CASE WHEN age > 3 THEN town IN (SELECT name FROM towns) ELSE age > 1 END",
        "CASE age > 3 WHEN town IN (SELECT name FROM towns) THEN 1 ELSE 0 END = 0",
    ],
)
def test_a_null_that_a_list_would_leave_out_is_refused(asked):
    """By SQL one NULL among the values makes IN false or NULL, hence NOT IN never true."""
    with pytest.raises(UnsupportedQuery, match="may be NULL in towns.* WHERE name IS NOT NULL"):
        count(asked)


@pytest.mark.parametrize(
    ("asked", "values", "why"),
    [
        ("pay IN (SELECT rent FROM towns)", VALUES, "whole numbers, texts and dates"),
        ("age IN (SELECT code FROM towns)", {"code": []}, "none or too many"),
        ("age IN (SELECT code FROM towns)", {"code": range(1001)}, "1,001 values"),
        ("age IN (SELECT code FROM towns)", {"code": [1, None]}, "NULL"),
    ],
)
def test_what_cannot_be_listed_is_refused_with_what_works(asked, values, why):
    with pytest.raises(UnsupportedQuery, match=why) as refused:
        count(asked, values)
    assert "JOIN" in str(refused.value)


@pytest.mark.parametrize(
    "asked",
    [
        "age IN (SELECT code + 1 FROM towns)",
        "age IN (SELECT u.code FROM towns t)",
        "age IN (SELECT missing FROM towns)",
        "age IN (SELECT code FROM (SELECT code FROM towns))",
        "age IN (SELECT age FROM people)",
    ],
)
def test_other_sub_queries_are_refused_as_before(asked):
    with pytest.raises(UnsupportedQuery):
        count(asked)


class TestListsOfPublicValues:
    """IN (SELECT y FROM public WHERE c) lists the values of the public rows for which c is true."""

    ROWS = (
        ("Oslo", 3, 1.5, True),
        ("Rome", -2, 4.0, False),
        ("Riga", 5, 4.0, True),
        ("Oslo", 7, 9.0, True),
    )

    def parsed(self, where):
        """Parse a question against `ROWS`; a store gives distinct rows of the columns asked for."""
        names = ("name", "code", "rent", "coast")

        def public_values(_, *columns):
            rows = [tuple(row[names.index(column)] for column in columns) for row in self.ROWS]
            return [row[0] if len(row) == 1 else row for row in dict.fromkeys(rows)]

        return parse(f"SELECT COUNT(*) AS n FROM people WHERE {where}", TABLES, public_values)

    @pytest.mark.parametrize(
        ("condition", "listed"),
        [
            ("code > 2", "('Oslo', 'Riga')"),
            ("t.rent >= 4 AND code < 6", "('Rome', 'Riga')"),
            ("name LIKE 'R%'", "('Rome', 'Riga')"),
            ("code IN (-2, 5) AND rent = '4'", "('Rome', 'Riga')"),
            ("coast AND code > -9", "('Oslo', 'Riga')"),
            ("NOT coast", "('Rome')"),
            ("code IS NOT NULL AND 2 * rent > 9", "('Oslo')"),
        ],
    )
    def test_the_rows_for_which_the_condition_is_true(self, condition, listed):
        asked = f"town IN (SELECT name FROM towns t WHERE {condition})"
        if "2 * rent" in condition:
            with pytest.raises(UnsupportedQuery, match="rent is NULL"):
                self.parsed(asked)
        else:
            assert self.parsed(asked) == self.parsed(f"town IN {listed}")
            asked = f"town NOT IN (SELECT name FROM towns WHERE name IS NOT NULL AND {condition})"
            assert self.parsed(asked.replace("t.", "")) == self.parsed(f"NOT town IN {listed}")

    @pytest.mark.parametrize(
        ("condition", "why"),
        [
            ("code IS NULL", "it may hold where code is NULL"),
            ("code > 2 OR rent > 3", "it may hold where code is NULL"),
            ("code > 100", "none or too many"),
            ("age > 3", "no column 'age'"),
            ("t.code = people.age", "people.age: the sub-query depends on the row outside"),
        ],
    )
    def test_a_condition_that_a_list_cannot_tell_is_refused(self, condition, why):
        """Stores list rows without NULL, and know no outer row."""
        with pytest.raises(dp.DiscreetError, match=why):
            self.parsed(f"town IN (SELECT name FROM towns t WHERE {condition})")


def test_a_tally_knows_the_values_that_a_list_is_joined_to():
    """Of three keys the first and the last are joined; without a list nothing is."""
    table = Tally(Scan(PEOPLE), (), (), Free(), only=(("a", 1, "x"), ("a", 2, "x"), ("b", 1, "y")))
    assert table.matched is None
    assert replace(table, joined=(0, 2)).matched == (("a", "x"), ("b", "y"))


class TestWideSets:
    """Together the tables hold every set, and all of them count the same rows."""

    def test_tables_hold_all_sets(self):
        names = [f"k{i}" for i in range(6)]
        many = dp.Schema(
            "many",
            dp.Rows(),
            {name: dp.Integer(0, 9) for name in names} | {"d": PEOPLE.columns["born"]},
        )
        question = dp.Table(many).marginals(names, up_to=2)
        assert is_wide(question) and largest_set(question) == 100
        tables = cover_of(question)
        assert all(any({*one} <= {*table} for table in tables) for one in question.sets)
        for table in tables:
            asked = table_question(question, table)
            assert len(table_cells(question, table)) == math.prod(10 for _ in table)
            assert [key.name for key in asked.keys] == [
                question.keys[place].name for place in table
            ]
            assert asked.sets is None and asked.rows == question.rows

    def test_too_many_cells_in_all_are_refused(self):
        names = [f"k{i}" for i in range(40)]
        many = dp.Schema("many", dp.Rows(), {name: dp.Integer(0, 99) for name in names})
        with pytest.raises(UnsupportedQuery, match="cells in all"):
            dp.Table(many).marginals(names, up_to=2)


class TestCut:
    VISITS = dp.Schema(
        "visits", dp.People("who", max_rows=3), {"cost": dp.Integer(-2, 10), "kind": dp.Text(9)}
    )

    def test_asks_for_rows_beyond_the_cap_and_their_part_of_a_sum(self):
        question = truncation_question(self.VISITS, up_to=12, of="Cost")
        assert [name for name, _ in question.statistics] == ["cut", "kept", "cut_total", "total"]
        rows, total = (one for _, one in question.rows.totals)
        assert (rows.low, rows.high, total.low, total.high) == (1, 12, -24, 120)

    @pytest.mark.parametrize(
        ("schema", "words", "why"),
        [
            (PEOPLE, {"up_to": 9}, "unit of people is a row"),
            (VISITS, {"up_to": 3}, "above max_rows = 3"),
            (VISITS, {"up_to": 9, "of": "kind"}, "kind holds none"),
        ],
    )
    def test_refuses(self, schema, words, why):
        with pytest.raises(InvalidArgument, match=why):
            truncation_question(schema, **words)
