"""Discrete Laplace mechanism on the integers (two-sided geometric): release, price and error.

The law is P(x) ∝ a^|x| with a = e^(−ε/Δ1) (Ghosh, Roughgarden, Sundararajan 2012).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from ... import noise
from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number as Real
from ...arithmetic.rounding import up
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import read_scale
from ...privacy.events import DiscreteLaplaceNoise
from ...privacy.measures import Measure, Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import (
    least_whole,
    per_cell_beta,
    scale_repr,
)
from ..reading.value import Whole, deprecated_call, read_budget
from ..sensitivity import GivenSensitivity, ReadSensitivity, read_sensitivity
from .integer import IntegerMechanism, add_drawn, least_laplace_scale, max_noise_scale, whole_l1
from .truncated import TruncatedGeometric

__all__ = ["DiscreteLaplace", "Geometric", "TruncatedGeometric"]


@frozen(init=False, repr=False)
class DiscreteLaplace(IntegerMechanism):
    """Discrete Laplace mechanism: adds two-sided geometric noise to whole numbers.

    `sensitivity` is Δ1, whole, or a `Sensitivity`. For one COUNT and pure ε it is optimal for every
    loss function (Ghosh, Roughgarden, Sundararajan 2012). An int gives an int, an array of integers
    an int64 array.

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> noise = dp.DiscreteLaplace.spending(PureDP(0.5), sensitivity=1)
    >>> noise.scale, noise.error(beta=0.05), round(noise.variance, 6)
    (Fraction(2, 1), 6, 7.835396)

    Guarantee: one release is ε-DP with ε = Δ1/scale, exactly; `error` is the exact quantile.
    Refuses: floats, a sensitivity that is not whole, a scale above 2^50 (InvalidArgument), before
    a bit is drawn.
    Law: tests/mechanisms/test_geometric.py::TestGeometric
    """

    scale: Fraction
    sensitivity: ReadSensitivity
    neighbours: Neighbours
    event: DiscreteLaplaceNoise = field(compare=False)

    __repr__ = scale_repr

    def __init__(
        self, scale: Real, sensitivity: GivenSensitivity, *, neighbours: Neighbours | None = None
    ) -> None:
        b = read_scale(scale)
        stated, relation = read_sensitivity(sensitivity, neighbours)
        event = DiscreteLaplaceNoise(b, whole_l1(stated), neighbours=relation)
        fill(self, scale=b, sensitivity=stated, neighbours=relation, event=event)

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        neighbours: Neighbours | None = None,
    ) -> DiscreteLaplace:
        """Choose the least noise that keeps a budget: scale Δ1/ε, exactly, for pure ε.

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> dp.DiscreteLaplace.spending(PureDP("1/3"), sensitivity=2)
        DiscreteLaplace(scale=6, sensitivity=2)
        """
        budget = read_budget(spend)
        stated, _ = read_sensitivity(sensitivity, neighbours)
        norm = whole_l1(stated)

        def event_at(b: Fraction) -> DiscreteLaplaceNoise:
            return DiscreteLaplaceNoise(b, norm)

        scale = least_laplace_scale(budget, event_at, norm)
        return cls(scale, sensitivity, neighbours=neighbours)

    @classmethod
    @deprecated_call("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: GivenSensitivity,
        cells: int = 1,
        neighbours: Neighbours | None = None,
    ) -> DiscreteLaplace:
        """Choose the most noise, hence the strongest privacy, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.DiscreteLaplace.for_error(6, sensitivity=1).error()
        6
        """

        def tail(t: int, b: float) -> float:
            return law.tail(t, 1 / b)

        scale = max_noise_scale(error, beta, cells, tail)
        return cls(scale, sensitivity, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        return add_drawn(value, partial(noise.laplace, self.scale, bits=bits))

    @property
    def _step(self) -> float:
        """The length of one step in scales, h = 1/b, by which the law is given."""
        return 1 / float(self.scale)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        The exact quantile: the least t with P(|x| > t) = 2a^(t+1)/(1 + a) ≤ 1 − (1 − β)^(1/cells).
        """
        h = self._step
        cell_beta = per_cell_beta(beta, cells)

        def tail(t: int) -> float:
            return law.tail(t, h)

        guess = -math.log(cell_beta) / h - 1
        return least_whole(tail, cell_beta, guess)

    def _pmf(self, distance: Floats) -> Floats:
        return law.pmf(distance, self._step)

    def _cdf(self, distance: Floats) -> Floats:
        return law.cdf(distance, self._step)

    @property
    def variance(self) -> float:
        """The variance of the noise, 2a/(1 − a)²."""
        return up(law.squared(self._step))

    def expected_error(self) -> float:
        """Return E|release − value| = 2a/(1 − a²).

        >>> import discreet as dp
        >>> round(dp.DiscreteLaplace(scale=2, sensitivity=1).expected_error(), 6)
        1.919035
        """
        return up(law.mean_size(self._step))


Geometric = DiscreteLaplace
"""The name in the lectures: the two-sided geometric mechanism."""
