"""Geometric noise clamped to a public range: what it does, what it costs, how far off it is."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np

from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import scale_of
from ...noise.truncated import truncated_geometric
from ...privacy.events import TruncatedGeometricNoise
from ...privacy.measures import Measure
from ...privacy.neighbours import Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import around, at, brief, least_whole, level
from ..reading.budget import read_budget
from ..reading.deprecation import formerly
from ..reading.value import Floats, Integers, Whole, count_of, read_whole
from ..sensitivity import Sensitivity, read_sensitivity
from .integer import least_laplace, most_noise, whole_l1


@frozen(init=False, repr=False)
class TruncatedGeometric:
    """Add discrete Laplace noise and clamp to a *public* range low..high: ε = Δ1/scale, exactly.

    Clamping is free because the range is public; clamping to the true size of the data would not be. A true value
    outside the range is clamped first, which brings neighbours no further apart. One value moves by no more than the
    range is wide, so a wide sensitivity costs no more than that.

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> share = dp.TruncatedGeometric.spending(PureDP(0.5), sensitivity=1, low=0, high=10)
    >>> round(share.pmf(0, value=0), 12), share.error(beta=0.05)
    (0.622459331202, 5)

    Refuses floats, an empty range, a sensitivity that is not whole, a scale above 2^50, and vectors that one unit
    changes by more than the range is wide (use Geometric and clamp its answers).
    """

    scale: Fraction
    sensitivity: Fraction | Sensitivity
    low: int
    high: int
    neighbours: Neighbours
    event: TruncatedGeometricNoise = field(compare=False)

    def __init__(
        self,
        scale: Real,
        sensitivity: Real | Sensitivity,
        low: int,
        high: int,
        *,
        neighbours: Neighbours | None = None,
    ) -> None:
        b, (stated, relation) = scale_of(scale), read_sensitivity(sensitivity, neighbours)
        ends = _range(low, high)
        if isinstance(stated, Sensitivity) and stated.changed > 1 and stated.l1 > ends[1] - ends[0]:
            raise InvalidArgument(_TOO_WIDE)
        event = TruncatedGeometricNoise(b, whole_l1(stated), *ends, neighbours=relation)
        fill(
            self,
            scale=b,
            sensitivity=stated,
            low=ends[0],
            high=ends[1],
            neighbours=relation,
            event=event,
        )

    def __repr__(self) -> str:
        public = f"low={self.low}, high={self.high}"
        return f"TruncatedGeometric(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)}, {public})"

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        low: int,
        high: int,
        neighbours: Neighbours | None = None,
    ) -> TruncatedGeometric:
        """Choose the least noise that keeps a promise; a narrow range bounds the sensitivity too.

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> dp.TruncatedGeometric.spending(PureDP(1), sensitivity=5, low=0, high=3).scale
        Fraction(3, 1)
        """
        budget, (bottom, top) = read_budget(spend), _range(low, high)
        norm = min(whole_l1(read_sensitivity(sensitivity, neighbours)[0]), top - bottom)
        scale = least_laplace(budget, lambda b: TruncatedGeometricNoise(b, norm, bottom, top), norm)
        return cls(scale, sensitivity, low, high, neighbours=neighbours)

    @classmethod
    @formerly("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: Real | Sensitivity,
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
        bottom, top = _range(low, high)
        scale = most_noise(error, beta, cells, lambda t, b: _tail(t, 1 / b, top - bottom))
        return cls(scale, sensitivity, low, high, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise, clamped to the public range."""
        exact = read_whole(value)
        wide = (
            not isinstance(self.sensitivity, Sensitivity)
            and self.event.sensitivity > self.high - self.low
        )
        if (
            wide and count_of(exact, None) > 1
        ):  # the price of a wide sensitivity holds for one value
            raise InvalidArgument(_TOO_WIDE)
        return cast("Whole", self._clamped(exact, bits))

    def _clamped(self, value: int | Integers, bits: Bits | None) -> int | Integers:
        if isinstance(value, int):
            near = min(self.high, max(self.low, value))
            return truncated_geometric(near, self.scale, self.low, self.high, bits=bits)
        inside = np.clip(value, self.low, self.high).reshape(-1)
        return truncated_geometric(inside, self.scale, self.low, self.high, bits=bits).reshape(
            value.shape
        )

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells, for the worst value in the range.

        A miss above t needs room: two sides from a range of 2t + 2 on, one side from t + 1 on, none below.
        """
        h, chance, width = 1 / float(self.scale), level(beta, cells), self.high - self.low
        guess = min(width, -math.log(chance) / h - 1)
        return least_whole(lambda t: _tail(t, h, width), chance, guess)

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer, within the range, that holds the true one with probability 1 −
        β.

        >>> import discreet as dp
        >>> dp.TruncatedGeometric(scale=2, sensitivity=1, low=0, high=10).interval(9)
        (4, 10)
        """
        low, high = around(read_whole(answer), self.error(beta, cells=cells))
        if isinstance(low, int):
            return max(self.low, low), min(self.high, high)
        return np.maximum(low, self.low), np.minimum(high, self.high)

    def pmf(self, x: object, value: int) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x): the geometric law inside, each tail's mass at its end of the range."""
        return at(lambda y: self._mass(y, min(self.high, max(self.low, value))), x)

    def _mass(self, x: Floats, value: int) -> Floats:
        h = 1 / float(self.scale)
        end = np.where(x == self.low, x - value, value - x)
        inside = np.where((x > self.low) & (x < self.high), law.pmf(x - value, h), 0.0)
        return np.where((x == self.low) | (x == self.high), law.cdf(end, h), inside)

    def cdf(self, x: object, value: int) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        near = min(self.high, max(self.low, value))
        return at(
            lambda y: np.where(
                y < self.low, 0.0, np.where(y >= self.high, 1.0, self._cdf(y - near))
            ),
            x,
        )

    def _cdf(self, x: Floats) -> Floats:
        return law.cdf(x, 1 / float(self.scale))

    @property
    def variance(self) -> float:
        """The variance before clamping, which brings the answer no further from a value in the range."""
        return up(law.squared(1 / float(self.scale)))

    def expected_error(self) -> float:
        """Return E|release − value| for the worst value, the middle of the range: Σ P(|miss| > t).

        >>> import discreet as dp
        >>> round(dp.TruncatedGeometric(scale=2, sensitivity=1, low=0, high=2).expected_error(), 6)
        0.755081
        """
        h, width = 1 / float(self.scale), self.high - self.low
        sides = [-math.expm1(-room * h) for room in (width // 2, width - width // 2)]
        return up(law.mean_size(h) / 2 * sum(sides))


_ROOM = 1 << 62
_TOO_WIDE = "one unit may change several values by more than the range is wide; use Geometric and clamp its answers"


def _range(low: object, high: object) -> tuple[int, int]:
    bottom = whole(low, "low", least=1 - _ROOM)
    return bottom, whole(high, "high", least=bottom + 1, most=_ROOM - 1)


def _tail(t: int, h: float, width: int) -> float:
    """Return the largest chance, over all values in a range, of a miss above t."""
    sides = (width >= t + 1) + (width >= 2 * t + 2)
    return sides * law.tail(t, h) / 2
