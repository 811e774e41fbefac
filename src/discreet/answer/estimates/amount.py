"""Counts and sums: a total with noise, and its exact interval."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .noisy import Noisy, clip, outward

__all__ = ["Amount"]


@dataclass(frozen=True, slots=True)
class Amount:
    """A count or a sum; `low` and `high` are public bounds it is moved into, where asked for.

    >>> from ...mechanisms.additive.discrete_laplace import Geometric
    >>> n = Amount(Noisy(-3, Fraction(1), Geometric(scale=2, sensitivity=1)), low=Fraction(0))
    >>> n.value, n.interval(0.05)
    (0.0, (0.0, 3.0))
    """

    total: Noisy
    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def value(self) -> float:
        """The released number."""
        return float(self._within(self.total.value, self.total.value)[0])

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number: the exact quantile of the noise, both ways."""
        return outward(self._within(*self.total.box(beta)))

    def _within(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        least = low if self.low is None else self.low
        most = max(least, high) if self.high is None else self.high
        return clip((low, high), least, max(least, most))
