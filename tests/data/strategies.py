"""Random declarations: every column, unit and schema that can be declared, within reason."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction

import hypothesis
from hypothesis import HealthCheck, assume, settings
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
from discreet.data.unit import PERIODS
from discreet.errors import InvalidArgument
from support.profile import examples

PATIENT = settings(
    deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow]
)
"""No test may fail because the machine is busy."""
INT64 = st.integers(-(2**63), 2**63 - 1)
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
WORDS = st.text(LETTERS, max_size=12)
AMOUNTS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6),
    st.decimals(min_value=-(10**9), max_value=10**9, places=4, allow_nan=False),
    st.floats(min_value=-1e200, max_value=1e200, allow_subnormal=False),
)
STEPS = st.sampled_from([None, "1/128", "0.01", "0.1", 1, 5])


def given(*strategies: st.SearchStrategy):
    """Hypothesis's `given`, patient."""
    return lambda test: PATIENT(hypothesis.given(*strategies)(test))


def null_rules(values: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.one_of(
        st.just({}), st.just({"null_key": True}), values.map(lambda value: {"default": value})
    )


@st.composite
def pairs(draw, values):
    low, high = sorted([draw(values), draw(values)])
    assume(low < high)
    return low, high


@st.composite
def integers(draw):
    low, high = draw(pairs(INT64))
    return Integer(low, high, **draw(null_rules(st.integers(low, high))))


@st.composite
def reals(draw):
    low, high = draw(pairs(AMOUNTS.map(lambda x: Fraction(str(x)))))
    rule = draw(null_rules(st.sampled_from([low, high, (low + high) / 2])))
    for step in (draw(STEPS), None):  # bounds may be closer than one step, or too far for one
        with suppress(InvalidArgument):
            return Real(low, high, step, **rule)
    return assume(False)  # the bounds are closer than doubles can tell apart


@st.composite
def dates(draw):
    low, high = draw(pairs(st.dates()))
    return Date(low, high, **draw(null_rules(st.dates(low, high))))


@st.composite
def timestamps(draw):
    seconds = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
        lambda t: t.replace(microsecond=0)
    )
    low, high = draw(pairs(seconds))
    return Timestamp(low, high, **draw(null_rules(st.sampled_from([low, high]))))


@st.composite
def categories(draw):
    kind = draw(st.sampled_from([WORDS, INT64, st.booleans()]))
    values = draw(st.lists(kind, min_size=1, max_size=6, unique=True))
    others = (
        [False]
        if isinstance(values[0], bool)
        else [False, draw(kind.filter(lambda key: key not in values))]
    )
    return Category(
        values, other=draw(st.sampled_from(others)), **draw(null_rules(st.sampled_from(values)))
    )


def texts():
    short = st.text(LETTERS, max_size=5)
    return st.builds(lambda n, rule: Text(n, **rule), st.integers(5, 10**6), null_rules(short))


def booleans():
    return null_rules(st.booleans()).map(lambda rule: Boolean(**rule))


def columns():
    return st.one_of(integers(), reals(), dates(), timestamps(), categories(), texts(), booleans())


def names():
    printable = st.text(
        st.characters(codec="utf-8", exclude_characters="\"'`\\"), min_size=1, max_size=15
    )
    return printable.filter(lambda name: name.isprintable() and name == name.strip())


def identifiers():
    return st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@st.composite
def schemas(draw):
    declared = draw(st.dictionaries(names(), columns(), min_size=1, max_size=5))
    assume(len({name.casefold() for name in declared}) == len(declared))
    version = draw(st.sampled_from(["1", "2024-06", "июнь"]))
    if draw(st.booleans()):
        key = draw(st.lists(st.sampled_from(list(declared)), unique=True))
        most = draw(st.dictionaries(st.sampled_from(sorted(declared)), st.integers(1, 10**6)))
        return Schema.public_table(
            draw(identifiers()), declared, key=key, max_rows=most, version=version
        )
    marks = draw(
        st.lists(st.sampled_from(["unit", *(f"columns.{name}" for name in declared)]), unique=True)
    )
    return Schema(
        draw(identifiers()),
        draw(units(declared)),
        declared,
        neighbours=draw(st.sampled_from(["add-remove", "replace"])),
        size=draw(st.none() | st.integers(1, 10**12)),
        version=version,
        needs_word=marks,
    )


@st.composite
def units(draw, declared):
    if draw(st.booleans()):
        return Rows()
    times = [
        (name, per) for name, c in declared.items() if isinstance(c, Timestamp) for per in PERIODS
    ]
    times += [
        (name, per) for name, c in declared.items() if isinstance(c, Date) for per in PERIODS[1:]
    ]
    window = draw(st.none() | st.sampled_from(times)) if times else None
    rows = draw(st.integers(1, 1000))
    return People(
        draw(names()),
        max_rows=rows,
        max_groups=draw(st.none() | st.integers(1, rows)),
        max_rows_per_group=draw(st.none() | st.integers(1, rows)),
        window=window,
    )


def cells():
    """Anything a store may hold."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.decimals(),
        st.text(max_size=10),
        st.dates(),
        st.datetimes(timezones=st.none() | st.timezones()),
        st.dates().map(date.isoformat),
        st.datetimes().map(lambda t: t.isoformat(" ")),
        st.floats().map(str),
        st.integers().map(str),
        st.binary(max_size=3),
    )
