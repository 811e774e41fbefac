"""Discrete Gaussian noise on the integers: what it does, what it costs, how far off it is.

P(x) ∝ e^(−x²/2σ²) (Canonne, Kamath, Steinke 2020).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np

from ... import noise
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import MOST_SCALE
from ...privacy.calibrate import least_scale
from ...privacy.events import DiscreteGaussianNoise
from ...privacy.measures import ZCDP, GaussianDP, Measure
from ...privacy.neighbours import Neighbours
from ..laws import discrete_gaussian as theta
from ..laws.error_bound import around, at, brief, least_whole, level
from ..laws.normal import quantile
from ..reading.budget import refuse_pure
from ..reading.deprecation import formerly
from ..reading.value import Floats, Whole, count_of, read_whole
from ..sensitivity import Sensitivity, read_sensitivity
from .integer import add_drawn, most_noise, whole_norm
from .lattice import root_up


@frozen(init=False, repr=False)
class DiscreteGaussian:
    """Add discrete Gaussian noise of parameter σ = `scale` to whole numbers: ρ = Δ2²/2σ², (ε, δ) by exact summation.

    `sensitivity` is Δ2, whole, or a `Sensitivity` whose Δ2² is whole. With Δ2 = 1 arrays of any size are taken (one
    coordinate moves, by one); with a larger number declare the `dimension`, or give a `Sensitivity`.

    >>> import discreet as dp
    >>> gauss = dp.DiscreteGaussian.spending(dp.ZCDP(0.5), sensitivity=1)
    >>> gauss.scale, gauss.error(beta=0.05), round(gauss.variance, 12)
    (Fraction(1, 1), 2, 0.999999788769)

    Refuses floats, a sensitivity that is not whole, a scale above 2^50, and pure ε, which no Gaussian keeps.
    """

    scale: Fraction
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    dimension: int | None
    event: DiscreteGaussianNoise = field(compare=False)

    def __init__(
        self,
        scale: Real,
        sensitivity: Real | Sensitivity,
        *,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> None:
        sigma, (stated, relation) = (
            positive(scale, "scale"),
            read_sensitivity(sensitivity, neighbours),
        )
        if sigma > MOST_SCALE:
            raise InvalidArgument(
                "scale must be at most 2**50, so that the noise fits in 64 bits; use Gaussian"
            )
        most = None if dimension is None else whole(dimension, "dimension", least=1)
        event = DiscreteGaussianNoise(sigma**2, *_norms(stated, most), neighbours=relation)
        fill(
            self, scale=sigma, sensitivity=stated, neighbours=relation, dimension=most, event=event
        )

    def __repr__(self) -> str:
        return f"DiscreteGaussian(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)})"

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> DiscreteGaussian:
        """Choose the least noise that keeps a promise: σ² = Δ2²/2ρ under zCDP, else the least σ whose curve fits.

        >>> import discreet as dp
        >>> dp.DiscreteGaussian.spending(dp.ZCDP("1/8"), sensitivity=1)
        DiscreteGaussian(scale=2, sensitivity=1)
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget = refuse_pure(spend, "discrete Gaussian", "ApproxDP, ZCDP, GaussianDP or Geometric")
        square = Fraction(make(Fraction(1)).event.squared_sensitivity)
        if isinstance(budget, ZCDP):
            return make(root_up(square / (2 * budget.rho)))
        near = (
            square / budget.squared if isinstance(budget, GaussianDP) else square
        )  # on fine grids this is it
        return make(least_scale(lambda scale: make(scale).event, budget, start=root_up(near)))

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
        dimension: int | None = None,
    ) -> DiscreteGaussian:
        """Choose the most noise, and so the strongest promise, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.DiscreteGaussian.for_error(6, sensitivity=1).error()
        6
        """
        scale = most_noise(error, beta, cells, lambda t, sigma: theta.tail(t, sigma**2))
        return cls(scale, sensitivity, neighbours=neighbours, dimension=dimension)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        exact = read_whole(value)
        count_of(exact, self.dimension if self._free else self.event.dimension)
        return cast(
            "Whole",
            add_drawn(exact, lambda size: noise.gaussian(self.event.variance, size, bits=bits)),
        )

    @property
    def _free(self) -> bool:
        """Return whether the price holds for vectors of any length."""
        return isinstance(self.sensitivity, Sensitivity) or self.sensitivity == 1

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once: the exact quantile."""
        variance, chance = float(self.event.variance), level(beta, cells)
        guess = math.sqrt(variance) * quantile(chance) - 0.5
        return least_whole(lambda t: theta.tail(t, variance), chance, guess)

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer that holds the true one with probability 1 − β.

        >>> import discreet as dp
        >>> dp.DiscreteGaussian(scale=10, sensitivity=1).interval(42)
        (22, 62)
        """
        return around(read_whole(answer), self.error(beta, cells=cells))

    def pmf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x).

        >>> import discreet as dp
        >>> round(dp.DiscreteGaussian(scale=1, sensitivity=1).pmf(0), 12)
        0.398942278267
        """
        variance = float(self.event.variance)
        total = theta.log_total(variance)
        return at(
            lambda y: np.where(
                y == np.floor(y), np.exp(-((y - value) ** 2) / (2 * variance) - total), 0.0
            ),
            x,
        )

    def cdf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        return at(lambda y: self._cdf(np.floor(y) - value), x)

    def _cdf(self, x: Floats) -> Floats:
        variance = float(self.event.variance)
        # P(x ≤ −k) = P(|x| > k − 1)/2 on the left; the right follows by symmetry
        far = [theta.tail(-k - 1 if k < 0 else k, variance) / 2 for k in x.tolist()]
        return np.where(x < 0, far, 1 - np.asarray(far))

    @property
    def variance(self) -> float:
        """The variance of the noise, a little below σ²."""
        return up(theta.squared(float(self.event.variance)))

    def expected_error(self) -> float:
        """Return E|release − value|.

        >>> import discreet as dp
        >>> round(dp.DiscreteGaussian(scale=10, sensitivity=1).expected_error(), 6)
        7.972193
        """
        return up(theta.mean_size(float(self.event.variance)))


def _norms(
    sensitivity: Fraction | Sensitivity, dimension: int | None
) -> tuple[int, int, int | None]:
    """Read Δ2² in whole steps, the number of coordinates that may move, and the bound on each."""
    if isinstance(sensitivity, Sensitivity):
        moved = min(sensitivity.changed, dimension or sensitivity.changed)
        return whole_norm(sensitivity.squared_l2), moved, whole_norm(sensitivity.linf)
    return whole_norm(sensitivity) ** 2, dimension or 1, None
