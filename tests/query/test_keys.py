"""Public keys: a list that may hold too much, and never misses a value that can occur."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.data import (
    Boolean,
    Category,
    Date,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
)
from discreet.errors import UnsupportedQuery
from discreet.query import parse
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tree import Scan, Where
from discreet.query.bounds.keys import public_keys
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.domain import Whole
from discreet.query.meaning.breakpoints import breakpoint_values
from discreet.query.meaning.evaluate import evaluate
from query.samples import TABLES
from query.strategies import PATIENT, expressions
from support.profile import examples

SMALL = Schema(
    "small",
    Rows(),
    {
        "number1": Integer(-3, 4),
        "number2": Real(0, 1, step=0.25),
        "truth1": Boolean(),
        "truth2": Category([True, False]),
        "text1": Category(["a", "B %"]),
        "text2": Category(["", "a_", "b"], null_key=True),
        "day1": Date("2024-01-30", "2024-02-03"),
        "day2": Date("2023-12-30", "2024-01-01"),
        "second1": Timestamp("2024-01-01T00:00:00", "2024-01-01T00:00:03"),
        "second2": Timestamp("2023-12-31T23:59:58", "2024-01-01T00:00:01"),
    },
)
KINDS = columns_of(Scan(SMALL))
CUT = Scan(Schema("cut", Rows(), {"x": Real(-2, 2, step=0.25), "y": Integer(0, 6)}))


@st.composite
def cuts(draw):
    """Conditions that compare x and y with constants, on or off their grids and ranges, joined in any way."""
    if draw(st.integers(0, 2)):
        field, constant = (
            Field(draw(st.sampled_from("xy"))),
            Constant(Fraction(draw(st.integers(-30, 70)), 10)),
        )
        compare = draw(
            st.sampled_from([Function.LESS, Function.AT_MOST, Function.EQUAL, Function.UNEQUAL])
        )
        if draw(st.booleans()):
            return Call(compare, (constant, field))
        return draw(st.sampled_from([Call(compare, (field, constant)), Call(Function.IS_NULL, (field,)),
                                     Call(Function.AMONG, (field, constant, Constant(1)))]))  # fmt: skip
    joined = draw(st.sampled_from([Function.AND, Function.OR, Function.NOT]))
    return Call(joined, tuple(draw(cuts()) for _ in range(1 if joined is Function.NOT else 2)))


class TestCuts:
    """Conditions that only compare numbers with constants have no more combinations of truths than those tried."""

    @given(st.lists(cuts(), min_size=1, max_size=4))
    @settings(max_examples=examples(200))
    def test_none_is_missed(self, conditions):
        code = Constant(0)
        for place, condition in enumerate(conditions):
            code = Call(
                Function.ADD,
                (code, Call(Function.CASE, (condition, Constant(1 << place), Constant(0)))),
            )
        columns = columns_of(CUT)
        found = breakpoint_values(code, columns, 100_000)
        xs, ys = (
            [*(n * step for n in range(low, high + 1)), None]
            for low, high, step in ((-8, 8, Fraction(1, 4)), (0, 6, 1))
        )
        held = {evaluate(code, {"x": x, "y": y}, columns) for x in xs for y in ys}
        assert held <= set(found)

    def test_what_is_read_otherwise(self):
        columns, x = columns_of(CUT), Field("x")
        assert breakpoint_values(x, columns, 100) is None
        assert breakpoint_values(Call(Function.LESS, (x, Field("y"))), columns, 100) is None
        assert (
            breakpoint_values(
                Call(Function.LESS, (Call(Function.ADD, (x, Constant(1))), Constant(1))),
                columns,
                100,
            )
            is None
        )
        assert breakpoint_values(Call(Function.LESS, (x, Constant(1))), columns, 3) is None
        assert (
            breakpoint_values(Call(Function.EQUAL, (Field("text1"), Constant("a"))), KINDS, 100)
            is None
        )
        assert (
            breakpoint_values(Call(Function.EQUAL, (Field("day1"), Constant(5))), KINDS, 100)
            is None
        )


def possible(name):
    """Any value of a column of SMALL, or NULL."""
    column = SMALL.columns[name]
    if isinstance(column, Category | Boolean):
        return st.sampled_from([*column.keys(), None])
    low, high = column.ends
    return st.none() | st.integers(low, high).map(lambda n: n * column.step)


ROWS = st.fixed_dictionaries({name: possible(name) for name in SMALL.columns})


class TestEveryList:
    """Whatever the row, a value that is not NULL is among the keys, also where WHERE narrows them."""

    @pytest.mark.untraced
    @PATIENT
    @given(st.sampled_from(["number", "truth", "text", "day", "second"]), st.data())
    def test_misses_nothing(self, sort, data):
        expression = data.draw(expressions(sort, 2))
        condition = data.draw(st.none() | expressions("truth", 2))
        relation = Scan(SMALL) if condition is None else Where(Scan(SMALL), condition)
        try:
            keys = public_keys(
                expression, relation, most=data.draw(st.sampled_from([10, 100, 2000]))
            )
        except UnsupportedQuery:
            assume(False)
        assume(keys is not None)
        assert len(set(keys)) == len(keys)
        for row in data.draw(st.lists(ROWS, min_size=1, max_size=5)):
            if condition is None or evaluate(condition, row, KINDS) is True:
                value = evaluate(expression, row, KINDS)
                assert value is None or value in keys

    @PATIENT
    @given(st.sampled_from(["number", "truth", "text"]), st.data())
    def test_is_no_longer_than_asked_for(self, sort, data):
        try:
            keys = public_keys(data.draw(expressions(sort, 2)), Scan(SMALL), most=7)
        except UnsupportedQuery:
            assume(False)
        assert keys is None or len(keys) <= 7


def keys_of(sql, **options):
    return parse(sql, TABLES | {"small": SMALL, "odd": ODD}, **options).keys[0].values


ODD = Schema(
    "odd",
    People("id", max_rows=3),
    {
        "code": Category([30, 10, 20]),
        "size": Integer(0, 10**6),
        "cents": Real(0, 9, step=0.01),
        "when": Text(9, null_key=True),
    },
)


class TestAList:
    @pytest.mark.untraced
    @pytest.mark.parametrize(
        ("sql", "keys"),
        [
            ("SELECT region AS k, COUNT(*) FROM people GROUP BY k", ("N", "S", "E", "W")),
            ("SELECT party AS k, COUNT(*) FROM people GROUP BY k", ("red", "blue", None)),
            ("SELECT code AS k, COUNT(*) FROM odd GROUP BY k", (30, 10, 20)),
            ("SELECT code + 1 AS k, COUNT(*) FROM odd GROUP BY k", (11, 21, 31)),
            ("SELECT active AS k, COUNT(*) FROM people GROUP BY k", (False, True)),
            ("SELECT age > 18 AS k, COUNT(*) FROM people GROUP BY k", (False, True)),
            ("SELECT income > 18 AS k, COUNT(*) FROM people GROUP BY k", (False, True)),
            ("SELECT party IS NULL AS k, COUNT(*) FROM people GROUP BY k", (False, True)),
            ("SELECT UPPER(party) AS k, COUNT(*) FROM people GROUP BY k", ("RED", "BLUE", None)),
            ("SELECT name AS k, COUNT(*) FROM people GROUP BY k", None),
            ("SELECT income AS k, COUNT(*) FROM people GROUP BY k", None),
            ("SELECT size AS k, COUNT(*) FROM odd GROUP BY k", None),
            ("SELECT LOWER(name) AS k, COUNT(*) FROM people GROUP BY k", None),
            ("SELECT FLOOR(income / 50000) AS k, COUNT(*) FROM people GROUP BY k", (-1, 0, 1, 2, 3, 4, 5)),
            ("SELECT FLOOR(size / 250000) * 250000 AS k, COUNT(*) FROM odd GROUP BY k", tuple(range(0, 10**6 + 1, 250_000))),
            ("SELECT CASE WHEN income < 0 THEN 'debt' WHEN income > 9 THEN 'rich' END AS k, COUNT(*) FROM people GROUP BY k", ("debt", "rich")),
            ("SELECT CASE WHEN name = 'x' THEN 1 ELSE 0 END AS k, COUNT(*) FROM people GROUP BY k", (0, 1)),
            ("SELECT CASE WHEN age IS NULL THEN 'missing' ELSE 'there' END AS k, COUNT(*) FROM people GROUP BY k", ("there", "missing")),
            ("SELECT COALESCE(party, 'none') AS k, COUNT(*) FROM people GROUP BY k", ("red", "blue", "none")),
            ("SELECT MONTH(seen) AS k, COUNT(*) FROM people GROUP BY k", tuple(range(1, 13))),
            ("SELECT YEAR(joined) AS k, COUNT(*) FROM people GROUP BY k", (2020, 2021, 2022, 2023, 2024)),
            ("SELECT CAST(seen AS DATE) AS k, COUNT(*) FROM people WHERE seen < '2024-01-03' GROUP BY k", tuple(range(19723, 20089))),
            ("SELECT joined AS k, COUNT(*) FROM people WHERE joined BETWEEN '2020-01-01' AND '2020-01-02' GROUP BY k", (18262, 18263)),
            ("SELECT WIDTH_BUCKET(income, 0, 300000, 3) AS k, COUNT(*) FROM people GROUP BY k", (0, 1, 2, 3)),
            ("SELECT age AS k, COUNT(*) FROM people WHERE age BETWEEN 18 AND 20 AND region = 'N' GROUP BY k", (18, 19, 20)),
            ("SELECT region AS k, COUNT(*) FROM people WHERE region <> 'N' AND active GROUP BY k", ("S", "E", "W")),
            ("SELECT region AS k, COUNT(*) FROM people WHERE region = 'X' GROUP BY k", ()),
            ("SELECT k, COUNT(*) FROM (SELECT age % 3 AS k FROM people) t GROUP BY k", (0, 1, 2)),
            ("SELECT r AS k, COUNT(*) FROM (SELECT region AS r FROM people WHERE region IN ('N', 'S')) t WHERE r <> 'S' GROUP BY k", ("N",)),
            ("SELECT n AS k, COUNT(*) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) t GROUP BY k", tuple(range(1, 11))),
            ("SELECT s AS k, COUNT(*) FROM (SELECT user_id, shop AS s, COUNT(*) AS n FROM visits GROUP BY user_id, shop) t GROUP BY k", ("a", "b")),
            ("SELECT t.age AS k, COUNT(*) FROM (SELECT age FROM people WHERE age < 2 UNION ALL SELECT age FROM people WHERE age = 9) t GROUP BY k", (0, 1, 9)),
            ("SELECT t.x AS k, COUNT(*) FROM (SELECT age AS x FROM people WHERE age < 2 UNION ALL SELECT income FROM people) t GROUP BY k", None),
            ("SELECT u.shop AS k, COUNT(*) FROM visits v JOIN users u USING (user_id) GROUP BY k", ("a", "b")),
            ("SELECT v.shop AS k, COUNT(*) FROM visits v JOIN users u USING (user_id) GROUP BY k", ("a", "b")),
            ("SELECT w.big AS k, COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward GROUP BY k", (False, True)),
            ("SELECT w.city AS k, COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward GROUP BY k", None),
            ("SELECT p.region AS k, COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward GROUP BY k", ("N", "S", "E", "W")),
        ],
    )  # fmt: skip
    def test_follows_from_public_facts(self, sql, keys):
        assert keys_of(sql) == keys

    def test_keeps_null_only_where_some_column_declares_it(self):
        assert keys_of(
            "SELECT w AS k, COUNT(*) FROM (SELECT party AS w FROM people) t GROUP BY k"
        ) == (
            "red",
            "blue",
            None,
        )
        union = "SELECT party AS w FROM people UNION ALL SELECT region FROM people"
        assert None in keys_of(f"SELECT w AS k, COUNT(*) FROM ({union}) t GROUP BY k")
        grouped = 'SELECT id, code AS c, "when" AS w FROM odd GROUP BY 1, 2, 3'
        sql = f"SELECT CASE WHEN w = 'x' THEN 1 END AS k, COUNT(*) FROM ({grouped}) t GROUP BY k"
        assert keys_of(sql) == (1, None)
        assert None not in keys_of(f"SELECT c AS k, COUNT(*) FROM ({grouped}) t GROUP BY k")
        joined = "SELECT p.party AS k, COUNT(*) FROM people p JOIN wards w USING (ward) GROUP BY k"
        assert None in keys_of(joined)

    def test_gives_up_when_the_work_is_too_much(self):
        relation, wide = Scan(ODD), Field("size")
        for _ in range(3):
            wide = Call(Function.ADD, (wide, Call(Function.MODULO, (Field("cents"), Constant(1)))))
        assert public_keys(Call(Function.MODULO, (wide, Constant(50))), relation, most=500) is None
        assert public_keys(Field("code"), relation, most=2) is None

    def test_multiplies_arguments_that_are_few(self):
        scan = Scan(ODD)
        tens = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("size"), Constant(500_000))),))
        both = Call(Function.ADD, (Call(Function.MULTIPLY, (tens, Constant(100))), Field("code")))
        assert public_keys(both, scan) == (10, 20, 30, 110, 120, 130, 210, 220, 230)
        assert columns_of(scan)["size"] == Whole(Fraction(1), 0, 10**6)


PUBLIC = Schema.public_table(
    "facts",
    {
        "age": Integer(0, 120),
        "day": Date("2024-01-01", "2024-12-31"),
        "at": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
        "share": Real(0, 1, step=0.25),
        "word": Text(3, null_key=True),
    },
    key="age",
)


class TestValuesOfAPublicTable:
    @pytest.mark.parametrize(
        ("column", "stored", "keys"),
        [
            ("day", ["2024-01-02", date(2024, 1, 3), 19723, "never"], (19724, 19725, 19723)),
            ("at", ["2024-01-01 00:00:05", 1704067200], (1704067205, 1704067200)),
            ("share", [0.3, Fraction(1, 2)], (Fraction(1, 4), Fraction(1, 2))),
            ("word", ["abcdef", None, "b"], ("abc", "b", None)),
            ("age", [7, "9"], (7, 9)),
        ],
    )
    def test_are_read_by_the_columns_rule(self, column, stored, keys):
        sql = f"SELECT f.{column} AS k, COUNT(*) FROM swaps s JOIN facts f ON s.age = f.age GROUP BY k"
        asked = []

        def public_values(*place):
            asked.append(place)
            return stored

        question = parse(sql, {"swaps": TABLES["swaps"], "facts": PUBLIC}, public_values)
        found = question.keys[0].values
        assert set(found) == set(keys)
        assert asked == [("facts", column)]

    def test_that_are_too_many_are_no_keys(self):
        sql = "SELECT f.word AS k, COUNT(*) FROM swaps s JOIN facts f ON s.age = f.age GROUP BY k"
        words = [f"{i:03}" for i in range(999)] + ["x", "y"]
        relation = parse(sql, {"swaps": TABLES["swaps"], "facts": PUBLIC}).rows
        assert public_keys(Field("word"), relation, 100, lambda *_: words) is None
