"""Gaussian noise: what it does, what it costs, how far off it is.

The law of the lectures, N(0, σ²), realised exactly on a lattice 2^40 times finer than σ. The scale σ comes from the
exact privacy curve (Balle, Wang 2018), not from the classic formula, which is kept below for teaching.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any, cast

from ... import noise
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole
from ...arithmetic.rounding import fraction_up, up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...privacy.calibrate import least_scale
from ...privacy.events import GaussianNoise
from ...privacy.measures import ZCDP, ApproxDP, Measure
from ...privacy.neighbours import Neighbours
from ..laws import normal
from ..laws.error_bound import around, at, brief, level, most_scale, target
from ..reading.budget import refuse_pure
from ..reading.deprecation import formerly
from ..reading.value import Number, count_of, is_whole, read_number
from ..sensitivity import Sensitivity, read_sensitivity
from .lattice import (
    ROUNDS,
    add_noise,
    exponent_for,
    placed,
    root_up,
    square_apart,
    too_small,
    widening,
)

MOST_COORDINATES = 1 << 32
"""The dimension an event states where none was declared; the price does not feel it on so fine a lattice."""


@frozen(init=False, repr=False)
class Gaussian:
    """Add Gaussian noise of standard deviation `scale` to every coordinate: μ = Δ2/σ, ρ = Δ2²/2σ², (ε, δ) exactly.

    `sensitivity` is Δ2, or a `Sensitivity`. Numbers in, the same kind out: int, float, or an array of either. One
    value, or a vector whose l2 norm one unit changes by at most Δ2.

    >>> import discreet as dp
    >>> gauss = dp.Gaussian.spending(dp.ApproxDP(1, 1e-6), sensitivity=1)
    >>> f"{float(gauss.scale):.12f}", round(gauss.error(beta=0.05), 3)
    ('4.224678889327', 8.28)
    >>> type(gauss.release(42)), type(gauss.release(0.3))
    (<class 'int'>, <class 'float'>)

    Refuses a scale or sensitivity that is not positive, NaN and infinities, lists, and more coordinates than
    `dimension`. Has no pure ε.
    """

    scale: Fraction
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    dimension: int | None
    event: GaussianNoise = field(compare=False)
    exponent: int = field(compare=False)
    steps: Fraction = field(compare=False)

    def __init__(
        self,
        scale: Real,
        sensitivity: Real | Sensitivity,
        *,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> None:
        sigma = positive(scale, "scale")
        stated, relation = read_sensitivity(sensitivity, neighbours)
        most = None if dimension is None else whole(dimension, "dimension", least=1)
        square, root = _squared(stated), root_up(_squared(stated))
        exact = (
            root**2 == square
        )  # a root such as √2 is on no lattice; whole vectors need no rounding all the same
        exponent = exponent_for(sigma, root if exact else None)
        moved = min(
            stated.changed if isinstance(stated, Sensitivity) else MOST_COORDINATES,
            most or MOST_COORDINATES,
        )
        apart = square_apart(square, exponent, 1) if exact or moved == 1 else square
        event = GaussianNoise(sigma**2, apart, Fraction(2) ** exponent, moved, neighbours=relation)
        steps = event.variance / event.step**2
        fill(
            self,
            scale=sigma,
            sensitivity=stated,
            neighbours=relation,
            dimension=most,
            event=event,
            exponent=exponent,
            steps=steps,
        )

    def __repr__(self) -> str:
        return f"Gaussian(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)})"

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Gaussian:
        """Choose the least noise that keeps a promise: the least σ whose exact curve fits; σ² = Δ2²/2ρ under zCDP.

        >>> import discreet as dp
        >>> dp.Gaussian.spending(dp.ZCDP(0.5), sensitivity=3)
        Gaussian(scale=3, sensitivity=3)

        Refuses pure ε, which no Gaussian keeps, and a promise so small that a scale has too few lattice steps for it.
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget = refuse_pure(spend, "Gaussian", "ApproxDP, ZCDP, GaussianDP or Laplace")
        square = make(Fraction(1)).event.squared_sensitivity
        if not isinstance(budget, ZCDP):
            return make(least_scale(lambda scale: make(scale).event, budget, start=root_up(square)))
        made = make(
            root_up(_squared(read_sensitivity(sensitivity, neighbours)[0]) / (2 * budget.rho))
        )
        for _ in range(ROUNDS):
            if made.event.squared_sensitivity <= 2 * budget.rho * made.event.variance:
                return made
            made = make(
                root_up(made.event.squared_sensitivity / (2 * budget.rho))
            )  # Δ2 is off the lattice
        raise too_small(budget, "DiscreteGaussian")

    @classmethod
    @formerly("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: Real | Sensitivity,
        cells: int = 1,
        whole: bool = False,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Gaussian:
        """Choose the most noise, and so the strongest promise, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Gaussian.for_error(10, sensitivity=1).error() <= 10
        True
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        bound = target(error)
        guess = bound / max(normal.quantile(level(beta, cells)), 1e-9)
        return make(
            most_scale(
                lambda scale: make(scale).error(beta, cells=cells, whole=whole) <= bound, guess
            )
        )

    def release(self, value: Number, *, bits: Bits | None = None) -> Number:
        """Return the value with fresh noise, as the same kind of number.

        An int v gives v + ⌊noise + 1/2⌋, a float the exact sum on the lattice, rounded once: its low bits say nothing.
        """
        exact = read_number(value)
        rounded = not is_whole(exact) or self.exponent > 0
        variance = self.steps * self._wider(count_of(exact, self.dimension), rounded=rounded)
        return cast(
            "Number",
            add_noise(exact, self.exponent, lambda size: noise.gaussian(variance, size, bits=bits)),
        )

    def _wider(self, count: int, *, rounded: bool = True) -> Fraction:
        """Return how much more variance the noise has where `count` coordinates are rounded to the lattice."""
        if not count or not rounded:
            return Fraction(1)
        changed = (
            min(count, self.sensitivity.changed)
            if isinstance(self.sensitivity, Sensitivity)
            else count
        )
        base = self.event.squared_sensitivity
        return widening(square_apart(base, self.exponent, changed) / base, most=4)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = False) -> float:
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once: the exact quantile.

        σ·Φ⁻¹((1 + (1 − β)^(1/K))/2) for K cells. (The rounding of a large float to its 53 bits is not counted.)
        Noise on a long array of floats is a little wider (`widening`): declare the `dimension`, or use `interval`,
        which counts the answer's coordinates.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=1, sensitivity=1).error(0.05, cells=10), 4), dp.Gaussian(2, 1).error(whole=True)
        (2.7996, 4)
        """
        return self._bound(level(beta, cells), max(cells, self.dimension or 1), whole=whole)

    def _bound(self, chance: float, count: int, *, whole: bool) -> float:
        """Bound one miss but for a chance, where `count` coordinates are released together."""
        far = up(
            self._float(count, rounded=not whole or self.exponent > 0) * normal.quantile(chance)
        )
        if whole and self.exponent < 0:
            return max(0, math.ceil(far - 0.5))
        bound = up(
            far + float(self.event.step)
        )  # half a step for the lattice, half for rounding the value itself
        return math.ceil(bound) if whole else bound

    def _float(self, count: int, *, rounded: bool = True) -> float:
        return float(self.scale) * math.sqrt(self._wider(count, rounded=rounded))

    def interval(self, answer: Number, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer that holds the true one with probability 1 − β.

        >>> import discreet as dp
        >>> dp.Gaussian(scale=2, sensitivity=1).interval(42)
        (38, 46)
        """
        exact = read_number(answer)
        count = max(cells, self.dimension or 1, count_of(exact, None))
        return around(exact, self._bound(level(beta, cells), count, whole=is_whole(exact)))

    def pmf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x): on the lattice for float releases, on the integers for whole ones.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=2, sensitivity=1).pmf(0, whole=True), 6)
        0.197413
        """
        step, sigma = float(self.event.step), float(self.scale)
        if whole and self.exponent < 0:
            return at(lambda y: normal.rounded_pmf(y - value, sigma, step), x)
        return at(lambda y: normal.pmf(y - placed(value, self.exponent), sigma, step), x)

    def cdf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x), for float releases or whole ones.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=1, sensitivity=1).cdf(1.0), 6)
        0.841345
        """
        step, sigma = float(self.event.step), float(self.scale)
        if whole and self.exponent < 0:
            return at(lambda y: normal.rounded_cdf(y - value, sigma, step), x)
        return at(lambda y: normal.cdf(y - placed(value, self.exponent), sigma, step), x)

    @property
    def variance(self) -> float:
        """The variance of the noise, σ²; a whole release adds at most 1/12."""
        sigma = self._float(self.dimension or 1)
        return up(sigma * sigma)  # ∞ beyond floats

    def expected_error(self) -> float:
        """Bound E|release − value|: σ√(2/π); less for a whole release.

        >>> import discreet as dp
        >>> round(dp.Gaussian(scale=2, sensitivity=1).expected_error(), 6)
        1.595769
        """
        return up(
            self._float(self.dimension or 1) * math.sqrt(2 / math.pi) + float(self.event.step) / 2
        )


def _squared(sensitivity: Fraction | Sensitivity) -> Fraction:
    return sensitivity.squared_l2 if isinstance(sensitivity, Sensitivity) else sensitivity**2


def classic_gaussian(
    epsilon: Real,
    delta: Real,
    sensitivity: Real | Sensitivity,
    *,
    neighbours: Neighbours | None = None,
) -> Gaussian:
    """Make the Gaussian of the classic formula σ = Δ2·√(2 ln(1.25/δ))/ε, for teaching (Dwork, Roth 2014, Theorem A.1).

    It is 15 % too wide at ε = 1 and, above ε ≈ 8 at δ = 1e-5, too narrow: the proof needs ε < 1.
    `Gaussian.spending(ApproxDP(ε, δ), …)` is never worse.

    >>> from discreet.mechanisms import classic_gaussian
    >>> classic_gaussian(1, 1e-5, sensitivity=1)
    Gaussian(scale=4.844805263, sensitivity=1)
    >>> classic_gaussian(10, 1e-5, sensitivity=1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the classic formula is proved for epsilon ≤ 1 only, got 10; use Gaussian.spending
    """
    e, budget = positive(epsilon, "epsilon"), ApproxDP(epsilon, delta)
    if e > 1:
        raise InvalidArgument(
            f"the classic formula is proved for epsilon ≤ 1 only, got {epsilon}; use Gaussian.spending"
        )
    refuse_pure(budget, "Gaussian", "delta > 0 or Laplace")
    factor = fraction_up(math.sqrt(2 * math.log(1.25 / float(budget.delta))))
    stated, relation = read_sensitivity(sensitivity, neighbours)
    root = root_up(_squared(stated))
    return Gaussian(root * factor / e, sensitivity, neighbours=relation)
