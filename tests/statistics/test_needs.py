"""What each statistic needs, checked by computing it from exactly that."""

import statistics
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Boolean, Category, Integer, People, Real, Rows, Schema, Text
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from discreet.query.algebra.tally import Free, RowShare, Term
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of
from discreet.statistics.catalogue import recipe_of
from discreet.statistics.releases.basis import (
    MAX_ROOT,
    Basis,
    blur_of,
    coarse_of,
    cross_addends,
    middle_of,
    range_of,
    square_addends,
)
from oracles.tally import contribution

X, Y = Field("x"), Field("y")
COLUMNS = {
    "x": Integer(-5, 30), "y": Real(0, 8, step=0.25), "c": Category(["a", "b"], null_key=True), "t": Text(9),
    "yes": Boolean(),
}  # fmt: skip
RELATION = Scan(Schema("rows", Rows(), COLUMNS))
KINDS = columns_of(RELATION)
BASIS = Basis(RELATION, KINDS, (), Free(), 1, None)
row = st.fixed_dictionaries({
    "x": st.one_of(st.none(), st.integers(-5, 30)),
    "y": st.one_of(st.none(), st.integers(0, 32).map(lambda n: Fraction(n, 4))),
})  # fmt: skip


def totals_of(statistic, rows):
    """Add up each total, in units; and check that every row stays within its bounds."""
    found = []
    for need in recipe_of(statistic, BASIS).needs(BASIS):
        (term,) = need.tally.terms
        each = [contribution(term, r, KINDS) for r in rows]
        assert all(term.low <= c <= term.high for c in each)
        assert term.low <= 0 <= term.high
        found.append(sum(each) * need.unit)
    return found


@pytest.mark.untraced
@settings(deadline=None)
@given(st.lists(row, min_size=2, max_size=12))
def test_parts_give_the_statistics(rows):
    xs = [r["x"] for r in rows if r["x"] is not None]
    both = [(r["x"], r["y"]) for r in rows if r["x"] is not None and r["y"] is not None]
    assert totals_of(Count(), rows) == [len(rows)]
    assert totals_of(CountOf(X), rows) == [len(xs)]
    assert totals_of(Sum(X), rows) == [sum(xs)]
    m, m_y = middle_of(KINDS["x"]), middle_of(KINDS["y"])
    s, n = totals_of(Mean(X), rows)
    assert n == len(xs)
    assert s + m * n == sum(xs)
    squares, s, n = totals_of(Variance(X), rows)
    if n:
        assert squares / n - (s / n) ** 2 == statistics.pvariance(map(Fraction, xs))
    *moments, u2, v2 = totals_of(Correlation(X, Y), rows)
    assert totals_of(Covariance(X, Y), rows) == moments
    uv, u, v, n = moments
    assert uv == sum((x - m) * (y - m_y) for x, y in both)
    assert (u, v, n) == (sum(x - m for x, _ in both), sum(y - m_y for _, y in both), len(both))
    assert (u2, v2) == (sum((x - m) ** 2 for x, _ in both), sum((y - m_y) ** 2 for _, y in both))


def test_people_are_counted_as_people():
    visits = Scan(Schema("visits", People("id", max_rows=3), COLUMNS))
    basis = Basis(visits, KINDS, (), RowShare(3), 1, None)
    (people,), (rows,) = (
        recipe_of(statistic, basis).needs(basis) for statistic in (CountPeople(), Count())
    )
    assert people.tally.people
    assert people.sensitivity.l1 * people.unit == 1
    assert not rows.tally.people
    assert rows.sensitivity.l1 * rows.unit == 3


def test_listed_values_without_null():
    assert recipe_of(Mode(Field("c")), BASIS).cells.places == (("a",), ("b",))
    assert recipe_of(CountDistinct(Field("yes")), BASIS).cells.places == ((False,), (True,))


def test_values_that_nobody_listed_are_counted_by_key_and_null_is_none():
    recipe = recipe_of(CountDistinct(Field("t")), BASIS)
    assert recipe.cells.open and not recipe.cells.places
    [need] = recipe.needs(BASIS)
    keys = len(need.tally.keys) - 1
    pairs = {
        (*("k",) * keys, "x"): 2,
        (*("k",) * keys, "y"): 1,
        (*("k",) * keys, None): 5,
        (*("k",) * keys, "z"): 0,
    }
    assert need.exact(need.occurring(pairs), ("k",) * keys) == 2


WRONG = [Mode, Sum, lambda of: Quantile(of, Fraction(1, 2)), lambda _: Mean(Field("yes"))]


@pytest.mark.parametrize("statistic", [make(Field("t")) for make in WRONG])
def test_refusals(statistic):
    with pytest.raises(UnsupportedQuery):
        recipe_of(statistic, BASIS).needs(BASIS)


def test_products_are_of_coarser_values():
    """Squares of 2^40 steps would leave no room for noise; the values are rounded, by no more than stated."""
    column = Integer(0, 2**40)
    wide = Scan(Schema("wide", People("id", max_rows=2), {"x": column}))
    columns = columns_of(wide)
    squares, total, _ = square_addends(X, wide, columns)
    assert squares.high <= (MAX_ROOT + 1) ** 2
    assert coarse_of(columns["x"]) == 2 * blur_of(columns["x"]) == total.step == 2**21
    for x in (0, 1, 2**39, 2**40 - 5, 2**40):
        rounded = contribution(Term(total.expression, 1, total.low, total.high), {"x": x}, columns)
        assert total.low <= rounded <= total.high
        assert abs(rounded * total.step - (x - middle_of(columns["x"]))) <= blur_of(columns["x"])
        square = contribution(
            Term(squares.expression, 1, squares.low, squares.high), {"x": x}, columns
        )
        assert square * squares.step == (rounded * total.step) ** 2
    assert cross_addends(X, X, wide, columns)[0].high <= (MAX_ROOT + 1) ** 2
    assert range_of(columns["x"]) == (0, 2**40)


def test_numbers_that_fit_are_not_rounded():
    assert coarse_of(KINDS["x"]) is None
    assert blur_of(KINDS["x"]) == 0
