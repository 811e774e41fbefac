"""Published days of a stream as noisy totals: their noise is shared along the line of days.

Running totals of a stream have noise B·z, with B the weights of what was published. A combination of
days is one of running totals, and the law of its noise follows from the rows of B alone. Noise of
different keys is independent.

Guarantee: a box at β misses the exact value with probability at most β.
Law: tests/streams/test_select.py::TestIntervals
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...arithmetic.rounding import up
from ...frozen import frozen
from ...workloads.stream_noise import StreamNoise
from ..laws.interval_arithmetic import Box
from .total import TotalEstimate


@frozen(eq=False)
class StreamLaw:
    """Law of the noise of the days of one stream.

    `unit` is the value of one exact step. Stored running totals are in 1/`fine` of a step. Exact
    numbers are multiples of the number `step`; it is None where they need not be.
    """

    name: str
    noise: StreamNoise
    fine: int
    unit: Fraction
    step: Fraction | None

    def box(
        self, constant: Fraction, parts: Sequence[tuple[StreamDay, Fraction]], beta: float
    ) -> Box:
        """Bound constant + Σ weight·day of the exact days with probability at least 1 − β."""
        value = constant
        moved: dict[int, dict[int, Fraction]] = {}
        inside = self.step is not None and (constant / self.step).denominator == 1
        for day, weight in parts:
            value += weight * day.value
            inside = inside and weight.denominator == 1
            # A day is the difference of two running totals; that of no days is 0 and has no noise.
            ends = moved.setdefault(day.place, {})
            ends[day.number + 1] = ends.get(day.number + 1, Fraction(0)) + weight
            ends[day.number] = ends.get(day.number, Fraction(0)) - weight
        patterns: Counter[tuple[tuple[int, float], ...]] = Counter()
        for ends in moved.values():
            kept = [(end, float(weight)) for end, weight in sorted(ends.items()) if end and weight]
            if kept:
                patterns[tuple(kept)] += 1
        half = Fraction(up(self._reach(patterns, beta))) * self.unit
        low, high = value - half, value + half
        if inside and self.step is not None:
            return inner_multiples(low, high, self.step)
        return low, high

    def _reach(self, patterns: Counter[tuple[tuple[int, float], ...]], beta: float) -> float:
        if not patterns:
            return 0.0
        reach = self.noise.combined_reach(list(patterns), list(patterns.values()), beta)
        if self.noise.sealed:
            return reach
        # The estimate of each day was rounded by at most half of 1/fine.
        rounding = 0.0
        for pattern, times in patterns.items():
            rounding += times * sum(end * abs(weight) for end, weight in pattern)
        return reach + rounding / self.fine


@frozen(eq=False)
class StreamDay:
    """Published number of one day and key: day `number` from 0, key at `place`; before rounding."""

    law: StreamLaw
    number: int
    place: int
    value: Fraction

    def box(self, beta: float) -> Box:
        """Bound the exact number of this day."""
        return self.law.box(Fraction(0), [(self, Fraction(1))], beta)


@frozen(eq=False)
class DayEstimate(TotalEstimate):
    """Estimate of one day of a stream; `shown` is its number rounded so that all views add up."""

    total: StreamDay  # type: ignore[assignment]
    shown: float = 0.0

    @property
    def value(self) -> float:
        """The number that is shown."""
        return self.shown


def published_by(estimates: Sequence[Mapping[str, object]]) -> str:
    """Return the name of the stream of which the rows of an answer are days; "" if of none."""
    for row in estimates[:1]:
        for one in row.values():
            if isinstance(one, DayEstimate):
                return one.total.law.name
    return ""


def shares_noise(estimates: Sequence[Mapping[str, object]]) -> bool:
    """Return whether the rows of an answer share noise so that only the union bound holds for all.

    Šidák's inequality holds for Gaussian noise of any correlation, not for that of a pure ε.
    """
    days = [one for row in estimates[:1] for one in row.values() if isinstance(one, DayEstimate)]
    return any(day.total.law.noise.sealed for day in days)


def inner_multiples(low: Fraction, high: Fraction, step: Fraction) -> Box:
    """Shrink an interval to the multiples of a step that are inside; unchanged if there are none.

    An exact number that is a multiple of the step stays inside.
    """
    inner_low = -(-low // step) * step
    inner_high = high // step * step
    if inner_low <= inner_high:
        return inner_low, inner_high
    return low, high
