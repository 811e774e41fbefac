"""Basis of a question, and the addends of its totals.

The basis holds rows and keys, the contribution bounds of one unit, and public lists. An addend is
the contribution of one row to an exact total: a whole number of steps, each of which is worth a
rational number (its worth).

Numbers are centred at the middle m of their public range where a count of rows is released as well:
Σ(x − m) has half the sensitivity of Σx.

In products, values are rounded to at most 2^18 steps either way, so noise on Σuv fits in 64 bits.
The rounding moves a value by at most half a step of the coarser grid, its *blur*, which is part of
every prediction and interval. So is the blur of a root or a quotient, which is rounded before any
product; for plain sums of these see `sum`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ...arithmetic.rounding import at_least
from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Function
from ...query.algebra.statistic import Quantile
from ...query.algebra.tally import Share
from ...query.algebra.tree import Question, Relation
from ...query.bounds.keys import PublicValues
from ...query.bounds.relation_facts import always_present, columns_of
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of


@frozen
class Basis:
    """Rows with their columns, the keys, and the contribution bound (`share`) of one unit.

    `key_count` is the number of public keys, None if they are not public. `quantiles` lists those of
    the question, since all of one expression are one release; `intervals` says whether each gets one.
    """

    rows: Relation
    columns: dict[str, Domain]
    keys: tuple[Expression, ...]
    share: Share
    key_count: int | None
    public_values: PublicValues | None
    quantiles: tuple[tuple[Expression, Fraction], ...] = ()
    intervals: bool = True
    joined: tuple[int, ...] = ()
    """Places of the keys that a public list of chosen keys is joined to (`Tally.joined`)."""


def basis_of(
    question: Question,
    share: Share,
    key_count: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Basis:
    """Return the basis of a question under a contribution bound `share`."""
    keys = tuple(key.expression for key in question.keys)
    quantiles = []
    for _, statistic in question.statistics:
        if isinstance(statistic, Quantile):
            quantiles.append((statistic.of, statistic.at))
    columns = columns_of(question.rows)
    joined: tuple[int, ...] = ()
    # Without several sets a nest is a list of chosen keys: rows that match none are dropped.
    if question.nested is not None and question.sets is None:
        joined = question.nested.places
    return Basis(
        rows=question.rows,
        columns=columns,
        keys=keys,
        share=share,
        key_count=key_count,
        public_values=public_values,
        quantiles=tuple(quantiles),
        intervals=intervals,
        joined=joined,
    )


@frozen
class Addend:
    """Contribution of a row to a total, in whole steps from `low` to `high`, and the worth of a step."""

    expression: Expression
    step: Fraction
    low: int
    high: int


def rows_addend(truth: Expression) -> Addend:
    """Count the rows where a condition holds."""
    return Addend(truth, Fraction(1), 0, 1)


def number_addend(x: Expression, columns: dict[str, Domain]) -> Addend:
    """Add up a number; refuse other expressions (`UnsupportedQuery`)."""
    kind = whole_of(domain_of(x, columns))
    # A row that is NULL, or filtered out, adds 0: the range of a contribution contains 0.
    return Addend(x, kind.step, min(kind.low, 0), max(kind.high, 0))


def present(x: Expression, rows: Relation) -> Expression:
    """Return the condition that a value is not NULL."""
    # A column that is never NULL has the condition of COUNT(*), so that both share one total.
    if always_present(x, rows):
        return Constant(True)
    return Call(Function.NOT, (Call(Function.IS_NULL, (x,)),))


def centred(x: Expression, columns: dict[str, Domain]) -> Expression:
    """Return a number less the middle of its public range."""
    middle = middle_of(domain_of(x, columns))
    return Call(Function.SUBTRACT, (x, Constant(middle)))


def range_of(kind: Domain) -> tuple[Fraction, Fraction]:
    """Return the public range of a number.

    >>> from discreet.statistics.releases.basis import range_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> range_of(Whole(Fraction(1, 2), 0, 9))
    (Fraction(0, 1), Fraction(9, 2))
    """
    whole = whole_of(kind)
    return whole.low * whole.step, whole.high * whole.step


def middle_of(kind: Domain) -> Fraction:
    """Return the public number that totals are centred at.

    It is the grid point nearest below the middle of the range.

    >>> from discreet.statistics.releases.basis import middle_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> middle_of(Whole(Fraction(1, 2), 0, 9))
    Fraction(2, 1)
    """
    whole = whole_of(kind)
    return (whole.low + whole.high) // 2 * whole.step


def whole_of(kind: Domain) -> Whole:
    """Return the domain of a number; refuse text, truth values and times (`UnsupportedQuery`)."""
    if not isinstance(kind, Whole):
        raise UnsupportedQuery("sums, means, variances and correlations take numbers")
    return kind


MAX_ROOT = 1 << 18
"""Limit on the steps of a centred value in a product: its square, times noise, is far below 2^62."""


def coarse_of(kind: Domain) -> Fraction | None:
    """Return the grid on which products of a number are taken; None if its own is coarse enough.

    >>> from discreet.statistics.releases.basis import coarse_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> coarse_of(Whole(Fraction(1), 0, 120)), coarse_of(Whole(Fraction(1, 2), 0, 1 << 21))
    (None, Fraction(2, 1))
    """
    whole = whole_of(kind)
    # Both quotients round up: neither may leave more steps than the limit.
    half = (whole.high - whole.low + 1) // 2
    excess = -(-half // MAX_ROOT)
    if excess <= 1:
        return None
    # The next power of two at or above the excess.
    return whole.step * (1 << (excess - 1).bit_length())


def blur_of(kind: Domain) -> Fraction:
    """Bound the rounding of a value: half a step of the grid of products, and its own blur."""
    grid = coarse_of(kind) or Fraction(0)
    return grid / 2 + whole_of(kind).blur


def width_of(kind: Domain) -> Fraction:
    """Return the width of the public range of a number."""
    low, high = range_of(kind)
    return high - low


# Ranges and weights are equal for all keys of an answer, hence the caches.
@lru_cache(maxsize=1024)
def unit_range(kind: Domain) -> tuple[Fraction, Fraction]:
    """Return the position of the middle in the public range, widened by the blur, and its width.

    The position is a part of the width. A centred value u is t = position + u/width, from 0 to 1.

    >>> from discreet.statistics.releases.basis import unit_range
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> unit_range(Whole(Fraction(1), 0, 120))
    (Fraction(1, 2), Fraction(120, 1))
    """
    low, high = range_of(kind)
    blur = blur_of(kind)
    # A constant has no width: one step keeps the division defined.
    width = max(high - low + 2 * blur, whole_of(kind).step)
    position = (middle_of(kind) - low + blur) / width
    return position, width


Pair: TypeAlias = tuple[Fraction, Fraction]
Shares: TypeAlias = tuple[Fraction, ...]


@lru_cache(maxsize=1024)
def cross_weights(units: Pair, widths: Pair, count: int) -> tuple[Shares, Shares, Shares, Shares]:
    """Return Σts, Σt, Σs and n of values in 0..1 as weights of Σuv, Σu, Σv, n and further totals."""
    a, b = units
    width_x, width_y = widths
    zero = Fraction(0)
    # (a + u/width_x)(b + v/width_y), multiplied out.
    products = (1 / (width_x * width_y), b / width_x, a / width_y, a * b)
    x = (zero, 1 / width_x, zero, a)
    y = (zero, zero, 1 / width_y, b)
    rows = (zero, zero, zero, Fraction(1))
    further = (zero,) * (count - 4)
    return products + further, x + further, y + further, rows + further


@lru_cache(maxsize=1024)
def square_weights(place: int, unit: Fraction, width: Fraction) -> Shares:
    """Return Σt² as weights of Σuv, Σu, Σv, n, Σu², Σv².

    `place` is the index of the column's sum, 1 or 2.
    """
    # (unit + u/width)², multiplied out.
    weights = [Fraction(0)] * 6
    weights[3 + place] = 1 / width**2
    weights[place] = 2 * unit / width
    weights[3] = unit**2
    return tuple(weights)


@lru_cache(maxsize=1024)
def reach_of(kind: Domain) -> float:
    """Bound the distance of a rounded value from the middle of its range."""
    low, high = range_of(kind)
    middle = middle_of(kind)
    farthest = max(high - middle, middle - low)
    # Never 0, since errors are divided by it; rounds up, as every bound on an error.
    return max(at_least(farthest + blur_of(kind)), 1e-300)


@lru_cache(maxsize=1024)
def moment_blur(x: Domain, y: Domain) -> float:
    """Bound the change of a covariance by rounding (Cauchy and Schwarz, term by term)."""
    blur_x = blur_of(x)
    blur_y = blur_of(y)
    reach_x = Fraction(reach_of(x))
    reach_y = Fraction(reach_of(y))
    return at_least(reach_x * blur_y + blur_x * reach_y + blur_x * blur_y)


@frozen
class Factor:
    """Factor of a product: the expression of a centred value, and the worth of 1 of it."""

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
    """Return the addends of Σuv, Σu, Σv, n, Σu², Σv², with u, v centred.

    Only rows count where neither value is NULL.
    """
    u = _where(y, _factor(x, columns))
    v = _where(x, _factor(y, columns))
    both = (present(x, rows), present(y, rows))
    counted: Expression = Call(Function.AND, both)
    # Columns that are never NULL share the total of COUNT(*).
    if both == (Constant(True), Constant(True)):
        counted = Constant(True)
    return (
        _product(u, v, columns),
        _single(u, columns),
        _single(v, columns),
        rows_addend(counted),
        _product(u, u, columns),
        _product(v, v, columns),
    )


def _factor(x: Expression, columns: dict[str, Domain]) -> Factor:
    value = centred(x, columns)
    grid = coarse_of(domain_of(x, columns))
    if grid is None:
        return Factor(value, Fraction(1))
    quotient = Call(Function.DIVIDE, (value, Constant(grid)))
    return Factor(Call(Function.ROUND, (quotient,)), grid)


def _single(u: Factor, columns: dict[str, Domain]) -> Addend:
    addend = number_addend(u.expression, columns)
    return Addend(addend.expression, addend.step * u.worth, addend.low, addend.high)


def _product(u: Factor, v: Factor, columns: dict[str, Domain]) -> Addend:
    """Return the addend of Σuv; of one factor twice, a square."""
    product = Call(Function.MULTIPLY, (u.expression, v.expression))
    addend = number_addend(product, columns)
    # A square is never below 0, whatever the product of the ends of the range.
    low = 0 if u == v else addend.low
    return Addend(addend.expression, addend.step * u.worth * v.worth, low, addend.high)


def _where(other: Expression, value: Factor) -> Factor:
    """Return the value where the other is not NULL."""
    missing = Call(Function.IS_NULL, (other,))
    chosen = Call(Function.CASE, (missing, Constant(None), value.expression))
    return Factor(chosen, value.worth)
