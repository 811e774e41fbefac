"""From released numbers to statistics: one estimate per statistic and key."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias, assert_never

from ..query.algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Statistic,
    Sum,
    Variance,
)
from ..query.bounds.needs import blur_of, middle_of, range_of
from ..query.domains.domain import Domain as Kind
from ..query.domains.domain_of import domain_of as kind_of
from .estimates.amount import Amount
from .estimates.chosen import Place, Vote
from .estimates.covariance import Coefficient, Moment
from .estimates.mean import Average
from .estimates.noisy import Noisy
from .estimates.variance import Deviation
from .text.picture import Pick

__all__ = ["Estimate", "estimate"]

Estimate: TypeAlias = Amount | Average | Deviation | Moment | Coefficient | Place | Vote


def estimate(
    statistic: Statistic,
    drawn: Sequence[Noisy | Pick],
    columns: dict[str, Kind],
    *,
    level: float,
    nonnegative: bool,
    values: int | None = None,
) -> Estimate:
    """Put a statistic together from what was released for it: noisy totals, or places of chosen cells.

    `values` is how many public values there are to count, where distinct ones are counted.
    """
    totals = [one for one in drawn if isinstance(one, Noisy)]
    picks = [one for one in drawn if isinstance(one, Pick)]
    match statistic:
        case Count() | CountOf() | CountPeople():
            return Amount(totals[0], Fraction(0) if nonnegative else None)
        case CountDistinct():
            most = None if values is None else Fraction(values)
            return Amount(totals[0], Fraction(0), most) if nonnegative else Amount(totals[0])
        case Sum():
            return Amount(totals[0])
        case Mean(of=of):
            kind = kind_of(of, columns)
            return Average(totals[0], totals[1], middle_of(kind), *range_of(kind))
        case Variance(of=of, sample=sample, root=root):
            squares, total, n = totals
            kind = kind_of(of, columns)
            return Deviation(squares, total, n, _width(kind), sample=sample, root=root, blur=blur_of(kind))
        case Covariance(x=x, y=y, sample=sample):
            uv, u, v, n = totals
            return Moment(uv, u, v, n, *_facts(kind_of(x, columns), kind_of(y, columns)), sample=sample)
        case Correlation(x=x, y=y):
            uv, u, v, n, uu, vv = totals
            return Coefficient(uv, u, v, n, uu, vv, *_facts(kind_of(x, columns), kind_of(y, columns)))
        case Quantile():
            return _place(picks, level)
        case Mode():
            return Vote(picks[0].cells.places[picks[0].place][0], picks[0].miss)
        case _:
            assert_never(statistic)


def _width(kind: Kind) -> Fraction:
    low, high = range_of(kind)
    return high - low


def _facts(x: Kind, y: Kind) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Give the widths of two public ranges, and how far values were moved for products."""
    return (_width(x), _width(y)), (blur_of(x), blur_of(y))


def _place(picks: Sequence[Pick], level: float) -> Place:
    middle, below, above = (pick.place for pick in picks)
    ends = picks[0].cells.ends
    first, last = min(below, above), max(below, above)  # the two are drawn apart and may cross; then both ends hold
    return Place(ends[middle], (ends[first][0], ends[last][1]), (ends[0][0], ends[-1][1]), level)
