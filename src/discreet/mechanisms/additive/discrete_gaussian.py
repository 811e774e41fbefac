"""Discrete Gaussian mechanism on the integers: release, privacy price and error.

The law is P(x) ∝ e^(−x²/2σ²) (Canonne, Kamath, Steinke 2020).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from ... import noise
from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole_or_none
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...noise.geometric import MAX_SCALE
from ...privacy.calibrate import least_scale
from ...privacy.events import DiscreteGaussianNoise
from ...privacy.measures import ZCDP, GaussianDP, Measure, Neighbours
from ..laws import discrete_gaussian as law
from ..laws.error_bound import (
    least_whole,
    per_cell_beta,
    scale_repr,
)
from ..laws.normal import quantile
from ..reading.value import (
    Whole,
    count_coordinates,
    deprecated_call,
    read_whole,
    refuse_pure,
)
from ..sensitivity import GivenSensitivity, ReadSensitivity, Sensitivity, read_sensitivity
from .integer import IntegerMechanism, add_drawn, max_noise_scale, whole_norm
from .lattice import root_up


@frozen(init=False, repr=False)
class DiscreteGaussian(IntegerMechanism):
    """Discrete Gaussian mechanism: adds discrete Gaussian noise of parameter σ to whole numbers.

    σ is `scale`. `sensitivity` is Δ2, whole, or a `Sensitivity` whose Δ2² is whole. With Δ2 = 1
    arrays of any size are taken (one coordinate moves, by one). With a larger number declare the
    `dimension`, or give a `Sensitivity`.

    >>> import discreet as dp
    >>> gauss = dp.DiscreteGaussian.spending(dp.ZCDP(0.5), sensitivity=1)
    >>> gauss.scale, gauss.error(beta=0.05), round(gauss.variance, 12)
    (Fraction(1, 1), 2, 0.999999788769)

    Guarantee: one release is ρ-zCDP with ρ = Δ2²/2σ², and (ε, δ)-DP by exact summation; `error` is
    the exact quantile.
    Refuses: floats, a sensitivity that is not whole, a scale above 2^50, and pure ε, which no
    Gaussian keeps (InvalidArgument), before a bit is drawn.
    Law: tests/mechanisms/test_discrete_gaussian.py::TestPrice,
    tests/mechanisms/test_discrete_gaussian.py::TestError
    """

    scale: Fraction
    sensitivity: ReadSensitivity
    neighbours: Neighbours
    dimension: int | None
    event: DiscreteGaussianNoise = field(compare=False)

    __repr__ = scale_repr

    def __init__(
        self,
        scale: Real,
        sensitivity: GivenSensitivity,
        *,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> None:
        sigma = positive(scale, "scale")
        stated, relation = read_sensitivity(sensitivity, neighbours)
        if sigma > MAX_SCALE:
            raise InvalidArgument(
                "scale must be at most 2**50, so that the noise fits in 64 bits; use Gaussian"
            )
        declared = whole_or_none(dimension, "dimension", least=1)
        norms = _norms(stated, declared)
        event = DiscreteGaussianNoise(sigma**2, *norms, neighbours=relation)
        fill(self, scale=sigma, sensitivity=stated, neighbours=relation)
        fill(self, dimension=declared, event=event)

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> DiscreteGaussian:
        """Choose the least noise that keeps a budget.

        Under zCDP σ² = Δ2²/2ρ; under any other measure the least σ whose curve fits.

        >>> import discreet as dp
        >>> dp.DiscreteGaussian.spending(dp.ZCDP("1/8"), sensitivity=1)
        DiscreteGaussian(scale=2, sensitivity=1)

        Guarantee: the event of the returned mechanism costs at most `spend`.
        Refuses: pure ε, which no Gaussian keeps (InvalidArgument).
        Law: tests/mechanisms/test_discrete_gaussian.py::TestCalibration
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget = refuse_pure(spend, "discrete Gaussian", "ApproxDP, ZCDP, GaussianDP or Geometric")
        square = Fraction(make(Fraction(1)).event.squared_sensitivity)
        if isinstance(budget, ZCDP):
            # The root is rounded up, so ρ is never exceeded.
            return make(root_up(square / (2 * budget.rho)))
        # Under μ-GDP σ = Δ2/μ is the answer for continuous noise, and nearly so on fine grids.
        near = square / budget.squared if isinstance(budget, GaussianDP) else square

        def event_at(scale: Fraction) -> DiscreteGaussianNoise:
            return make(scale).event

        return make(least_scale(event_at, budget, start=root_up(near)))

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
        dimension: int | None = None,
    ) -> DiscreteGaussian:
        """Choose the most noise, hence the strongest privacy, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.DiscreteGaussian.for_error(6, sensitivity=1).error()
        6
        """

        def tail(t: int, sigma: float) -> float:
            return law.tail(t, sigma**2)

        scale = max_noise_scale(error, beta, cells, tail)
        return cls(scale, sensitivity, neighbours=neighbours, dimension=dimension)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        dimension = self.dimension if self._any_length else self.event.dimension
        count_coordinates(read_whole(value), dimension)
        return add_drawn(value, partial(noise.gaussian, self.event.variance, bits=bits))

    @property
    def _any_length(self) -> bool:
        """True if the price holds for vectors of any length."""
        return isinstance(self.sensitivity, Sensitivity) or self.sensitivity == 1

    @property
    def _parameter(self) -> float:
        """The parameter σ² of the law, as a float."""
        return float(self.event.variance)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        The exact quantile.
        """
        variance = self._parameter
        cell_beta = per_cell_beta(beta, cells)

        def tail(t: int) -> float:
            return law.tail(t, variance)

        guess = math.sqrt(variance) * quantile(cell_beta) - 0.5
        return least_whole(tail, cell_beta, guess)

    def _pmf(self, distance: Floats) -> Floats:
        variance = self._parameter
        exponent = -(distance**2) / (2 * variance)
        at_whole = np.exp(exponent - law.log_total(variance))
        return np.where(distance == np.floor(distance), at_whole, 0.0)

    def _cdf(self, distance: Floats) -> Floats:
        variance = self._parameter
        last = np.floor(distance)
        one_sided = []
        for k in last.tolist():
            # P(X ≤ −k) = P(|X| > k − 1)/2 on the left; the right follows by symmetry.
            size = -k - 1 if k < 0 else k
            one_sided.append(law.tail(size, variance) / 2)
        return np.where(last < 0, one_sided, 1 - np.asarray(one_sided))

    @property
    def variance(self) -> float:
        """The variance of the noise, a little below σ²."""
        return up(law.squared(self._parameter))

    def expected_error(self) -> float:
        """Return E|release − value|.

        >>> import discreet as dp
        >>> round(dp.DiscreteGaussian(scale=10, sensitivity=1).expected_error(), 6)
        7.972193
        """
        return up(law.mean_size(self._parameter))


def _norms(sensitivity: ReadSensitivity, dimension: int | None) -> tuple[int, int, int | None]:
    """Read Δ2² in whole steps, the number of coordinates that may move, and the bound on each."""
    if isinstance(sensitivity, Sensitivity):
        moved = min(sensitivity.changed, dimension or sensitivity.changed)
        return whole_norm(sensitivity.squared_l2), moved, whole_norm(sensitivity.linf)
    return whole_norm(sensitivity) ** 2, dimension or 1, None
