"""Quantiles and modes: chosen cells, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...query.domains.domain import Scalar
from ...query.meaning.finish import Value

__all__ = ["Place", "Vote", "plain"]


def plain(value: Scalar) -> Value:
    """Give a number as a float, days and seconds as they are."""
    return float(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True, slots=True)
class Place:
    """A quantile: the middle of the chosen cell; from the low end of the cell chosen below it to the high end of the
    one chosen above it, which holds with probability `level`. At a higher level only the public range is known.

    >>> age = Place((Fraction(40), Fraction(41)), (Fraction(38), Fraction(43)), (Fraction(0), Fraction(120)), 0.95)
    >>> age.value, age.interval(0.05), age.interval(0.01)
    (40.5, (38.0, 43.0), (0.0, 120.0))
    """

    cell: tuple[Scalar, Scalar]
    reach: tuple[Scalar, Scalar]
    range: tuple[Scalar, Scalar]
    level: float

    @property
    def value(self) -> Value:
        """The middle of the chosen cell; of days and seconds, a whole one."""
        low, high = self.cell
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            return float((low + high) / 2)
        return (int(low) + int(high)) // 2  # type: ignore[arg-type]

    def interval(self, beta: float) -> tuple[Value, Value]:
        """Bound the exact quantile."""
        ends = self.reach if beta >= 1 - self.level - 1e-12 else self.range
        return plain(ends[0]), plain(ends[1])


@dataclass(frozen=True, slots=True)
class Vote:
    """A mode: the chosen value. It has no interval; `shortfall` rows at most it has fewer than the most frequent one,
    but for a chance of 5 %.
    """

    chosen: Scalar
    shortfall: float

    @property
    def value(self) -> Value:
        """The chosen value."""
        return self.chosen

    def interval(self, beta: float) -> None:
        """Say that there is none."""
