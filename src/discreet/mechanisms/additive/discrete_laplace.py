"""Discrete Laplace noise on the integers: what it does, what it costs, how far off it is.

The two-sided geometric law P(x) ∝ a^|x| with a = e^(−ε/Δ1) (Ghosh, Roughgarden, Sundararajan 2012).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

from ... import noise
from ...arithmetic.rational import Number as Real
from ...arithmetic.rounding import up
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import scale_of
from ...privacy.events import DiscreteLaplaceNoise
from ...privacy.measures import Measure
from ...privacy.neighbours import Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import around, at, brief, least_whole, level
from ..reading.budget import read_budget
from ..reading.deprecation import formerly
from ..reading.value import Whole, read_whole
from ..sensitivity import Sensitivity, read_sensitivity
from .integer import add_drawn, least_laplace, most_noise, whole_l1
from .truncated import TruncatedGeometric

__all__ = ["DiscreteLaplace", "Geometric", "TruncatedGeometric"]


@frozen(init=False, repr=False)
class DiscreteLaplace:
    """Add discrete Laplace noise to whole numbers: ε = Δ1/scale, exactly.

    `sensitivity` is Δ1, whole, or a `Sensitivity`. For one COUNT and pure ε it is optimal for every loss function
    (Ghosh, Roughgarden, Sundararajan 2012). An int gives an int, an array of integers an int64 array.

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> noise = dp.DiscreteLaplace.spending(PureDP(0.5), sensitivity=1)
    >>> noise.scale, noise.error(beta=0.05), round(noise.variance, 6)
    (Fraction(2, 1), 6, 7.835396)

    Refuses floats, a sensitivity that is not whole, a scale above 2^50.
    """

    scale: Fraction
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    event: DiscreteLaplaceNoise = field(compare=False)

    def __init__(
        self, scale: Real, sensitivity: Real | Sensitivity, *, neighbours: Neighbours | None = None
    ) -> None:
        b, (stated, relation) = scale_of(scale), read_sensitivity(sensitivity, neighbours)
        event = DiscreteLaplaceNoise(b, whole_l1(stated), neighbours=relation)
        fill(self, scale=b, sensitivity=stated, neighbours=relation, event=event)

    def __repr__(self) -> str:
        return f"DiscreteLaplace(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)})"

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        neighbours: Neighbours | None = None,
    ) -> DiscreteLaplace:
        """Choose the least noise that keeps a promise: scale Δ1/ε, exactly, for pure ε.

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> dp.DiscreteLaplace.spending(PureDP("1/3"), sensitivity=2)
        DiscreteLaplace(scale=6, sensitivity=2)
        """
        budget, norm = read_budget(spend), whole_l1(read_sensitivity(sensitivity, neighbours)[0])
        scale = least_laplace(budget, lambda b: DiscreteLaplaceNoise(b, norm), norm)
        return cls(scale, sensitivity, neighbours=neighbours)

    @classmethod
    @formerly("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: Real | Sensitivity,
        cells: int = 1,
        neighbours: Neighbours | None = None,
    ) -> DiscreteLaplace:
        """Choose the most noise, and so the strongest promise, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.DiscreteLaplace.for_error(6, sensitivity=1).error()
        6
        """
        scale = most_noise(error, beta, cells, lambda t, b: law.tail(t, 1 / b))
        return cls(scale, sensitivity, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        exact = read_whole(value)
        return cast(
            "Whole", add_drawn(exact, lambda size: noise.laplace(self.scale, size, bits=bits))
        )

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once: the exact quantile.

        The least t with P(|x| > t) = 2a^(t+1)/(1 + a) ≤ 1 − (1 − β)^(1/cells).
        """
        h, chance = 1 / float(self.scale), level(beta, cells)
        return least_whole(lambda t: law.tail(t, h), chance, -math.log(chance) / h - 1)

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer that holds the true one with probability 1 − β.

        >>> import discreet as dp
        >>> dp.DiscreteLaplace(scale=2, sensitivity=1).interval(42)
        (36, 48)
        """
        return around(read_whole(answer), self.error(beta, cells=cells))

    def pmf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x).

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> round(dp.DiscreteLaplace.spending(PureDP(0.5), sensitivity=1).pmf(0), 12)
        0.244918662404
        """
        return at(lambda y: law.pmf(y - value, 1 / float(self.scale)), x)

    def cdf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        return at(lambda y: law.cdf(y - value, 1 / float(self.scale)), x)

    @property
    def variance(self) -> float:
        """The variance of the noise, 2a/(1 − a)²."""
        return up(law.squared(1 / float(self.scale)))

    def expected_error(self) -> float:
        """Return E|release − value| = 2a/(1 − a²).

        >>> import discreet as dp
        >>> round(dp.DiscreteLaplace(scale=2, sensitivity=1).expected_error(), 6)
        1.919035
        """
        return up(law.mean_size(1 / float(self.scale)))


Geometric = DiscreteLaplace
"""The name that the lectures use."""
