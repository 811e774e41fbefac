"""Gaussian mechanism: release, privacy price and error of Gaussian noise.

The law N(0, σ²), realised exactly on a lattice at least 2^40 times finer than σ. The scale σ comes
from the exact privacy curve (the analytic Gaussian mechanism; Balle, Wang 2018), not from the
classic formula, which is kept below for teaching.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import cast

from ... import noise
from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole_or_none
from ...arithmetic.rounding import fraction_up, up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...privacy.calibrate import least_scale
from ...privacy.events import GaussianNoise
from ...privacy.measures import ZCDP, ApproxDP, Measure, Neighbours
from ..laws import normal
from ..reading.value import (
    Number,
    count_coordinates,
    deprecated_call,
    is_whole,
    read_number,
    refuse_pure,
)
from ..sensitivity import GivenSensitivity, ReadSensitivity, Sensitivity, read_sensitivity
from . import lattice

MAX_COORDINATES = 1 << 32
"""Dimension of an event where none was declared; on so fine a lattice it changes no price."""


@frozen(init=False, repr=False)
class Gaussian(lattice.LatticeMechanism):
    """Gaussian mechanism: adds Gaussian noise of standard deviation `scale` to every coordinate.

    `sensitivity` is Δ2, or a `Sensitivity`. The value is an int, a float, or an array of either;
    the answer has the same type. It is one number, or a vector whose l2 norm one unit changes by
    at most Δ2.

    >>> import discreet as dp
    >>> gauss = dp.Gaussian.spending(dp.ApproxDP(1, 1e-6), sensitivity=1)
    >>> f"{float(gauss.scale):.12f}", round(gauss.error(beta=0.05), 3)
    ('4.224678889327', 8.28)
    >>> type(gauss.release(42)), type(gauss.release(0.3))
    (<class 'int'>, <class 'float'>)

    Guarantee: one release is μ-GDP with μ = Δ2/σ, ρ-zCDP with ρ = Δ2²/2σ², and (ε, δ)-DP by the
    exact curve, Δ2 rounded up to the lattice. It has no pure ε.
    Refuses: a scale or sensitivity that is not positive, NaN and infinities, lists, and more
    coordinates than `dimension` (InvalidArgument), before a bit is drawn.
    Law: tests/mechanisms/test_gaussian.py::TestPrice, tests/mechanisms/test_gaussian.py::TestError
    """

    scale: Fraction
    sensitivity: ReadSensitivity
    neighbours: Neighbours
    dimension: int | None
    event: GaussianNoise = field(compare=False)
    exponent: int = field(compare=False)
    steps: Fraction = field(compare=False)

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
        declared = whole_or_none(dimension, "dimension", least=1)
        square = _squared_l2(stated)
        root = lattice.root_up(square)
        # A root such as √2 is on no lattice, but whole vectors need no rounding all the same.
        is_rational = root**2 == square
        exponent = lattice.lattice_exponent(sigma, root if is_rational else None)
        changed = stated.changed if isinstance(stated, Sensitivity) else MAX_COORDINATES
        moved = min(changed, declared or MAX_COORDINATES)
        apart = square
        if is_rational or moved == 1:
            apart = lattice.squared_l2_apart(square, exponent, 1)
        step = Fraction(2) ** exponent
        event = GaussianNoise(sigma**2, apart, step, moved, neighbours=relation)
        fill(self, scale=sigma, sensitivity=stated, neighbours=relation, dimension=declared)
        # `steps` is the variance in squared lattice steps, as the sampler takes it.
        steps = event.variance / event.step**2
        fill(self, event=event, exponent=exponent, steps=steps)

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Gaussian:
        """Choose the least noise that keeps a budget.

        Under zCDP σ² = Δ2²/2ρ; under any other measure the least σ whose exact curve fits.

        >>> import discreet as dp
        >>> dp.Gaussian.spending(dp.ZCDP(0.5), sensitivity=3)
        Gaussian(scale=3, sensitivity=3)

        Guarantee: the event of the returned mechanism costs at most `spend`.
        Refuses: pure ε, which no Gaussian keeps, and a budget so small that a scale has too few
        lattice steps for it (InvalidArgument).
        Law: tests/mechanisms/test_gaussian.py::TestCalibration
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget = refuse_pure(spend, "Gaussian", "ApproxDP, ZCDP, GaussianDP or Laplace")
        # Made once at scale 1, so that a bad sensitivity is refused before any search.
        square = make(Fraction(1)).event.squared_sensitivity
        if isinstance(budget, ZCDP):
            stated, _ = read_sensitivity(sensitivity, neighbours)
            return _for_rho(make, _squared_l2(stated), budget)

        def event_at(scale: Fraction) -> GaussianNoise:
            return make(scale).event

        return make(least_scale(event_at, budget, start=lattice.root_up(square)))

    @classmethod
    @deprecated_call("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: GivenSensitivity,
        cells: int = 1,
        whole: bool = False,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Gaussian:
        """Choose the most noise, hence the strongest privacy, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Gaussian.for_error(10, sensitivity=1).error() <= 10
        True
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)

        def quantile(cell_beta: float) -> float:
            # A β near 1 has a quantile near 0; the guess of a scale must stay finite.
            return max(normal.quantile(cell_beta), 1e-9)

        return lattice.most_noise(make, error, quantile, beta=beta, cells=cells, whole=whole)

    def release(self, value: Number, *, bits: Bits | None = None) -> Number:
        """Return the value with fresh noise, as the same type.

        An int v gives v + ⌊noise + 1/2⌋ (from a scale of 2^49 on, `lattice.add_noise`). A float
        gives the exact sum on the lattice, rounded once, so its low bits tell nothing about it.
        """
        exact = read_number(value)
        rounded = not is_whole(exact) or self.exponent > 0
        count = count_coordinates(exact, self.dimension)
        variance = self.steps * self._wider(count, rounded=rounded)
        draw = partial(noise.gaussian, variance, bits=bits)
        return cast("Number", lattice.add_noise(exact, self.exponent, draw))

    def _wider(self, count: int, *, rounded: bool = True) -> Fraction:
        """Return the factor of the variance where `count` coordinates are rounded."""
        if not count or not rounded:
            return Fraction(1)
        changed = self._changed(count)
        stated = self.event.squared_sensitivity
        apart = lattice.squared_l2_apart(stated, self.exponent, changed)
        # Four times the variance is twice the noise.
        return lattice.check_widening(apart / stated, max_ratio=4)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = False) -> float:
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        The exact quantile σ·Φ⁻¹((1 + (1 − β)^(1/K))/2) for K cells. The rounding of a large float
        to its 53 bits is not counted. Noise on a long array of floats is a little wider
        (`check_widening`): declare the `dimension`, or use `interval`, which counts the answer's
        coordinates.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=1, sensitivity=1).error(0.05, cells=10), 4), dp.Gaussian(2, 1).error(whole=True)
        (2.7996, 4)
        """
        return self._error(beta, cells, 1, whole=whole)

    def _bound(self, beta: float, count: int, *, whole: bool) -> float:
        """Bound one error, but for a probability β; `count` coordinates are released together."""
        sigma = self._float_scale(count, rounded=not whole or self.exponent > 0)
        noise_bound = up(sigma * normal.quantile(beta))
        if whole and self.exponent < 0:
            # A whole release rounds half-up: an error above t needs noise of at least t + 1/2.
            return max(0, math.ceil(noise_bound - 0.5))
        # Half a step for the lattice, half a step for rounding the value itself.
        bound = up(noise_bound + float(self.event.step))
        return math.ceil(bound) if whole else bound

    def _float_scale(self, count: int, *, rounded: bool = True) -> float:
        wider = self._wider(count, rounded=rounded)
        return float(self.scale) * math.sqrt(wider)

    def _pmf(self, distance: Floats, *, whole: bool) -> Floats:
        law = normal.rounded_pmf if whole else normal.pmf
        return law(distance, float(self.scale), float(self.event.step))

    def _cdf(self, distance: Floats, *, whole: bool) -> Floats:
        law = normal.rounded_cdf if whole else normal.cdf
        return law(distance, float(self.scale), float(self.event.step))

    @property
    def variance(self) -> float:
        """The variance of the noise, σ²; a whole release adds at most 1/12."""
        sigma = self._float_scale(self.dimension or 1)
        # A product, not a power: ∞ beyond floats instead of an OverflowError.
        return up(sigma * sigma)

    def expected_error(self) -> float:
        """Bound E|release − value|: σ√(2/π); less for a whole release.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=2, sensitivity=1).expected_error(), 6)
        1.595769
        """
        sigma = self._float_scale(self.dimension or 1)
        mean_noise = sigma * math.sqrt(2 / math.pi)
        # Half a step for rounding the value itself to the lattice.
        return up(mean_noise + float(self.event.step) / 2)


def _squared_l2(sensitivity: ReadSensitivity) -> Fraction:
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.squared_l2
    return sensitivity**2


def _for_rho(make: partial[Gaussian], square: Fraction, budget: ZCDP) -> Gaussian:
    """Make the mechanism of the least scale that costs at most ρ, exactly."""
    double_rho = 2 * budget.rho
    made = make(lattice.root_up(square / double_rho))
    for _ in range(lattice.MAX_ROUNDS):
        if made.event.squared_sensitivity <= double_rho * made.event.variance:
            return made
        # Δ2 is off the lattice and was rounded up: raise the scale with it.
        made = make(lattice.root_up(made.event.squared_sensitivity / double_rho))
    raise lattice.budget_too_small(budget, "DiscreteGaussian")


def classic_gaussian(
    epsilon: Real,
    delta: Real,
    sensitivity: GivenSensitivity,
    *,
    neighbours: Neighbours | None = None,
) -> Gaussian:
    """Make the Gaussian of the classic formula σ = Δ2·√(2 ln(1.25/δ))/ε, for teaching.

    Dwork, Roth 2014, Theorem A.1. At δ = 1e-5 it is 30 % too wide at ε = 1 and too narrow above
    ε ≈ 8: the proof needs ε < 1, and holds at 1 as the limit. `Gaussian.spending(ApproxDP(ε, δ), …)`
    is never worse.

    >>> from discreet.mechanisms import classic_gaussian
    >>> classic_gaussian(1, 1e-5, sensitivity=1)
    Gaussian(scale=4.844805263, sensitivity=1)
    >>> classic_gaussian(10, 1e-5, sensitivity=1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the classic formula is proved for epsilon ≤ 1 only, got 10; use Gaussian.spending

    Guarantee: (ε, δ)-DP for ε ≤ 1.
    Refuses: ε above 1, and δ = 0 (InvalidArgument).
    Law: tests/mechanisms/test_gaussian.py::TestClassic
    """
    exact = positive(epsilon, "epsilon")
    budget = ApproxDP(epsilon, delta)
    if exact > 1:
        raise InvalidArgument(
            f"the classic formula is proved for epsilon ≤ 1 only, got {epsilon}; use Gaussian.spending"
        )
    refuse_pure(budget, "Gaussian", "delta > 0 or Laplace")
    log_ratio = math.log(1.25 / float(budget.delta))
    # Both roots are rounded up: more noise never costs more.
    factor = fraction_up(math.sqrt(2 * log_ratio))
    stated, relation = read_sensitivity(sensitivity, neighbours)
    root = lattice.root_up(_squared_l2(stated))
    return Gaussian(root * factor / exact, sensitivity, neighbours=relation)
