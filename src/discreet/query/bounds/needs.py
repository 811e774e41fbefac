"""What a statistic needs to know: exact totals, or counts on a public list of cells.

    COUNT(*), COUNT(x)       how many rows; where x is not NULL
    COUNT(DISTINCT person)   how many people
    SUM(x)                   Σx
    AVG(x)                   Σ(x − m), n          with m the middle of the public range: half the sensitivity of Σx
    VARIANCE(x)              Σ(x − m)², Σ(x − m), n
    COVAR(x, y)              Σuv, Σu, Σv, n       with u, v centred likewise, over rows where neither is NULL
    CORR(x, y)               Σuv, Σu, Σv, n, Σu², Σv²
    QUANTILE, MIN, MAX       counts on a public lattice of cells
    MODE, COUNT(DISTINCT x)  counts of the public values

Values in products are rounded to at most 2^18 steps either way, so that the noise on their totals fits in 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from ...errors import UnsupportedQuery
from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Relation,
    Statistic,
    Sum,
    Variance,
)
from ..domains.domain import Domain, Whole
from ..domains.domain_of import domain_of
from .cells import Cells, lattice, listed
from .keys import PublicValues, public_keys
from .present import always_present
from .rows import columns_of

__all__ = ["MOST_ROOT", "Need", "Part", "Sums", "blur_of", "coarse_of", "middle_of", "needs", "range_of"]

MOST_ROOT = 1 << 18
"""The most steps either way of a centred value in a product; its square, times noise, stays far below 2^62."""


@dataclass(frozen=True, slots=True)
class Part:
    """One exact total: what a row adds, in whole steps from `low` to `high`, and the value of a step."""

    expression: Expression
    step: Fraction
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Sums:
    """Totals over rows, or over people."""

    parts: tuple[Part, ...]
    people: bool = False


Need: TypeAlias = Sums | Cells


def needs(
    statistic: Statistic, rows: Relation, *, most_cells: int = 1024, public_values: PublicValues | None = None
) -> Need:
    """Return what a statistic of some rows needs.

    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tree import Scan
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> [(part.low, part.high) for part in needs(Mean(Field("age")), people).parts]
    [(-60, 60), (0, 1)]

    Refuses numbers beyond 64-bit integers, and values that are not a short public list.
    """
    columns = columns_of(rows)
    match statistic:
        case Count():
            return Sums((_rows(Constant(True)),))
        case CountPeople():
            return Sums((_rows(Constant(True)),), people=True)
        case CountOf(of=of):
            return Sums((_rows(_present(of, rows)),))
        case Sum(of=of):
            return Sums((_number(of, columns),))
        case Mean(of=of):
            return Sums((_number(_centred(of, columns), columns), _rows(_present(of, rows))))
        case Variance(of=of):
            z = _coarse(of, columns)
            return Sums((_product(z, z, columns), _single(z, columns), _rows(_present(of, rows))))
        case Covariance(x=x, y=y):
            return Sums(_moments(x, y, rows)[:4])
        case Correlation(x=x, y=y):
            return Sums(_moments(x, y, rows))
        case Quantile(of=of):
            return lattice(of, columns, most_cells)
        case Mode(of=of) | CountDistinct(of=of):
            values = public_keys(of, rows, public_values=public_values)
            if values is None:
                raise UnsupportedQuery("MODE and COUNT(DISTINCT) need a short public list of values; use a Category")
            return listed(of, [value for value in values if value is not None])
        case _:
            assert_never(statistic)


def range_of(domain: Domain) -> tuple[Fraction, Fraction]:
    """Return the public range of a number.

    >>> range_of(Whole(Fraction(1, 2), 0, 9))
    (Fraction(0, 1), Fraction(9, 2))
    """
    return _whole(domain).low * _whole(domain).step, _whole(domain).high * _whole(domain).step


def middle_of(domain: Domain) -> Fraction:
    """Return the public number that totals are centred at: the grid point nearest below the middle of the range.

    >>> middle_of(Whole(Fraction(1, 2), 0, 9))
    Fraction(2, 1)
    """
    return (_whole(domain).low + _whole(domain).high) // 2 * _whole(domain).step


def coarse_of(domain: Domain) -> Fraction | None:
    """Return the grid that products of a number are taken on: None if its own is coarse enough.

    >>> coarse_of(Whole(Fraction(1), 0, 120)), coarse_of(Whole(Fraction(1, 2), 0, 1 << 21))
    (None, Fraction(2, 1))
    """
    whole = _whole(domain)
    half = (whole.high - whole.low + 1) // 2
    excess = -(-half // MOST_ROOT)
    return None if excess <= 1 else whole.step * (1 << (excess - 1).bit_length())


def blur_of(domain: Domain) -> Fraction:
    """Return how far a value may be moved by rounding it for products: half a step of their grid."""
    return (coarse_of(domain) or Fraction(0)) / 2


def _whole(domain: Domain) -> Whole:
    if not isinstance(domain, Whole):
        raise UnsupportedQuery("sums, means, variances and correlations take numbers")
    return domain


def _present(x: Expression, rows: Relation) -> Expression:
    """Return where a value counts: everywhere, if it cannot be NULL, so that COUNT(*) serves too."""
    if always_present(x, rows):
        return Constant(True)
    return Call(Function.NOT, (Call(Function.IS_NULL, (x,)),))


def _centred(x: Expression, columns: dict[str, Domain]) -> Expression:
    return Call(Function.SUBTRACT, (x, Constant(middle_of(domain_of(x, columns)))))


def _rows(truth: Expression) -> Part:
    return Part(truth, Fraction(1), 0, 1)


def _number(x: Expression, columns: dict[str, Domain]) -> Part:
    domain = _whole(domain_of(x, columns))
    return Part(x, domain.step, min(domain.low, 0), max(domain.high, 0))


@dataclass(frozen=True, slots=True)
class _Factor:
    """A centred value as a product takes it: an expression, and what 1 of it is worth."""

    expression: Expression
    worth: Fraction


def _coarse(x: Expression, columns: dict[str, Domain]) -> _Factor:
    centred, grid = _centred(x, columns), coarse_of(domain_of(x, columns))
    if grid is None:
        return _Factor(centred, Fraction(1))
    return _Factor(Call(Function.ROUND, (Call(Function.DIVIDE, (centred, Constant(grid))),)), grid)


def _single(u: _Factor, columns: dict[str, Domain]) -> Part:
    part = _number(u.expression, columns)
    return Part(part.expression, part.step * u.worth, part.low, part.high)


def _product(u: _Factor, v: _Factor, columns: dict[str, Domain]) -> Part:
    """Describe Σuv; a square is never below 0, whatever the product of the ends."""
    part = _number(Call(Function.MULTIPLY, (u.expression, v.expression)), columns)
    return Part(part.expression, part.step * u.worth * v.worth, 0 if u == v else part.low, part.high)


def _moments(x: Expression, y: Expression, rows: Relation) -> tuple[Part, ...]:
    columns = columns_of(rows)
    u, v = _where(y, _coarse(x, columns)), _where(x, _coarse(y, columns))
    both = (_present(x, rows), _present(y, rows))
    n = Constant(True) if both == (Constant(True),) * 2 else Call(Function.AND, both)
    single = (_single(u, columns), _single(v, columns), _rows(n))
    return (_product(u, v, columns), *single, _product(u, u, columns), _product(v, v, columns))


def _where(other: Expression, value: _Factor) -> _Factor:
    """Return the value where the other is not NULL."""
    chosen = Call(Function.CASE, (Call(Function.IS_NULL, (other,)), Constant(None), value.expression))
    return _Factor(chosen, value.worth)
