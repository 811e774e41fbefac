"""One released total, where the exact one lies, and the statistics that are just that: counts and sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..laws.box import Box, clip, outward
from ..laws.noise_sum import Additive, IntegerNoise, noise_of

__all__ = ["NoisyTotal", "TotalEstimate"]


@dataclass(frozen=True, slots=True)
class NoisyTotal:
    """A total with noise, in whole steps that are worth `unit` each."""

    steps: int
    unit: Fraction
    mechanism: Additive

    @property
    def value(self) -> Fraction:
        """The released number."""
        return self.steps * self.unit

    @property
    def noise(self) -> IntegerNoise:
        """Its noise, in floats."""
        return noise_of(self.mechanism, float(self.unit))

    def box(self, beta: float, of: int = 1) -> Box:
        """Bound the exact number; with probability at least 1 − β all of `of` independent ones are bounded at once."""
        reach = self.mechanism.error(beta, cells=of) * self.unit
        return self.value - reach, self.value + reach


@dataclass(frozen=True, slots=True)
class TotalEstimate:
    """A count or a sum; `low` and `high` are public bounds it is moved into, where asked for.

    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> n = TotalEstimate(NoisyTotal(-3, Fraction(1), Geometric(scale=2, sensitivity=1)), low=Fraction(0))
    >>> n.value, n.interval(0.05)
    (0.0, (0.0, 3.0))
    """

    total: NoisyTotal
    low: Fraction | None = None
    high: Fraction | None = None

    stored_as: ClassVar[str] = "amount"
    stored_fields: ClassVar[Mapping[str, str]] = {"total": "noisy", "low": "amount or null", "high": "amount or null"}

    @property
    def value(self) -> float:
        """The released number."""
        return float(self._within(self.total.value, self.total.value)[0])

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number: the exact quantile of the noise, both ways."""
        return outward(self._within(*self.total.box(beta)))

    def _within(self, low: Fraction, high: Fraction) -> Box:
        least = low if self.low is None else self.low
        most = max(least, high) if self.high is None else self.high
        return clip((low, high), least, max(least, most))
