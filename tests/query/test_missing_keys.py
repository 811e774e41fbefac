"""Rows without a key: which tables of a question count the same rows, from public facts alone."""

from __future__ import annotations

from datetime import date, datetime
from itertools import product

import pyarrow as pa
import pytest

import discreet as dp
from discreet.query import describe
from discreet.query.bounds import nested
from discreet.query.bounds.missing_keys import (
    absent_keys,
    keyed_question,
    marked_question,
    table_parts,
)
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.meaning.evaluate import evaluate
from discreet.query.text.keys_condition import keys_condition

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 29),
        "size": dp.Integer(0, 29, default=0),
        "sex": dp.Category(["f", "m"], default="f"),
    },
)
HALF = "CASE WHEN size < 10 THEN 'low' END"


def question(keys, form="CUBE"):
    sql = f"SELECT {keys}, COUNT(*) AS n FROM people GROUP BY {form} ({keys})"
    return dp.parse_sql(sql, {"people": PEOPLE})


@pytest.mark.parametrize(
    ("keys", "absent", "parts"),
    [
        ("size, sex", (), 1),
        ("age, sex", ("age",), 2),
        ("FLOOR(size / 10), size", (), 1),
        ("FLOOR(age / 10), age", ("floor", "age"), 2),
        (f"size, {HALF}", ("case",), 2),
        (f"COALESCE(age, 0), age, {HALF}", ("age", "case"), 4),
        (f"sex, {HALF}, NULLIF(size, 3)", ("case", "nullif"), 4),
    ],
)
def test_tables_of_different_rows_are_told_apart(keys, absent, parts):
    asked = question(keys)
    assert len(absent_keys(asked, None)) == len(absent)
    assert len(table_parts(asked, None)) == parts
    marked = marked_question(asked, None)
    has_mark = [None in key.values for key in marked.keys]
    assert sum(has_mark) == len(absent)
    assert (marked == asked) == (parts == 1)
    if asked.nested is not None and absent:
        assert marked.nested.rows == (*asked.nested.rows, (None, None))


def test_a_key_that_every_set_names_has_no_mark():
    """A row without it is in no set at all."""
    sets = "SELECT age, NULLIF(size, 3) AS s, COUNT(*) AS n FROM people GROUP BY age, ROLLUP (s)"
    asked = dp.parse_sql(sets, {"people": PEOPLE})
    marked = marked_question(asked, None)
    assert [None in key.values for key in marked.keys] == [False, True]


def test_a_shorter_list_makes_other_values_null():
    """A value that may occur and is not listed is none of the public keys, as a NULL is."""
    asked = dp.Table(PEOPLE).marginals(["size", "sex"], keys={"size": [1, 2]})
    size, sex = marked_question(asked, None).keys
    assert size.values == (1, 2, None) and "CASE" in repr(size.expression)
    assert sex == asked.keys[1]


def test_levels_of_one_column_are_a_hierarchy_unless_a_value_makes_one_null():
    assert question("FLOOR(size / 10), size", "ROLLUP").nested is not None
    assert question(f"{HALF}, size", "ROLLUP").nested is None
    assert question("COALESCE(age, 0), age", "ROLLUP").nested is None


def test_the_values_of_a_hierarchy_are_evaluated_once(monkeypatch):
    """A column may have 200,000 values: who asks which rows count evaluates each level once."""
    land = dp.Schema("land", dp.Rows(), {"tract": dp.Integer(0, 119)})
    levels = {"state": dp.col("tract") // 60, "county": dp.col("tract") // 12, "tract": "tract"}
    question = dp.Table(land).hierarchy(levels)
    evaluated = []
    evaluate = nested._values_of

    def count(expression, *rest):
        evaluated.append(expression)
        return evaluate(expression, *rest)

    monkeypatch.setattr(nested, "_values_of", count)
    table_parts(question, None)
    assert sorted(map(repr, evaluated)) == sorted(repr(key.expression) for key in question.keys)


CENSUS = dp.Schema(
    "census", dp.Rows(), {"state": dp.Category(["A", "B"]), "tract": dp.Category(["a", "b", "c"])}
)


@pytest.mark.parametrize(
    "listed",
    [
        [("A", "a"), ("A", "b"), ("B", "c")],
        [("A", "a"), ("A", "b")],
        [("A", "a"), ("A", "c"), ("B", "c")],
    ],
)
def test_all_levels_of_a_listed_hierarchy_count_the_same_rows(listed):
    """A row in no listed combination is on none of the levels; only the grand total counts it."""
    asked = dp.Table(CENSUS).hierarchy("state", "tract", places=listed)
    assert [part.places for part in table_parts(asked, None)] == [(0, 1), (2,)]
    # Of a tract in two states no single key tells the place, so that its tables stay apart.
    marked = marked_question(asked, None)
    assert (marked is None) == (len({tract for _, tract in listed}) < len(listed))


def test_a_key_of_two_columns_may_be_null():
    asked = dp.parse_sql(
        "SELECT size + age AS both, COUNT(*) AS n FROM people GROUP BY size + age",
        {"people": PEOPLE},
    )
    assert absent_keys(asked, None) == ("both",) and marked_question(asked, None) == asked


def test_every_key_of_wide_sets_has_a_mark():
    """They are counted as several tables, which must all count the same rows."""
    names = [f"k{place}" for place in range(6)]
    columns = {name: dp.Integer(0, 9) for name in names}
    wide = dp.Table(dp.Schema("wide", dp.Rows(), columns)).marginals(names, up_to=2)
    assert all(None in key.values for key in marked_question(wide, None).keys)


def test_rows_capped_by_group_have_no_common_table():
    """Each set weighs rows by its own groups; one set alone is one table."""
    unit = dp.People("id", max_rows=4, max_rows_per_group=2)
    people = {"people": dp.Schema("people", unit, dict(PEOPLE.columns))}
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY {}"
    cube = dp.parse_sql(sql.format("CUBE (sex)"), people)
    assert marked_question(cube, None) is None and len(table_parts(cube, None)) == 2
    alone = dp.parse_sql(sql.format("sex"), people)
    assert marked_question(alone, None) == alone


def test_keys_beside_a_complete_hierarchy_have_marks_of_their_own():
    asked = question("age, FLOOR(size / 10), size")
    marked = marked_question(asked, None)
    assert marked.nested == asked.nested is not None
    assert [None in key.values for key in marked.keys] == [True, False, False]


def test_listed_days_and_seconds_are_compared_as_times():
    columns = {
        "day": dp.Date("2024-01-01", "2024-01-09", default="2024-01-01"),
        "at": dp.Timestamp(
            "2024-01-01T00:00:00", "2024-01-02T00:00:00", default="2024-01-01T00:00:00"
        ),
        "sex": PEOPLE.columns["sex"],
    }
    schema = dp.Schema("t", dp.Rows(), columns)
    listed = {
        "day": [date(2024, 1, 1), date(2024, 1, 2)],
        "at": [datetime(2024, 1, 1), datetime(2024, 1, 1, 5)],
    }
    stored = []
    for hour in range(8):
        at = datetime(2024, 1, 1, hour)
        stored.append({"day": date(2024, 1, 1 + hour % 3), "at": at, "sex": "f"})
    frame = pa.Table.from_pylist(stored)
    for store in (dp.Memory({"t": stored}), dp.DuckDB({"t": frame})):
        curator = dp.Curator(store, [schema], dp.open_ledger(":memory:", dp.PureDP(10**7)))
        for name, expected in (("day", [3, 3]), ("at", [1, 1])):
            asked = curator.table("t").marginals([name, "sex"], keys={name: listed[name]})
            answer = curator.ask(asked, spend=dp.PureDP(10**6))
            assert answer.table(name).column("count") == expected
            assert answer.table().column("count") == [8]


LOOSE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 4),
        "sex": dp.Category(["f", "m"]),
        "town": dp.Category(["a", "b"], null_key=True),
        "day": dp.Date("2024-01-01", "2024-01-03"),
    },
)
CELLS = {
    "age": [0, 3, None],
    "sex": ["f", "m", "x", None],
    "town": ["a", "q", None],
    "day": ["2024-01-02", "soon", None],
}


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ("age, sex", "WHERE (age IS NOT NULL) AND (sex IS NOT NULL)"),
        ("sex, day", "WHERE (sex IS NOT NULL) AND (day IS NOT NULL)"),
        ("NULLIF(age, 3)", "WHERE (CASE WHEN age = 3 THEN NULL ELSE age END) IS NOT NULL"),
        ("FLOOR(age / 2), age", "WHERE age IS NOT NULL"),
    ],
)
def test_where_keeps_the_rows_in_all_cells(keys, where):
    """With the WHERE that is offered, totals are sums of the finest cells, and SQL can say it."""
    sql = f"SELECT {keys}, COUNT(*) AS n FROM people GROUP BY CUBE ({keys})"
    schemas = {"people": LOOSE}
    asked = dp.parse_sql(sql, schemas)
    keyed = keyed_question(asked, None)
    assert keys_condition(asked) == where
    assert dp.parse_sql(describe(keyed), schemas).rows == keyed.rows
    rows = [dict(zip(CELLS, cells, strict=True)) for cells in product(*CELLS.values())]
    ledger = dp.open_ledger(":memory:", dp.PureDP(10**9))
    curator = dp.Curator(dp.Memory({"people": rows}), [LOOSE], ledger)
    width = len(asked.keys)
    totals = []
    for one in (asked, keyed):
        found = curator.ask(one, spend=dp.PureDP(10**6)).rows
        [total] = [row[-1] for row in found if row[:width] == (None,) * width]
        finest = sum(row[-1] for row in found if None not in row[:width])
        totals.append((round(finest), round(total)))
    (some, every), (same, kept) = totals
    assert some == same == kept < every


def test_where_is_offered_only_where_a_row_may_be_without_a_key():
    table = dp.Table(LOOSE)
    for asked in (
        table.count(by="town"),
        table.count(),
        table.count(by=["sex", "age"], keys=[("f", 1), ("m", 2)]),
        dp.parse_sql("SELECT COUNT(*) AS n FROM people", {"people": LOOSE}),
        question("size, sex"),
    ):
        assert keyed_question(asked, None) is None
        assert keys_condition(asked) == ""
    assert absent_keys(table.count(by="town"), None) == ()


@pytest.mark.parametrize(
    ("by", "keys", "where"),
    [
        ("sex", ["f"], "WHERE sex IN ('f')"),
        ("town", ["a", None], "WHERE town IN ('a') OR town IS NULL"),
        ("day", [date(2024, 1, 2)], "WHERE day IN (DATE '2024-01-02')"),
    ],
)
def test_a_shorter_list_is_said_in_where_and_in_the_text(by, keys, where):
    asked = dp.Table(LOOSE).count(by=by, keys=keys)
    assert keys_condition(asked) == where
    assert describe(asked).splitlines()[-1].startswith(f"-- cells only of {by}: ")
    # The comment is text for people: SQL reads it as the question by all keys.
    assert len(dp.parse_sql(describe(asked), {"people": LOOSE}).keys[0].values) > len(keys)
    long = dp.Table(PEOPLE).count(by="age", keys=list(range(25)))
    assert describe(long).endswith("19, and 5 more")
    assert keys_condition(dp.Table(PEOPLE).count(by="age", keys=list(range(29, 0, -1)))) != ""


BY_GROUP = dp.Schema(
    "land",
    dp.People("id", max_rows=4, max_rows_per_group=1),
    {"state": dp.Integer(0, 4), "tract": dp.Integer(0, 4999)},
)
LISTED = {
    # The tract alone tells the place; the state of a row is that of the list.
    "narrowest tells": ([(0, 7), (1, 8)], {(0, 7): (0, 7), (3, 7): (0, 7), (0, 9): (None, 9)}),
    # Tract 7 lies in two states: only both values together are a place.
    "both tell": ([(0, 7), (1, 7)], {(1, 7): (1, 7), (2, 7): (None, None)}),
}


@pytest.mark.parametrize(("places", "levels_of"), LISTED.values(), ids=LISTED)
def test_levels_of_listed_places_are_keys_of_their_own_beside_a_cap_by_groups(places, levels_of):
    """Each set has groups of its own, so each level is written as a key that a store can group by."""
    asked = dp.Table(BY_GROUP).hierarchy("state", "tract", places=places)
    parts = table_parts(asked, None)
    assert len(parts) > 1
    columns = columns_of(asked.rows)
    read = 0
    for part in parts:
        for key in part.question.keys:
            place = [name for name, _ in asked.finish.columns].index(key.name)
            for (state, tract), levels in levels_of.items():
                row = {"state": state, "tract": tract}
                assert evaluate(key.expression, row, columns) == levels[place]
                read += 1
    assert read >= 2 * len(levels_of)


def test_more_than_a_thousand_places_beside_a_cap_by_groups_are_refused():
    places = [(tract // 1000, tract) for tract in range(1001)]
    asked = dp.Table(BY_GROUP).hierarchy("state", "tract", places=places)
    with pytest.raises(dp.UnsupportedQuery, match="at most 1,000 places"):
        table_parts(asked, None)


def test_roundings_of_all_rows_add_up_in_the_sum_of_a_person():
    table = dp.Schema("visits", dp.People("id", max_rows=3), {"x": dp.Integer(0, 9)})
    sql = "SELECT AVG(s) AS m FROM (SELECT id, SUM(SQRT(x)) AS s FROM visits GROUP BY id) q"
    asked = dp.parse_sql(sql, {"visits": table})
    one = dp.parse_sql(sql.replace("SUM", "MAX"), {"visits": table})
    assert columns_of(asked.rows)["s"].blur == 3 * columns_of(one.rows)["s"].blur > 0
