"""Events that add noise to an answer."""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..neighbours import ADD_REMOVE, Neighbours, read_neighbours


@frozen(init=False)
class LaplaceNoise:
    """Laplace noise of one scale in every coordinate; `sensitivity` is Δ1.

    `step` is the width of the lattice it was sampled on, a divisor of the sensitivity; 0 stands for the continuous law.

    >>> from discreet.privacy import LaplaceNoise
    >>> LaplaceNoise(scale=2, sensitivity=1).sensitivity
    Fraction(1, 1)
    """

    scale: Fraction
    sensitivity: Fraction
    step: Fraction
    neighbours: Neighbours

    def __init__(
        self,
        scale: Number,
        sensitivity: Number,
        step: Number = 0,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        s, d = positive(scale, "scale"), positive(sensitivity, "sensitivity")
        fill(
            self,
            scale=s,
            sensitivity=d,
            step=_step(step, d),
            neighbours=read_neighbours(neighbours),
        )


def _step(step: Number, sensitivity: Fraction) -> Fraction:
    g = rational(step, "step")
    if g < 0 or (g > 0 and (sensitivity / g).denominator != 1):
        raise InvalidArgument("step must be 0 or divide the sensitivity into whole lattice steps")
    return g


@frozen(init=False)
class DiscreteLaplaceNoise:
    """Discrete Laplace noise on the integers, P(x) ∝ exp(−|x|/scale); `sensitivity` is Δ1 in whole steps."""

    scale: Fraction
    sensitivity: int
    neighbours: Neighbours

    def __init__(
        self, scale: Number, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        d = whole(sensitivity, "sensitivity", least=1)
        fill(
            self,
            scale=positive(scale, "scale"),
            sensitivity=d,
            neighbours=read_neighbours(neighbours),
        )


@frozen(init=False)
class TruncatedGeometricNoise:
    """Discrete Laplace noise on one value, clamped to the public range low..high; the true value lies there too.

    For one value only: it is priced as moving by at most high − low, whatever the sensitivity, and that is wrong for a
    vector, where each coordinate may move so far. Several values are several events.
    """

    scale: Fraction
    sensitivity: int
    low: int
    high: int
    neighbours: Neighbours

    def __init__(
        self,
        scale: Number,
        sensitivity: int,
        low: int,
        high: int,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        bottom = whole(low, "low", least=-(1 << 63))
        top = whole(high, "high", least=bottom + 1)
        d = whole(sensitivity, "sensitivity", least=1)
        fill(self, scale=positive(scale, "scale"), sensitivity=d, low=bottom, high=top)
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class GaussianNoise:
    """Gaussian noise of one variance in every coordinate; `squared_sensitivity` is Δ2², exact where Δ2 is a root.

    `step` is the width of the lattice it was sampled on in `dimension` coordinates; 0 stands for the continuous law.

    >>> from discreet.privacy import GaussianNoise
    >>> GaussianNoise.of(scale=10, sensitivity=1).variance
    Fraction(100, 1)
    """

    variance: Fraction
    squared_sensitivity: Fraction
    step: Fraction
    dimension: int
    neighbours: Neighbours

    def __init__(
        self,
        variance: Number,
        squared_sensitivity: Number,
        step: Number = 0,
        dimension: int = 1,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        v, d2 = positive(variance, "variance"), positive(squared_sensitivity, "squared_sensitivity")
        g = rational(step, "step")
        if g < 0:
            raise InvalidArgument(f"step must be at least 0, got {step}")
        fill(
            self,
            variance=v,
            squared_sensitivity=d2,
            step=g,
            dimension=whole(dimension, "dimension", least=1),
        )
        fill(self, neighbours=read_neighbours(neighbours))

    @classmethod
    def of(
        cls, scale: Number, sensitivity: Number, *, neighbours: Neighbours = ADD_REMOVE
    ) -> GaussianNoise:
        """Describe continuous Gaussian noise by its standard deviation and Δ2."""
        return cls(
            positive(scale, "scale") ** 2,
            positive(sensitivity, "sensitivity") ** 2,
            neighbours=neighbours,
        )


@frozen(init=False)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise on the integers, P(x) ∝ exp(−x²/2σ²), in `dimension` coordinates.

    `squared_sensitivity` is Δ2² in steps²; `linf` bounds the change of one coordinate (None: only Δ2 bounds it).
    """

    variance: Fraction
    squared_sensitivity: int
    dimension: int
    linf: int | None
    neighbours: Neighbours

    def __init__(
        self,
        variance: Number,
        squared_sensitivity: int,
        dimension: int = 1,
        linf: int | None = None,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        d2 = whole(squared_sensitivity, "squared_sensitivity", least=1)
        bound = None if linf is None else whole(linf, "linf", least=1)
        fill(self, variance=positive(variance, "variance"), squared_sensitivity=d2)
        fill(self, dimension=whole(dimension, "dimension", least=1), linf=bound)
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class BinomialNoise:
    """Centred binomial noise Bin(trials, ½) − trials/2 in every coordinate; `sensitivity` is Δ1 in whole steps."""

    trials: int
    sensitivity: int
    neighbours: Neighbours

    def __init__(
        self, trials: int, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        fill(
            self,
            trials=whole(trials, "trials", least=1),
            sensitivity=whole(sensitivity, "sensitivity", least=1),
        )
        fill(self, neighbours=read_neighbours(neighbours))
