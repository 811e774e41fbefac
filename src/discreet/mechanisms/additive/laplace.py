"""Laplace noise: what it does, what it costs, how far off it is.

The law of the lectures, density e^(−|y|/b)/2b with b = Δ1/ε, realised exactly on a lattice 2^40 times finer than b.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any, cast

from ... import noise
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole
from ...arithmetic.rounding import up
from ...frozen import field, fill, frozen
from ...noise.bits import Bits
from ...privacy.calibrate import least_scale
from ...privacy.events import LaplaceNoise
from ...privacy.measures import Measure, PureDP
from ...privacy.neighbours import Neighbours
from ..laws import discrete_laplace as law
from ..laws.error_bound import around, at, brief, level, most_scale, target
from ..reading.budget import read_budget
from ..reading.deprecation import formerly
from ..reading.value import Number, count_of, is_whole, read_number
from ..sensitivity import Sensitivity, read_sensitivity
from .lattice import ROUNDS, add_noise, exponent_for, placed, steps_apart, too_small, widening


def _l1(sensitivity: Fraction | Sensitivity) -> Fraction:
    return sensitivity.l1 if isinstance(sensitivity, Sensitivity) else sensitivity


@frozen(init=False, repr=False)
class Laplace:
    """Add Laplace noise of one scale to every coordinate of an answer: ε = Δ1/scale (Dwork et al. 2006).

    `sensitivity` is Δ1, or a `Sensitivity`. Numbers in, the same kind out: int, float, or an array of either. One
    value, or a vector whose l1 norm one unit changes by at most Δ1.

    >>> import discreet as dp
    >>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
    >>> lap.scale, lap.event.sensitivity / lap.event.scale, round(lap.error(beta=0.05), 3)
    (Fraction(2, 1), Fraction(1, 2), 5.991)
    >>> type(lap.release(42)), type(lap.release(0.3))
    (<class 'int'>, <class 'float'>)

    Refuses a scale or sensitivity that is not positive, NaN and infinities, lists, and more coordinates than
    `dimension`.
    """

    scale: Fraction
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    dimension: int | None
    event: LaplaceNoise = field(compare=False)
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
        b = positive(scale, "scale")
        stated, relation = read_sensitivity(sensitivity, neighbours)
        norm = _l1(stated)
        exponent = exponent_for(b, norm)
        step = Fraction(2) ** exponent
        event = LaplaceNoise(b, steps_apart(norm, exponent, 1) * step, step, neighbours=relation)
        most = None if dimension is None else whole(dimension, "dimension", least=1)
        fill(
            self,
            scale=b,
            sensitivity=stated,
            neighbours=relation,
            dimension=most,
            event=event,
            exponent=exponent,
            steps=b / step,
        )

    def __repr__(self) -> str:
        return f"Laplace(scale={brief(self.scale)}, sensitivity={brief(self.sensitivity)})"

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        neighbours: Neighbours | None = None,
        dimension: int | None = None,
    ) -> Laplace:
        """Choose the least noise that keeps a promise: scale Δ1/ε, exactly, for pure ε.

        >>> import discreet as dp
        >>> dp.Laplace.spending(dp.PureDP(0.05), sensitivity=1)
        Laplace(scale=20, sensitivity=1)

        Refuses an ε below about 1e-12: a scale has too few lattice steps for it.
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        budget, norm = read_budget(spend), _l1(read_sensitivity(sensitivity, neighbours)[0])
        if not isinstance(budget, PureDP):
            return make(least_scale(lambda scale: make(scale).event, budget, start=norm))
        made = make(norm / budget.epsilon)
        for _ in range(ROUNDS):
            if made.event.sensitivity <= budget.epsilon * made.scale:
                return made
            made = make(made.event.sensitivity / budget.epsilon)  # Δ1 is off the lattice
        raise too_small(budget, "DiscreteLaplace")

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
    ) -> Laplace:
        """Choose the most noise, and so the strongest promise, whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Laplace.for_error(10, sensitivity=1).error() <= 10
        True
        """
        make = partial(cls, sensitivity=sensitivity, neighbours=neighbours, dimension=dimension)
        bound = target(error)
        guess = bound / -math.log(level(beta, cells))
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
        steps = self.steps * self._wider(count_of(exact, self.dimension), rounded=rounded)
        return cast(
            "Number",
            add_noise(exact, self.exponent, lambda size: noise.laplace(steps, size, bits=bits)),
        )

    def _wider(self, count: int, *, rounded: bool = True) -> Fraction:
        """Return how much wider the noise is where `count` coordinates are rounded to the lattice."""
        changed = (
            min(count, self.sensitivity.changed)
            if isinstance(self.sensitivity, Sensitivity)
            else count
        )
        if changed <= 1 or not rounded:
            return Fraction(1)
        return widening(1 + changed * self.event.step / self.event.sensitivity)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = False) -> float:
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once: the exact quantile.

        P(|noise| > jg) = 2a^(j+1)/(1 + a), a = e^(−g/b), on the lattice; P(|noise| > t) = e^(−(t+1/2)/b) for whole
        releases. (The rounding of a large float to its 53 bits is not counted.) Noise on a long array of floats is a
        little wider (`widening`): declare the `dimension`, or use `interval`, which counts the answer's coordinates.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=1, sensitivity=1).error(0.05, cells=10_000), 2), dp.Laplace(2, 1).error(whole=True)
        (12.18, 6)
        """
        return self._bound(level(beta, cells), max(cells, self.dimension or 1), whole=whole)

    def _bound(self, chance: float, count: int, *, whole: bool) -> float:
        """Bound one miss but for a chance, where `count` coordinates are released together."""
        b = self._float(count, rounded=not whole or self.exponent > 0)
        if whole and self.exponent < 0:
            return max(0, math.ceil(up(b * -math.log(chance)) - 0.5))
        step = float(self.event.step)
        far = b * -(math.log(chance) + math.log1p(math.expm1(-step / b) / 2))
        bound = up(up(far) + step / 2)  # half a step for rounding the value itself
        return math.ceil(bound) if whole else bound

    def _float(self, count: int, *, rounded: bool = True) -> float:
        return float(self.scale * self._wider(count, rounded=rounded))

    def interval(self, answer: Number, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer that holds the true one with probability 1 − β.

        >>> import discreet as dp
        >>> dp.Laplace(scale=2, sensitivity=1).interval(42)
        (36, 48)
        """
        exact = read_number(answer)
        count = max(cells, self.dimension or 1, count_of(exact, None))
        return around(exact, self._bound(level(beta, cells), count, whole=is_whole(exact)))

    def pmf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x): on the lattice for float releases, on the integers for whole ones.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=2, sensitivity=1).pmf(0, whole=True), 6)
        0.221199
        """
        step, b = float(self.event.step), float(self.scale)
        if whole and self.exponent < 0:
            return at(lambda y: law.rounded_pmf(y - value, b, step / b), x)
        return at(lambda y: law.pmf((y - placed(value, self.exponent)) / step, step / b), x)

    def cdf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x), for float releases or whole ones.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=1, sensitivity=1).cdf(1.0), 6)
        0.81606
        """
        step, b = float(self.event.step), float(self.scale)
        if whole and self.exponent < 0:
            return at(lambda y: law.rounded_cdf(y - value, b, step / b), x)
        return at(lambda y: law.cdf((y - placed(value, self.exponent)) / step, step / b), x)

    @property
    def variance(self) -> float:
        """The variance of the noise, 2b² but for the lattice; a whole release adds less than 1/12."""
        step = float(self.event.step)
        return up(
            step * (step * law.squared(step / self._float(self.dimension or 1)))
        )  # ∞ beyond floats

    def expected_error(self) -> float:
        """Bound E|release − value|: b but for the lattice; less for a whole release.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=2, sensitivity=1).expected_error(), 9)
        2.0
        """
        step = float(self.event.step)
        return up(step * law.mean_size(step / self._float(self.dimension or 1)) + step / 2)
