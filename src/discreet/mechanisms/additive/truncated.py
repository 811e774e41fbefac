"""Truncated geometric mechanism: a whole number plus discrete Laplace noise, clamped to a range.

The range is public, so clamping costs no privacy. It also bounds how far one answer can move.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import read_scale
from ...noise.truncated import truncated_geometric
from ...privacy.events import TruncatedGeometricNoise
from ...privacy.measures import Measure, Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import brief, evaluate, interval_around, least_whole, per_cell_beta
from ..reading.value import (
    Whole,
    count_coordinates,
    deprecated_call,
    read_budget,
    read_whole,
)
from ..sensitivity import GivenSensitivity, ReadSensitivity, Sensitivity, read_sensitivity
from .integer import least_laplace_scale, max_noise_scale, whole_l1

# Bounds of the range: half of int64, so that every difference of two ends fits.
_MAX_BOUND = 1 << 62
_TOO_WIDE = (
    "one unit may change several values by more than the range is wide; "
    "use Geometric and clamp its answers"
)


@frozen(init=False, repr=False)
class TruncatedGeometric:
    """Truncated geometric mechanism: discrete Laplace noise clamped to a *public* range low..high.

    Clamping (truncation) is post-processing because the range is public; clamping to the true size
    of the data would not be. A true value outside the range is clamped first, which brings
    neighbours no further apart. One value moves by no more than the range is wide, so a wide
    sensitivity costs no more than that.

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> share = dp.TruncatedGeometric.spending(PureDP(0.5), sensitivity=1, low=0, high=10)
    >>> round(share.pmf(0, value=0), 12), share.error(beta=0.05)
    (0.622459331202, 5)

    Guarantee: one release is ε-DP with ε = min(Δ1, high − low)/scale, exactly, and is in low..high.
    Refuses: floats, an empty range, a sensitivity that is not whole, a scale above 2^50, and
    vectors that one unit changes by more than the range is wide (InvalidArgument); for these use
    Geometric and clamp its answers.
    Law: tests/mechanisms/test_geometric.py::TestTruncatedGeometric
    """

    scale: Fraction
    sensitivity: ReadSensitivity
    low: int
    high: int
    neighbours: Neighbours
    event: TruncatedGeometricNoise = field(compare=False)

    def __init__(
        self,
        scale: Real,
        sensitivity: GivenSensitivity,
        low: int,
        high: int,
        *,
        neighbours: Neighbours | None = None,
    ) -> None:
        b = read_scale(scale)
        stated, relation = read_sensitivity(sensitivity, neighbours)
        bottom, top = _read_range(low, high)
        # The range caps Δ1 for one value only: several may each move by its full width.
        if isinstance(stated, Sensitivity) and stated.changed > 1 and stated.l1 > top - bottom:
            raise InvalidArgument(_TOO_WIDE)
        norm = whole_l1(stated)
        event = TruncatedGeometricNoise(b, norm, bottom, top, neighbours=relation)
        fill(self, scale=b, sensitivity=stated, low=bottom, high=top)
        fill(self, neighbours=relation, event=event)

    def __repr__(self) -> str:
        noise = f"scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)}"
        return f"TruncatedGeometric({noise}, low={self.low}, high={self.high})"

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        low: int,
        high: int,
        neighbours: Neighbours | None = None,
    ) -> TruncatedGeometric:
        """Choose the least noise that keeps a budget; a narrow range bounds the sensitivity too.

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> dp.TruncatedGeometric.spending(PureDP(1), sensitivity=5, low=0, high=3).scale
        Fraction(3, 1)
        """
        budget = read_budget(spend)
        bottom, top = _read_range(low, high)
        stated, _ = read_sensitivity(sensitivity, neighbours)
        norm = min(whole_l1(stated), top - bottom)

        def event_at(b: Fraction) -> TruncatedGeometricNoise:
            return TruncatedGeometricNoise(b, norm, bottom, top)

        scale = least_laplace_scale(budget, event_at, norm)
        return cls(scale, sensitivity, low, high, neighbours=neighbours)

    @classmethod
    @deprecated_call("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: GivenSensitivity,
        low: int,
        high: int,
        cells: int = 1,
        neighbours: Neighbours | None = None,
    ) -> TruncatedGeometric:
        """Choose the most noise, at most a scale of 2^50, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.TruncatedGeometric.for_error(3, sensitivity=1, low=0, high=10).error()
        3
        """
        bottom, top = _read_range(low, high)

        def tail(t: int, b: float) -> float:
            return _worst_tail(t, 1 / b, top - bottom)

        scale = max_noise_scale(error, beta, cells, tail)
        return cls(scale, sensitivity, low, high, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise, clamped to the public range."""
        exact = read_whole(value)
        is_number = not isinstance(self.sensitivity, Sensitivity)
        wide = is_number and self.event.sensitivity > self.high - self.low
        # The price of a wide sensitivity holds for one value.
        if wide and count_coordinates(exact, None) > 1:
            raise InvalidArgument(_TOO_WIDE)
        return cast("Whole", self._noisy(exact, bits))

    def _clamp(self, value: int) -> int:
        return min(self.high, max(self.low, value))

    def _noisy(self, value: int | Integers, bits: Bits | None) -> int | Integers:
        if isinstance(value, int):
            inside = self._clamp(value)
            return truncated_geometric(inside, self.scale, self.low, self.high, bits=bits)
        clamped = np.clip(value, self.low, self.high).reshape(-1)
        noisy = truncated_geometric(clamped, self.scale, self.low, self.high, bits=bits)
        return noisy.reshape(value.shape)

    @property
    def _step(self) -> float:
        """The length of one step in scales, h = 1/b, by which the law is given."""
        return 1 / float(self.scale)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        Holds for the worst value in the range. An error above t is possible on both sides if the
        range is at least 2t + 2 wide, on one side from a width of t + 1 on, and never below it.
        """
        h = self._step
        cell_beta = per_cell_beta(beta, cells)
        width = self.high - self.low

        def tail(t: int) -> float:
            return _worst_tail(t, h, width)

        guess = min(width, -math.log(cell_beta) / h - 1)
        return least_whole(tail, cell_beta, guess)

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return a confidence interval of confidence 1 − β, within the range, around an answer.

        >>> import discreet as dp
        >>> dp.TruncatedGeometric(scale=2, sensitivity=1, low=0, high=10).interval(9)
        (4, 10)
        """
        exact = read_whole(answer)
        low, high = interval_around(exact, self.error(beta, cells=cells))
        if isinstance(low, int):
            return max(self.low, low), min(self.high, high)
        return np.maximum(low, self.low), np.minimum(high, self.high)

    def pmf(self, x: object, value: int) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x): geometric inside, each tail's mass at its end."""
        centre = self._clamp(value)

        def mass(y: Floats) -> Floats:
            return self._mass(y, centre)

        return evaluate(mass, x)

    def _mass(self, x: Floats, centre: int) -> Floats:
        """Return the mass at `x` of a release around `centre`; each end has a whole tail."""
        h = self._step
        at_low = x == self.low
        at_end = at_low | (x == self.high)
        between = (x > self.low) & (x < self.high)
        inside = np.where(between, law.pmf(x - centre, h), 0.0)
        # By symmetry the mass above `high` is the cdf of the mirrored distance.
        distance = np.where(at_low, x - centre, centre - x)
        return np.where(at_end, law.cdf(distance, h), inside)

    def cdf(self, x: object, value: int) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        centre = self._clamp(value)

        def up_to(y: Floats) -> Floats:
            inside = law.cdf(y - centre, self._step)
            below_top = np.where(y >= self.high, 1.0, inside)
            return np.where(y < self.low, 0.0, below_top)

        return evaluate(up_to, x)

    @property
    def variance(self) -> float:
        """The variance before clamping, which never moves an answer away from the true value."""
        return up(law.squared(self._step))

    def expected_error(self) -> float:
        """Return E|release − value| for the worst value, the middle of the range: Σ P(|error| > t).

        >>> import discreet as dp
        >>> round(dp.TruncatedGeometric(scale=2, sensitivity=1, low=0, high=2).expected_error(), 6)
        0.755081
        """
        h = self._step
        below = (self.high - self.low) // 2
        above = self.high - self.low - below
        # One minus the mass that is clamped, on each side; expm1 keeps the digits of tiny h.
        kept_below = -math.expm1(-below * h)
        kept_above = -math.expm1(-above * h)
        return up(law.mean_size(h) / 2 * (kept_below + kept_above))


def _read_range(low: object, high: object) -> tuple[int, int]:
    bottom = whole(low, "low", least=1 - _MAX_BOUND)
    return bottom, whole(high, "high", least=bottom + 1, most=_MAX_BOUND - 1)


def _worst_tail(t: int, h: float, width: int) -> float:
    """Return the largest probability, over all values in a range, of an error above t."""
    fits_once = width >= t + 1
    fits_twice = width >= 2 * t + 2
    return (fits_once + fits_twice) * law.tail(t, h) / 2
