"""Public cells: every value lies in exactly one of them, in order."""

from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Date, Integer, Real, Timestamp
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Field
from discreet.query.bounds.cells import lattice
from discreet.query.domains.domain import domain_of_column
from discreet.query.meaning.evaluate import evaluate
from support.profile import examples

X = Field("x")


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


@settings(deadline=None, max_examples=examples(60))
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
