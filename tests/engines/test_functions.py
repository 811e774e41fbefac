"""Every function of a row expression means on every engine what `query.evaluate` says, value by value."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from itertools import product

import pytest

from discreet.data import Boolean, Date, Integer, Real, Rows, Schema, Text, Timestamp
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.calendar import UNITS
from discreet.query.domains.domain_of import domain_of
from engines.tables import Table, in_memory, same_totals

F = Function
COUNT = Term(Constant(True), 1, 0, 1)
NULL = Constant(None)

NUMBERS = Schema(
    "numbers",
    Rows(),
    {
        "n": Integer(-9, 9),
        "x": Real(-3, 3, step=0.25),
        "y": Real(0, 500, step=0.01),
        "big": Integer(-(2**61), 2**61),
        "top": Integer(2**52, 2**52 + 1),
        "f": Boolean(),
    },
)
NUMBER_ROWS = Table(
    {"n": "bigint", "x": "double", "y": "double", "big": "bigint", "top": "double", "f": "boolean"},
    [
        (n, x, y, big, top, f)
        for (n, x, y), (big, top, f) in zip(
            product([-9, -7, -1, 0, 1, 5, None], [-2.5, -0.25, 0.0, 2.75, None], [0.0, 2.5, 17.35]),
            [
                (-(2**61), 2.0**52, True),
                (2**61, 2.0**52 + 1, False),
                (12345, None, None),
                (-7, 1e300, True),
            ]
            * 27,
            strict=False,
        )
    ],
)
WORDS = Schema("words", Rows(), {"t": Text(12), "u": Text(5)})
WORD_ROWS = Table(
    {"t": "text", "u": "text"},
    [
        (t, u)
        for t in [
            "",
            " ",
            "  aB c ",
            "ÄÖß",
            "👍🏽x",
            "a%b",
            "a_b",
            "a\\b",
            "it's",
            "x\ny",
            "ABCxyz",
            "İıſK",
            None,
        ]
        for u in ["", "aB", "a%b", None]
    ],
)
WHENS = Schema(
    "whens",
    Rows(),
    {
        "d": Date("0001-01-01", "9999-12-31"),
        "s": Timestamp("0001-01-02T00:00:00", "9999-12-30T23:59:59"),
    },
)
WHEN_ROWS = Table(
    {"d": "date", "s": "timestamp"},
    [
        (date(1, 1, 1), datetime(1, 1, 2, 3, 4, 5)),
        (date(1582, 10, 10), datetime(1899, 12, 31, 23, 59, 59)),
        (date(1969, 12, 31), datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        (date(1970, 1, 1), datetime(1970, 1, 1)),
        (date(2000, 2, 29), datetime(2024, 2, 29, 12, 30)),
        (date(2023, 1, 1), datetime(2023, 1, 1, 0, 0, 1)),
        (date(2024, 12, 30), datetime(2024, 12, 30, 23)),
        (date(9999, 12, 31), datetime(9999, 12, 30, 23, 59, 59)),
        (None, None),
    ],
)


def call(function, *arguments):
    return Call(function, tuple(Field(a) if isinstance(a, str) else a for a in arguments))


def c(value):
    return Constant(value)


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
OF_NUMBERS = [
    call(F.ADD, "n", "x"),
    call(F.ADD, "n", c(THIRD)),
    call(F.SUBTRACT, "x", "y"),
    call(F.SUBTRACT, c(HALF), "n"),
    call(F.MULTIPLY, "x", "y"),
    call(F.MULTIPLY, "big", c(0)),
    call(F.MULTIPLY, "n", c(-7)),
    call(F.DIVIDE, "n", c(4)),
    call(F.DIVIDE, "n", c(-4)),
    call(F.DIVIDE, "x", "n"),
    call(F.DIVIDE, "n", "y"),
    call(F.DIVIDE, "y", "n"),
    call(F.DIVIDE, "y", call(F.ADD, "y", c(1))),
    call(F.DIVIDE, call(F.MULTIPLY, "n", c(0)), "x"),
    call(F.DIVIDE, "x", call(F.CASE, "f", c(3), NULL)),
    call(F.MODULO, "n", c(4)),
    call(F.MODULO, "x", c(Fraction(3, 4))),
    call(F.MODULO, "y", c(7)),
    call(F.MODULO, "big", c(2**61)),
    call(F.NEGATE, "x"),
    call(F.NEGATE, call(F.NEGATE, "big")),
    call(F.ABSOLUTE, "x"),
    call(F.FLOOR, "x"),
    call(F.CEILING, "x"),
    call(F.ROUND, "x"),
    call(F.ROUND, "n"),
    call(F.ROUND, "y"),
    call(F.ROOT, "n"),
    call(F.ROOT, "x"),
    call(F.ROOT, "y"),
    call(F.ROOT, "top"),
    call(F.ROOT, call(F.MULTIPLY, "n", "n")),
    call(F.ROOT, call(F.NEGATE, call(F.ABSOLUTE, "x"))),
    call(F.FLOOR, call(F.DIVIDE, "big", c(3))),
    call(F.CEILING, call(F.DIVIDE, "big", c(3))),
    call(F.FLOOR, call(F.DIVIDE, call(F.ABSOLUTE, "n"), c(2))),
    call(F.ROUND, call(F.DIVIDE, call(F.LEAST, "big", c(2**60)), c(3))),
    call(F.FLOOR, call(F.MULTIPLY, call(F.DIVIDE, "n", c(2)), c(10**30 * 0))),
    call(F.LEAST, "n", "x"),
    call(F.GREATEST, "n", c(2), "x"),
    call(F.LEAST, c(1), c(2)),
    call(F.LEAST, "n", NULL),
    call(F.EQUAL, "n", "x"),
    call(F.EQUAL, "n", c(HALF)),
    call(F.UNEQUAL, "n", c(5)),
    call(F.LESS, "x", "y"),
    call(F.AT_MOST, "n", call(F.NEGATE, "n")),
    call(F.AMONG, "x", c(HALF), c(-2), c(Fraction(-5, 2))),
    call(F.AND, "f", call(F.LESS, "n", c(0))),
    call(F.OR, "f", call(F.LESS, "n", c(0))),
    call(F.NOT, "f"),
    call(F.EQUAL, "f", c(True)),
    call(F.IS_NULL, "n"),
    call(F.IS_NULL, NULL),
    call(F.IS_NULL, call(F.AND, "f", call(F.IS_NULL, "x"))),
    call(F.CASE, "f", "n", call(F.LESS, "x", c(0)), "x", NULL),
    call(F.CASE, "f", NULL, c(THIRD)),
    call(F.COALESCE, "n", "x", c(7)),
    call(F.COALESCE, NULL, "top"),
]
OF_WORDS = [
    call(F.LOWER, "t"),
    call(F.UPPER, "t"),
    call(F.TRIM, "t"),
    call(F.LENGTH, "t"),
    call(F.LENGTH, call(F.TRIM, "t")),
    *(
        call(F.SUBSTRING, "t", c(first), c(count))
        for first, count in [(1, 2), (2, 1), (3, 99), (10**12, 10**12), (1, 0)]
    ),
    *(
        call(F.LIKE, "t", c(p))
        for p in ["%", "_", "__", "%a%", "a\\%", "a%b", "a_b", "it's", "x\n_", "", "👍%", "%!~|^/%"]
    ),
    call(F.EQUAL, "t", "u"),
    call(F.UNEQUAL, "t", c("it's")),
    call(F.AMONG, "t", c("a\\b"), c("x\ny"), c("👍🏽x"), c("")),
    call(F.CASE, call(F.EQUAL, "t", "u"), "t", c("a'b\\c\n")),
    call(F.COALESCE, "u", "t", c("?")),
    call(F.IS_NULL, "t"),
    call(F.CONCAT, "t", "u"),
    call(F.CONCAT, c("<"), "t", c("'\\"), "u"),
    call(F.LENGTH, call(F.CONCAT, "u", "u")),
]
PARTS = (F.YEAR, F.QUARTER, F.MONTH, F.DAY, F.WEEKDAY, F.WEEK, F.ISOYEAR, F.YEARDAY)
MIDDLE = call(F.GREATEST, call(F.LEAST, "d", Constant(2_000_000, "day")), Constant(-600_000, "day"))
MOMENT = call(
    F.GREATEST, call(F.LEAST, "s", Constant(10**11, "second")), Constant(-(10**10) - 1, "second")
)
OF_TIMES = [
    *(call(part, "d") for part in PARTS),
    *(call(part, "s") for part in PARTS),
    *(call(part, "s") for part in (F.HOUR, F.MINUTE, F.SECOND, F.UNIX_SECONDS)),
    *(call(F.TRUNCATE, time, c(unit)) for unit in UNITS for time in ("d", "s", MIDDLE, MOMENT)),
    *(
        call(F.MONTHS_LATER, time, c(months))
        for months in (1, -1, 13, -1200, 0)
        for time in (MIDDLE, MOMENT)
    ),
    call(F.UNIX_DATE, "d"),
    call(
        F.FROM_UNIX_DATE,
        call(F.MULTIPLY, call(F.FLOOR, call(F.DIVIDE, call(F.UNIX_DATE, MIDDLE), c(7))), c(7)),
    ),
    call(F.FROM_UNIX_SECONDS, call(F.ADD, call(F.UNIX_SECONDS, MOMENT), c(-3601))),
    call(F.FROM_UNIX_SECONDS, call(F.MULTIPLY, call(F.UNIX_DATE, MIDDLE), c(86_400))),
    call(F.DATE_OF, "s"),
    call(F.LESS, "d", call(F.DATE_OF, "s")),
    call(F.EQUAL, "d", Constant(0, "day")),
    call(F.AT_MOST, "s", Constant(-1, "second")),
    call(F.LEAST, "d", Constant(19_000, "day")),
    call(F.GREATEST, "s", Constant(0, "second")),
    call(F.COALESCE, "d", Constant(3, "day")),
    call(F.HOUR, call(F.LEAST, "s", Constant(-1, "second"))),
]
OF_RESULTS = {F.POWER, F.LOGARITHM, F.EXPONENTIAL, F.TOTAL, F.LAG, F.FRAME, F.HIGHEST, F.LOWEST}
OF_RESULTS |= {F.RANK, F.DENSE_RANK, F.ROW_NUMBER}
"""They have no meaning for rows, and are refused there."""
CASES = {
    "numbers": (NUMBERS, NUMBER_ROWS, OF_NUMBERS),
    "words": (WORDS, WORD_ROWS, OF_WORDS),
    "times": (WHENS, WHEN_ROWS, OF_TIMES),
}


@pytest.mark.parametrize("name", CASES)
class TestEveryEngineMeansTheSame:
    def test_value_by_value(self, load, name):
        """All expressions at once, with the row's number as the first key."""
        schema, table, expressions = CASES[name]
        numbered = Schema(schema.name, Rows(), {"i": Integer(0, 1000), **schema.columns})
        rows = Table(
            {"i": "bigint", **table.types}, [(place, *row) for place, row in enumerate(table.rows)]
        )
        engine, memory = load({schema.name: rows}), in_memory({schema.name: rows})
        for start in range(0, len(expressions), 20):
            keys = (Field("i"), *expressions[start : start + 20])
            tally = Tally(Scan(numbered), keys, (COUNT,), Free())
            wanted = memory.tally(tally)
            assert len(wanted) == len(rows.rows)
            same_totals(engine.tally(tally), wanted)

    def test_every_function_is_tried(self, name):
        schema, _, expressions = CASES[name]
        assert all(domain_of(expression, columns_of(Scan(schema))) for expression in expressions)
        tried = {
            function for _, _, each in CASES.values() for e in each for function in _functions(e)
        }
        assert tried == set(Function) - OF_RESULTS


def _functions(expression):
    if isinstance(expression, Call):
        yield expression.function
        for argument in expression.arguments:
            yield from _functions(argument)
