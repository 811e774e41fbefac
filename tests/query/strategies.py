"""Random columns, rows within their bounds, and random expressions over them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.domains.calendar import UNITS
from discreet.query.domains.domain import Day, Second, Texts, Truth, Whole
from support.profile import examples

PATIENT = settings(
    deadline=None, max_examples=examples(150), suppress_health_check=list(HealthCheck)
)
STEPS = st.sampled_from(
    [Fraction(1), Fraction(1, 4), Fraction(1, 100), Fraction(5), Fraction(2, 3)]
)
SORTS = ("number", "truth", "text", "day", "second")


@st.composite
def wholes(draw):
    low, high = sorted([draw(st.integers(-2000, 2000)), draw(st.integers(-2000, 2000))])
    return Whole(draw(STEPS), low, high)


@st.composite
def spans(draw, kind, low, high):
    return kind(*sorted([draw(st.integers(low, high)), draw(st.integers(low, high))]))


KINDS = {
    "number": wholes(),
    "truth": st.just(Truth()),
    "text": st.integers(0, 5).map(Texts),
    "day": spans(Day, -30_000, 40_000),
    "second": spans(Second, -(10**9), 10**9),
}


@st.composite
def columns(draw):
    """Two columns of every sort."""
    return {f"{sort}{i}": draw(KINDS[sort]) for sort in SORTS for i in (1, 2)}


def value_within(kind):
    """Any value of a kind, or NULL."""
    match kind:
        case Whole(step=step, low=low, high=high):
            values = st.integers(low, high).map(lambda n: n * step)
        case Truth():
            values = st.booleans()
        case Texts(most=most):
            values = st.text("aB %_é'\\", max_size=most)
        case Day(low=low, high=high) | Second(low=low, high=high):
            values = st.integers(low, high)
    return st.none() | values


def rows_within(kinds):
    return st.fixed_dictionaries({name: value_within(kind) for name, kind in kinds.items()})


NUMBERS = st.one_of(st.integers(-50, 50), st.fractions(-9, 9, max_denominator=12)).map(
    lambda x: Constant(int(x) if x == int(x) else Fraction(x))
)
CONSTANTS = {
    "number": NUMBERS,
    "truth": st.booleans().map(Constant),
    "text": st.text("aB %_", max_size=4).map(Constant),
    "day": st.integers(-30_000, 40_000).map(lambda n: Constant(n, "day")),
    "second": st.integers(-(10**9), 10**9).map(lambda n: Constant(n, "second")),
}
TWO = (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE)
ONE = (
    Function.NEGATE,
    Function.ABSOLUTE,
    Function.FLOOR,
    Function.CEILING,
    Function.ROUND,
    Function.ROOT,
)
PARTS = (
    *(Function.YEAR, Function.QUARTER, Function.MONTH, Function.DAY, Function.WEEKDAY),
    *(Function.WEEK, Function.ISOYEAR, Function.YEARDAY),
)
CLOCK = (Function.HOUR, Function.MINUTE, Function.SECOND, Function.UNIX_SECONDS)


@cache
def expressions(sort, depth):
    """Random expressions of a sort, over the columns of `columns`."""
    leaves = st.one_of(st.sampled_from([Field(f"{sort}1"), Field(f"{sort}2")]), CONSTANTS[sort])
    return (
        leaves
        if depth == 0
        else st.one_of(leaves, st.deferred(lambda: st.one_of(*calls(sort, depth - 1))))
    )


def call(function, *arguments):
    return st.tuples(*arguments).map(lambda chosen: Call(function, chosen))


def calls(sort, depth):
    """Every way to make a value of a sort from smaller ones."""
    same = expressions(sort, depth)
    truth = expressions("truth", depth)
    made = [call(Function.COALESCE, same, same), call(Function.CASE, truth, same, same)]
    made += [call(Function.CASE, truth, same, st.just(Constant(None)))]
    return made + {
        "number": numbers,
        "truth": truths,
        "text": texts,
        "day": days,
        "second": seconds,
    }[sort](depth)


def numbers(depth):
    x = expressions("number", depth)
    time = st.one_of(expressions("day", depth), expressions("second", depth))
    made = [call(function, x, x) for function in (*TWO, Function.LEAST, Function.GREATEST)]
    made += [call(function, x) for function in ONE] + [call(function, time) for function in PARTS]
    made += [call(Function.MODULO, x, st.sampled_from([Constant(3), Constant(Fraction(5, 4))]))]
    made += [call(function, expressions("second", depth)) for function in CLOCK]
    return [
        *made,
        call(Function.LENGTH, expressions("text", depth)),
        call(Function.UNIX_DATE, expressions("day", depth)),
    ]


def truths(depth):
    t = expressions("truth", depth)
    made = [call(Function.AND, t, t), call(Function.OR, t, t), call(Function.NOT, t)]
    for sort in SORTS:
        x = expressions(sort, depth)
        made += [
            call(Function.EQUAL, x, x),
            call(Function.UNEQUAL, x, x),
            call(Function.IS_NULL, x),
        ]
        made += [call(Function.AMONG, x, CONSTANTS[sort], CONSTANTS[sort])]
        if sort in ("number", "day", "second"):
            made += [call(Function.LESS, x, x), call(Function.AT_MOST, x, x)]
    return [*made, call(Function.LIKE, expressions("text", depth), CONSTANTS["text"])]


def texts(depth):
    x = expressions("text", depth)
    cut = call(
        Function.SUBSTRING, x, st.integers(1, 4).map(Constant), st.integers(0, 4).map(Constant)
    )
    whole = (call(function, x) for function in (Function.LOWER, Function.UPPER, Function.TRIM))
    return [*whole, cut, call(Function.CONCAT, x, x)]


def days(depth):
    later = call(
        Function.ADD,
        call(Function.UNIX_DATE, expressions("day", depth)),
        st.integers(-40, 400).map(Constant),
    )
    made = [
        call(Function.DATE_OF, expressions("second", depth)),
        call(Function.FROM_UNIX_DATE, later),
    ]
    return made + moved(expressions("day", depth))


def seconds(depth):
    seen = call(Function.UNIX_SECONDS, expressions("second", depth))
    later = call(Function.ADD, seen, st.integers(-(10**6), 10**6).map(Constant))
    return [call(Function.FROM_UNIX_SECONDS, later), *moved(expressions("second", depth))]


def moved(x):
    """Times from times of the same sort."""
    choices = [call(function, x, x) for function in (Function.LEAST, Function.GREATEST)]
    starts = call(Function.TRUNCATE, x, st.sampled_from(UNITS).map(Constant))
    return [*choices, starts, call(Function.MONTHS_LATER, x, st.integers(-50, 50).map(Constant))]
