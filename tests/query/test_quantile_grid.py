"""Public cells of a quantile: every value lies in exactly one of them, in order, and stores work out which."""

from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Boolean, Date, Integer, Real, Timestamp
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Field
from discreet.query.bounds.quantile_grid import MIN_FINE, quantile_grid_of
from discreet.query.domains.domain import domain_of_column
from discreet.query.meaning.evaluate import evaluate
from support.profile import examples

X = Field("x")


def check_ladder(column, stored, most=1 << 12):
    """Cells are in order and touch, from end to end; a value lies in the cell that its expressions say."""
    columns = {"x": domain_of_column(column)}
    ladder = quantile_grid_of(X, columns, most)
    low, high = column.ends
    assert (ladder.ends(ladder.first)[0], ladder.ends(ladder.last)[1]) == (low, high)
    for raw in stored:
        steps = column.steps(raw)
        value = steps * Fraction(column.step)
        cell = ladder.cell_of([evaluate(e, {"x": value}, columns) for e in ladder.expressions])
        first, last = ladder.ends(cell)
        assert cell == ladder.cell_at(steps)
        assert first <= steps <= last
        assert last == high or ladder.ends(cell + 1)[0] == last + 1
        assert first == low or ladder.ends(cell - 1)[1] == first - 1
        if ladder.grain and not ladder.wide:
            assert (
                last - first < 1
                or last - first + 1 <= abs(steps - ladder.anchor) * ladder.grain + 1
            )
    return ladder


@settings(deadline=None, max_examples=examples(150))
@given(
    st.integers(-(10**7), 10**7),
    st.integers(1, 10**7),
    st.lists(st.integers(-(10**7), 2 * 10**7), max_size=6),
)
def test_numbers(low, width, stored):
    check_ladder(Integer(low, low + width), [*stored, low, low + width])
    check_ladder(Real(low, low + width, step="1/8"), [*stored, low, low + width])


def test_a_short_grid_is_cut_into_its_steps():
    ladder = check_ladder(Integer(-5, 100), range(-5, 101))
    assert (ladder.options, ladder.grain, ladder.doubling) == (106, None, 1 << 10)


def test_many_keys_leave_the_least_fineness():
    wide = {"x": domain_of_column(Real(0, 10**7))}
    assert quantile_grid_of(X, wide, 1).fine == MIN_FINE
    assert quantile_grid_of(X, wide, 1 << 18).fine == 13
    assert quantile_grid_of(X, wide, 1 << 18).doubling == 1 << 13


def test_days_and_seconds():
    first = date(1969, 12, 30)
    check_ladder(Date(first, first + timedelta(days=20_000)), [first, date(1999, 1, 1)])
    start = datetime(1969, 12, 30, 11, 30, 5)
    for hours, wide in ((1, 1), (24 * 400, 3600), (24 * 20_000, 86_400)):
        last = start + timedelta(hours=hours)
        ladder = check_ladder(
            Timestamp(start, last), [start, start + timedelta(minutes=41 * hours, seconds=7), last]
        )
        assert ladder.wide == wide
        assert ladder.grain is None or wide > 1


def test_what_has_no_order():
    with pytest.raises(UnsupportedQuery, match="number, a date or a time"):
        quantile_grid_of(X, {"x": domain_of_column(Boolean())}, 10)
