"""What each statistic needs, checked by computing it from exactly that."""

import statistics
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Boolean, Category, Date, Integer, People, Real, Rows, Schema, Text, Timestamp
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tally import Term
from discreet.query.algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Scan,
    Sum,
    Variance,
)
from discreet.query.bounds.cells import lattice
from discreet.query.bounds.needs import MOST_ROOT, Sums, blur_of, coarse_of, middle_of, needs, range_of
from discreet.query.bounds.rows import columns_of
from discreet.query.domains.domain import domain_of_column
from discreet.query.meaning.evaluate import evaluate
from oracles.tally import contribution

X, Y = Field("x"), Field("y")
COLUMNS = {
    "x": Integer(-5, 30), "y": Real(0, 8, step=0.25), "c": Category(["a", "b"], null_key=True), "t": Text(9),
    "yes": Boolean(),
}  # fmt: skip
RELATION = Scan(Schema("rows", Rows(), COLUMNS))
KINDS = columns_of(RELATION)
row = st.fixed_dictionaries({
    "x": st.one_of(st.none(), st.integers(-5, 30)),
    "y": st.one_of(st.none(), st.integers(0, 32).map(lambda n: Fraction(n, 4))),
})  # fmt: skip


def totals_of(statistic, rows):
    """Add up each part, in units; and check that every row stays within the part's bounds."""
    need = needs(statistic, RELATION)
    assert isinstance(need, Sums)
    found = []
    for part in need.parts:
        each = [contribution(Term(part.expression, 1, part.low, part.high), r, KINDS) for r in rows]
        assert all(part.low <= c <= part.high for c in each)
        assert part.low <= 0 <= part.high
        found.append(sum(each) * part.step)
    return found


@settings(deadline=None)
@given(st.lists(row, min_size=2, max_size=12))
def test_parts_give_the_statistics(rows):
    xs = [r["x"] for r in rows if r["x"] is not None]
    both = [(r["x"], r["y"]) for r in rows if r["x"] is not None and r["y"] is not None]
    assert totals_of(Count(), rows) == [len(rows)]
    assert totals_of(CountPeople(), rows) == [len(rows)]
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
    assert needs(CountPeople(), RELATION).people
    assert not needs(Count(), RELATION).people


def test_listed_values_without_null():
    assert needs(Mode(Field("c")), RELATION).places == (("a",), ("b",))
    assert needs(CountDistinct(Field("yes")), RELATION).places == ((False,), (True,))


WRONG = [Mode, CountDistinct, Sum, lambda of: Quantile(of, Fraction(1, 2)), lambda _: Mean(Field("yes"))]


@pytest.mark.parametrize("statistic", [make(Field("t")) for make in WRONG])
def test_refusals(statistic):
    with pytest.raises(UnsupportedQuery):
        needs(statistic, RELATION)


def test_products_are_of_coarser_values():
    """Squares of 2^40 steps would leave no room for noise; the values are rounded, by no more than stated."""
    column = Integer(0, 2**40)
    wide = Scan(Schema("wide", People("id", max_rows=2), {"x": column}))
    columns = columns_of(wide)
    squares, total, _ = needs(Variance(X), wide).parts
    assert squares.high <= (MOST_ROOT + 1) ** 2
    assert coarse_of(columns["x"]) == 2 * blur_of(columns["x"]) == total.step == 2**21
    for x in (0, 1, 2**39, 2**40 - 5, 2**40):
        rounded = contribution(Term(total.expression, 1, total.low, total.high), {"x": x}, columns)
        assert total.low <= rounded <= total.high
        assert abs(rounded * total.step - (x - middle_of(columns["x"]))) <= blur_of(columns["x"])
        square = contribution(Term(squares.expression, 1, squares.low, squares.high), {"x": x}, columns)
        assert square * squares.step == (rounded * total.step) ** 2
    assert needs(Covariance(X, X), wide).parts[0].high <= (MOST_ROOT + 1) ** 2
    assert range_of(columns["x"]) == (0, 2**40)


def test_numbers_that_fit_are_not_rounded():
    assert coarse_of(KINDS["x"]) is None
    assert blur_of(KINDS["x"]) == 0


def check_cells(column, stored, most):
    """Every value lies in exactly the cell whose ends hold it; the cells are in order and touch."""
    columns = {"x": domain_of_column(column)}
    cells = lattice(X, columns, most)
    assert len(cells.places) <= most
    assert len(set(cells.places)) == len(cells.places) == len(cells.ends)
    step = Fraction(column.step)
    assert all(before[1] + step == after[0] for before, after in zip(cells.ends, cells.ends[1:], strict=False))
    assert (cells.ends[0][0], cells.ends[-1][1]) == tuple(end * step for end in column.ends)
    for raw in stored:
        value = column.steps(raw) * step
        place = tuple(evaluate(e, {"x": value}, columns) for e in cells.expressions)
        low, high = cells.ends[cells.places.index(place)]
        assert low <= value <= high


@settings(deadline=None)
@given(st.integers(-300, 300), st.integers(1, 5000), st.integers(2, 90), st.lists(st.integers(-500, 5500), max_size=5))
def test_cells_of_numbers(low, width, most, stored):
    check_cells(Integer(low, low + width), stored, most)
    check_cells(Real(low, low + width, step="1/8"), stored, most)


DAYS = st.dates(date(1, 1, 1), date(9999, 12, 30))


@settings(deadline=None, max_examples=60)
@given(DAYS, st.integers(1, 30000), st.lists(DAYS, max_size=4))
def test_cells_of_days(first, width, stored):
    last = min(date.max, first + timedelta(days=min(width, (date.max - first).days)))
    check_cells(Date(first, last), [*stored, first, last], 1024)
    check_cells(Date(first, last), [*stored, first, last], 100)


@pytest.mark.parametrize("hours", [1, 30, 24 * 41, 24 * 43, 24 * 2000, 24 * 40000])
def test_cells_of_seconds(hours):
    first = datetime(1969, 12, 30, 11, 30, 5)
    last = first + timedelta(hours=hours)
    middle = first + timedelta(minutes=41 * hours, seconds=7)
    check_cells(Timestamp(first, last), [first, middle, last], 1024)


def test_too_many_years():
    with pytest.raises(UnsupportedQuery, match="dates"):
        lattice(X, {"x": domain_of_column(Date("0001-01-01", "9999-12-31"))}, 1024)
