"""Laplace mechanism: release, privacy price and error of Laplace noise.

Density e^(−|y|/b)/2b with b = Δ1/ε, realised exactly on a lattice at least 2^40 times finer than b.
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
from ...arithmetic.rounding import up
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...privacy.calibrate import least_scale
from ...privacy.events import LaplaceNoise
from ...privacy.measures import Measure, Neighbours, PureDP
from ..laws import discrete_laplace as law
from ..reading.value import (
    Number,
    count_coordinates,
    deprecated_call,
    is_whole,
    read_budget,
    read_number,
)
from ..sensitivity import GivenSensitivity, ReadSensitivity, Sensitivity, read_sensitivity
from . import lattice


def _l1(sensitivity: ReadSensitivity) -> Fraction:
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.l1
    return sensitivity


@frozen(init=False, repr=False)
class Laplace(lattice.LatticeMechanism):
    """Laplace mechanism: adds Laplace noise of one scale to every coordinate (Dwork et al. 2006).

    `sensitivity` is Δ1, or a `Sensitivity`. The value is an int, a float, or an array of either;
    the answer has the same type. It is one number, or a vector whose l1 norm one unit changes by
    at most Δ1.

    >>> import discreet as dp
    >>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
    >>> lap.scale, lap.event.sensitivity / lap.event.scale, round(lap.error(beta=0.05), 3)
    (Fraction(2, 1), Fraction(1, 2), 5.991)
    >>> type(lap.release(42)), type(lap.release(0.3))
    (<class 'int'>, <class 'float'>)

    Guarantee: one release is ε-DP with ε = Δ1/scale, Δ1 rounded up to the lattice; `event` is the
    law that is really drawn, `error` an exact quantile of it.
    Refuses: a scale or sensitivity that is not positive, NaN and infinities, lists, and more
    coordinates than `dimension` (InvalidArgument), before a bit is drawn.
    Law: tests/mechanisms/test_laplace.py::TestPrice, tests/mechanisms/test_laplace.py::TestError
    """

    scale: Fraction
    sensitivity: ReadSensitivity
    neighbours: Neighbours
    dimension: int | None
    event: LaplaceNoise = field(compare=False)
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
        b = positive(scale, "scale")
        stated, relation = read_sensitivity(sensitivity, neighbours)
        norm = _l1(stated)
        exponent = lattice.lattice_exponent(b, norm)
        step = Fraction(2) ** exponent
        # The event states Δ1 rounded up to the lattice: so far apart are rounded neighbours.
        apart = lattice.l1_steps_apart(norm, exponent, 1) * step
        event = LaplaceNoise(b, apart, step, neighbours=relation)
        declared = whole_or_none(dimension, "dimension", least=1)
        fill(self, scale=b, sensitivity=stated, neighbours=relation, dimension=declared)
        fill(self, event=event, exponent=exponent, steps=b / step)

    @classmethod
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Laplace:
        """Choose the least noise that keeps a budget: scale Δ1/ε, exactly, for pure ε.

        >>> import discreet as dp
        >>> dp.Laplace.spending(dp.PureDP(0.05), sensitivity=1)
        Laplace(scale=20, sensitivity=1)

        Guarantee: the event of the returned mechanism costs at most `spend`.
        Refuses: an ε below about 1e-12, for which a scale has too few lattice steps
        (InvalidArgument).
        Law: tests/mechanisms/test_laplace.py::TestCalibration
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget = read_budget(spend)
        stated, _ = read_sensitivity(sensitivity, neighbours)
        norm = _l1(stated)
        if isinstance(budget, PureDP):
            return _for_epsilon(make, norm, budget)

        def event_at(scale: Fraction) -> LaplaceNoise:
            return make(scale).event

        return make(least_scale(event_at, budget, start=norm))

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
    ) -> Laplace:
        """Choose the most noise, hence the strongest privacy, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Laplace.for_error(10, sensitivity=1).error() <= 10
        True
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)

        def quantile(cell_beta: float) -> float:
            # The error of continuous noise of scale b is b·ln(1/β).
            return -math.log(cell_beta)

        return lattice.most_noise(make, error, quantile, beta=beta, cells=cells, whole=whole)

    def release(self, value: Number, *, bits: Bits | None = None) -> Number:
        """Return the value with fresh noise, as the same type.

        An int v gives v + ⌊noise + 1/2⌋ (from a scale of 2^49 on, `lattice.add_noise`). A float
        gives the exact sum on the lattice, rounded once, so its low bits tell nothing about it.
        """
        exact = read_number(value)
        rounded = not is_whole(exact) or self.exponent > 0
        count = count_coordinates(exact, self.dimension)
        steps = self.steps * self._wider(count, rounded=rounded)
        draw = partial(noise.laplace, steps, bits=bits)
        return cast("Number", lattice.add_noise(exact, self.exponent, draw))

    def _wider(self, count: int, *, rounded: bool = True) -> Fraction:
        """Return the factor of the scale where `count` coordinates are rounded."""
        changed = self._changed(count)
        # The event already counts the rounding of one coordinate.
        if changed <= 1 or not rounded:
            return Fraction(1)
        extra = changed * self.event.step / self.event.sensitivity
        return lattice.check_widening(1 + extra)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = False) -> float:
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        The exact quantile: P(|noise| > jg) = 2a^(j+1)/(1 + a), a = e^(−g/b), on the lattice;
        P(|noise| > t) = e^(−(t+1/2)/b) for whole releases. The rounding of a large float to its 53
        bits is not counted. Noise on a long array of floats is a little wider (`check_widening`):
        declare the `dimension`, or use `interval`, which counts the answer's coordinates.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=1, sensitivity=1).error(0.05, cells=10_000), 2), dp.Laplace(2, 1).error(whole=True)
        (12.18, 6)
        """
        return self._error(beta, cells, 1, whole=whole)

    def _bound(self, beta: float, count: int, *, whole: bool) -> float:
        """Bound one error, but for a probability β; `count` coordinates are released together."""
        b = self._float_scale(count, rounded=not whole or self.exponent > 0)
        if whole and self.exponent < 0:
            # A whole release rounds half-up: an error above t needs noise of at least t + 1/2.
            continuous = up(b * -math.log(beta))
            return max(0, math.ceil(continuous - 0.5))
        step = float(self.event.step)
        # ln((1 + a)/2), written so that it keeps its digits for a tiny step.
        log_half = math.log1p(math.expm1(-step / b) / 2)
        noise_bound = up(b * -(math.log(beta) + log_half))
        # Half a step more, for rounding the value itself to the lattice.
        bound = up(noise_bound + step / 2)
        return math.ceil(bound) if whole else bound

    def _float_scale(self, count: int, *, rounded: bool = True) -> float:
        wider = self._wider(count, rounded=rounded)
        return float(self.scale * wider)

    def _pmf(self, distance: Floats, *, whole: bool) -> Floats:
        step = float(self.event.step)
        b = float(self.scale)
        if whole:
            return law.rounded_pmf(distance, b, step / b)
        return law.pmf(distance / step, step / b)

    def _cdf(self, distance: Floats, *, whole: bool) -> Floats:
        step = float(self.event.step)
        b = float(self.scale)
        if whole:
            return law.rounded_cdf(distance, b, step / b)
        return law.cdf(distance / step, step / b)

    @property
    def variance(self) -> float:
        """The variance of the noise, 2b² but for the lattice; rounding to wholes adds under 1/12."""
        step = float(self.event.step)
        squared_steps = law.squared(step / self._float_scale(self.dimension or 1))
        # Multiplied step by step: the result is ∞ beyond floats, never an OverflowError.
        return up(step * (step * squared_steps))

    def expected_error(self) -> float:
        """Bound E|release − value|: b but for the lattice; less for a whole release.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=2, sensitivity=1).expected_error(), 9)
        2.0
        """
        step = float(self.event.step)
        mean_steps = law.mean_size(step / self._float_scale(self.dimension or 1))
        # Half a step for rounding the value itself to the lattice.
        return up(step * mean_steps + step / 2)


def _for_epsilon(make: partial[Laplace], norm: Fraction, budget: PureDP) -> Laplace:
    """Make the mechanism of the least scale that costs at most ε, exactly."""
    made = make(norm / budget.epsilon)
    for _ in range(lattice.MAX_ROUNDS):
        if made.event.sensitivity <= budget.epsilon * made.scale:
            return made
        # Δ1 is off the lattice and was rounded up: raise the scale with it.
        made = make(made.event.sensitivity / budget.epsilon)
    raise lattice.budget_too_small(budget, "DiscreteLaplace")
