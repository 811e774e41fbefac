"""Discrete Laplace mechanism on the integers (two-sided geometric): release, price and error.

The law is P(x) ∝ a^|x| with a = e^(−ε/Δ1) (Ghosh, Roughgarden, Sundararajan 2012).
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
from ...noise.geometric import read_scale
from ...privacy.events import DiscreteLaplaceNoise
from ...privacy.measures import Measure
from ...privacy.neighbours import Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import brief, evaluate, interval_around, least_whole, per_cell_beta
from ..reading.budget import read_budget
from ..reading.deprecation import deprecated_call
from ..reading.value import Floats, Integers, Whole, read_whole
from ..sensitivity import Sensitivity, read_sensitivity
from .integer import add_drawn, least_laplace_scale, max_noise_scale, whole_l1
from .truncated import TruncatedGeometric

__all__ = ["DiscreteLaplace", "Geometric", "TruncatedGeometric"]


@frozen(init=False, repr=False)
class DiscreteLaplace:
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
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    event: DiscreteLaplaceNoise = field(compare=False)

    def __init__(
        self, scale: Real, sensitivity: Real | Sensitivity, *, neighbours: Neighbours | None = None
    ) -> None:
        b = read_scale(scale)
        stated, relation = read_sensitivity(sensitivity, neighbours)
        event = DiscreteLaplaceNoise(b, whole_l1(stated), neighbours=relation)
        fill(self, scale=b, sensitivity=stated, neighbours=relation, event=event)

    def __repr__(self) -> str:
        return f"DiscreteLaplace(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)})"

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
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
        sensitivity: Real | Sensitivity,
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
        exact = read_whole(value)

        def draw(size: int | None) -> int | Integers:
            return noise.laplace(self.scale, size, bits=bits)

        return cast("Whole", add_drawn(exact, draw))

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

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return a confidence interval for the true value, of confidence 1 − β, around an answer.

        >>> import discreet as dp
        >>> dp.DiscreteLaplace(scale=2, sensitivity=1).interval(42)
        (36, 48)
        """
        exact = read_whole(answer)
        return interval_around(exact, self.error(beta, cells=cells))

    def pmf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x).

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> round(dp.DiscreteLaplace.spending(PureDP(0.5), sensitivity=1).pmf(0), 12)
        0.244918662404
        """

        def mass(y: Floats) -> Floats:
            return law.pmf(y - value, self._step)

        return evaluate(mass, x)

    def cdf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""

        def up_to(y: Floats) -> Floats:
            return law.cdf(y - value, self._step)

        return evaluate(up_to, x)

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
