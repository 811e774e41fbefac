"""Totals of products: values rounded to at most 2^18 steps either way, so that noise on Σuv fits in 64 bits.

The rounding moves a value by at most half a step of the coarser grid, its *blur*, which is part of every prediction and
interval; so is that of a root or a quotient, which is rounded before anything else.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Function
from ...query.algebra.tree import Relation
from ...query.domains.domain import Domain
from ...query.domains.domain_of import domain_of
from ..laws.interval_arithmetic import at_least
from .addend import (
    Addend,
    centred,
    middle_of,
    number_addend,
    present,
    range_of,
    rows_addend,
    whole_of,
)

MOST_ROOT = 1 << 18
"""The most steps either way of a centred value in a product; its square, times noise, stays far below 2^62."""


def coarse_of(kind: Domain) -> Fraction | None:
    """Return the grid that products of a number are taken on: None if its own is coarse enough.

    >>> from discreet.statistics.releases.product import coarse_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> coarse_of(Whole(Fraction(1), 0, 120)), coarse_of(Whole(Fraction(1, 2), 0, 1 << 21))
    (None, Fraction(2, 1))
    """
    whole = whole_of(kind)
    half = (whole.high - whole.low + 1) // 2
    excess = -(-half // MOST_ROOT)
    return None if excess <= 1 else whole.step * (1 << (excess - 1).bit_length())


def blur_of(kind: Domain) -> Fraction:
    """Return how far a value may be moved by rounding: half a step of the grid of products, and its own blur."""
    return (coarse_of(kind) or Fraction(0)) / 2 + whole_of(kind).blur


def width_of(kind: Domain) -> Fraction:
    """Return the width of the public range of a number."""
    low, high = range_of(kind)
    return high - low


@lru_cache(maxsize=1024)  # equal for all keys of an answer
def unit_range(kind: Domain) -> tuple[Fraction, Fraction]:
    """Return where the middle lies in the public range, widened by the blur, as a part of it; and how wide that is.

    A centred value u is t = part + u/width in it, from 0 to 1.

    >>> from discreet.statistics.releases.product import unit_range
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> unit_range(Whole(Fraction(1), 0, 120))
    (Fraction(1, 2), Fraction(120, 1))
    """
    (low, high), blur = range_of(kind), blur_of(kind)
    width = max(high - low + 2 * blur, whole_of(kind).step)  # a constant has no width
    return (middle_of(kind) - low + blur) / width, width


Pair: TypeAlias = tuple[Fraction, Fraction]
Shares: TypeAlias = tuple[Fraction, ...]


@lru_cache(maxsize=1024)  # equal for all keys of an answer
def cross_weights(units: Pair, widths: Pair, count: int) -> tuple[Shares, Shares, Shares, Shares]:
    """Return Σts, Σt, Σs and n of values in 0..1 as weights of Σuv, Σu, Σv, n and further totals."""
    (a, b), (wide, high) = units, widths
    rest = (Fraction(0),) * (count - 4)
    products = (1 / (wide * high), b / wide, a / high, a * b)
    x, y = (Fraction(0), 1 / wide, Fraction(0), a), (Fraction(0), Fraction(0), 1 / high, b)
    rows = (Fraction(0), Fraction(0), Fraction(0), Fraction(1))
    return products + rest, x + rest, y + rest, rows + rest


@lru_cache(maxsize=1024)  # equal for all keys of an answer
def square_weights(place: int, unit: Fraction, width: Fraction) -> Shares:
    """Return Σt² as weights of Σuv, Σu, Σv, n, Σu², Σv², of the column whose sum stands at `place`, 1 or 2."""
    found = [Fraction(0)] * 6
    found[3 + place], found[place], found[3] = 1 / width**2, 2 * unit / width, unit**2
    return tuple(found)


@lru_cache(maxsize=1024)
def reach_of(kind: Domain) -> float:
    """Return how far a value, moved by its blur, may lie from the middle of its range; 0 is made tiny."""
    (low, high), middle = range_of(kind), middle_of(kind)
    return max(at_least(max(high - middle, middle - low) + blur_of(kind)), 1e-300)


@lru_cache(maxsize=1024)
def moment_blur(x: Domain, y: Domain) -> float:
    """Bound how far rounding for products moves a covariance (Cauchy and Schwarz, term by term)."""
    return at_least(
        Fraction(reach_of(x)) * blur_of(y)
        + blur_of(x) * Fraction(reach_of(y))
        + blur_of(x) * blur_of(y)
    )


@frozen
class Factor:
    """A centred value as a product takes it: an expression, and what 1 of it is worth."""

    expression: Expression
    worth: Fraction


def square_addends(
    x: Expression, rows: Relation, columns: dict[str, Domain]
) -> tuple[Addend, Addend, Addend]:
    """Return the addends of Σu², Σu and n, with u the centred x."""
    u = _factor(x, columns)
    return _product(u, u, columns), _single(u, columns), rows_addend(present(x, rows))


def cross_addends(
    x: Expression, y: Expression, rows: Relation, columns: dict[str, Domain]
) -> tuple[Addend, ...]:
    """Return the addends of Σuv, Σu, Σv, n, Σu², Σv², with u, v centred, over rows where neither is NULL."""
    u, v = _where(y, _factor(x, columns)), _where(x, _factor(y, columns))
    both = (present(x, rows), present(y, rows))
    n = Constant(True) if both == (Constant(True),) * 2 else Call(Function.AND, both)
    single = (_single(u, columns), _single(v, columns), rows_addend(n))
    return (_product(u, v, columns), *single, _product(u, u, columns), _product(v, v, columns))


def _factor(x: Expression, columns: dict[str, Domain]) -> Factor:
    middle, grid = centred(x, columns), coarse_of(domain_of(x, columns))
    if grid is None:
        return Factor(middle, Fraction(1))
    return Factor(Call(Function.ROUND, (Call(Function.DIVIDE, (middle, Constant(grid))),)), grid)


def _single(u: Factor, columns: dict[str, Domain]) -> Addend:
    addend = number_addend(u.expression, columns)
    return Addend(addend.expression, addend.step * u.worth, addend.low, addend.high)


def _product(u: Factor, v: Factor, columns: dict[str, Domain]) -> Addend:
    """Describe Σuv; a square is never below 0, whatever the product of the ends."""
    addend = number_addend(Call(Function.MULTIPLY, (u.expression, v.expression)), columns)
    return Addend(
        addend.expression, addend.step * u.worth * v.worth, 0 if u == v else addend.low, addend.high
    )


def _where(other: Expression, value: Factor) -> Factor:
    """Return the value where the other is not NULL."""
    chosen = Call(
        Function.CASE, (Call(Function.IS_NULL, (other,)), Constant(None), value.expression)
    )
    return Factor(chosen, value.worth)
