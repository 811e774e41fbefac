"""Public cells: a list of disjoint places that every value of an expression falls in one of, in order.

A number has at most so many cells of equal width on its grid; a day or second falls in its hour, day, month or year,
the finest that is not too many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache

from ...errors import UnsupportedQuery
from ..algebra.expression import Call, Constant, Expression, Function
from ..domains.domain import Day, Domain, Scalar, Second, Whole
from ..domains.domain_of import domain_of
from ..domains.words import DAY_SECONDS, EPOCH

__all__ = ["Cells", "lattice", "listed"]


@dataclass(frozen=True, slots=True)
class Cells:
    """The expressions that say which cell a row is in, the cells by their values, and the ends of each cell."""

    expressions: tuple[Expression, ...]
    places: tuple[tuple[Scalar, ...], ...]
    ends: tuple[tuple[Scalar, Scalar], ...]


def listed(of: Expression, values: Iterable[Scalar]) -> Cells:
    """Make one cell of every value.

    >>> from discreet.query.bounds.cells import listed
    >>> from discreet.query.algebra.expression import Field
    >>> listed(Field("region"), ["N", "S"]).places
    (('N',), ('S',))
    """
    each = tuple(values)
    return Cells((of,), tuple((value,) for value in each), tuple((value, value) for value in each))


def lattice(of: Expression, columns: dict[str, Domain], most: int) -> Cells:
    """Cut the public range of an expression into at most `most` cells; none of them depends on data.

    >>> from discreet.query.bounds.cells import lattice
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Field
    >>> cells = lattice(Field("age"), {"age": Whole(Fraction(1), 0, 119)}, 60)
    >>> len(cells.places), cells.places[1], cells.ends[1]
    (60, (1,), (Fraction(2, 1), Fraction(3, 1)))

    Refuses text and truth values, which have no order.
    """
    match domain_of(of, columns):
        case Whole() as domain:
            return _numbers(of, domain, most)
        case Day(low=low, high=high):
            return _days(of, low, high, most)
        case Second(low=low, high=high):
            return _seconds(of, low, high, most)
        case _:
            raise UnsupportedQuery("MIN, MAX and quantiles take a number, a date or a time; count text with GROUP BY")


def _numbers(of: Expression, domain: Whole, most: int) -> Cells:
    width = -(-(domain.high - domain.low + 1) // most)
    base, wide = domain.low * domain.step, width * domain.step
    place = Call(
        Function.FLOOR, (Call(Function.DIVIDE, (Call(Function.SUBTRACT, (of, Constant(base))), Constant(wide))),)
    )
    ends = _spans(domain.low, domain.high, width, domain.step)
    return Cells((place,), tuple((i,) for i in range(len(ends))), ends)


@lru_cache(maxsize=256)
def _spans(low: int, high: int, width: int, step: Fraction) -> tuple[tuple[Scalar, Scalar], ...]:
    """Return the ends of cells of so many steps; kept, since a thousand fractions take longer than a whole plan."""
    return tuple((first * step, min(first + width - 1, high) * step) for first in range(low, high + 1, width))


def _days(of: Expression, low: int, high: int, most: int) -> Cells:
    if high - low < most:
        return listed(of, range(low, high + 1))
    first, last = EPOCH + timedelta(days=low), EPOCH + timedelta(days=high)
    months = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    if len(months) <= most:
        spans = tuple((max(low, _start(month)), min(high, _start(month + 1) - 1)) for month in months)
        places = tuple((month // 12, month % 12 + 1) for month in months)
        return Cells((Call(Function.YEAR, (of,)), Call(Function.MONTH, (of,))), places, spans)
    years = range(first.year, last.year + 1)
    if len(years) > most:
        raise UnsupportedQuery("a quantile of this range of dates has too many cells; declare a shorter range")
    spans = tuple((max(low, _start(12 * year)), min(high, _start(12 * year + 12) - 1)) for year in years)
    return Cells((Call(Function.YEAR, (of,)),), tuple((year,) for year in years), spans)


def _start(month: int) -> int:
    """Return the first day of a month, counted from the year 0; after the year 9999 there are no dates."""
    year = month // 12
    return (date(year, month % 12 + 1, 1) - EPOCH).days if year <= 9999 else (date.max - EPOCH).days + 1


def _seconds(of: Expression, low: int, high: int, most: int) -> Cells:
    first, last = low // DAY_SECONDS, high // DAY_SECONDS
    if (last - first + 1) * 24 > most:
        days = _days(Call(Function.DATE_OF, (of,)), first, last, most)
        spans = [(_int(a) * DAY_SECONDS, (_int(b) + 1) * DAY_SECONDS - 1) for a, b in days.ends]
        return Cells(days.expressions, days.places, tuple((max(low, a), min(high, b)) for a, b in spans))
    places = [(day, hour) for day in range(first, last + 1) for hour in range(24)]
    starts = [day * DAY_SECONDS + hour * 3600 for day, hour in places]
    kept = [i for i, start in enumerate(starts) if start + 3599 >= low and start <= high]
    ends = tuple((max(low, starts[i]), min(high, starts[i] + 3599)) for i in kept)
    return Cells((Call(Function.DATE_OF, (of,)), Call(Function.HOUR, (of,))), tuple(places[i] for i in kept), ends)


def _int(value: Scalar) -> int:
    return int(value)  # type: ignore[arg-type]
