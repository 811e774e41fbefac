"""Events of additive noise: Laplace, geometric, Gaussian and binomial.

Each records the law of the noise, the sensitivity in the norm that prices it, and the neighbour
relation. Δ1, Δ2 and Δ∞ are sensitivities in the l1, l2 and maximum norm.
"""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import Number, not_negative, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..measures import ADD_REMOVE, Neighbours, read_neighbours


@frozen(init=False)
class LaplaceNoise:
    """Laplace noise of one scale in every coordinate; `sensitivity` is Δ1.

    `step` is the width of the lattice it was sampled on, a divisor of the sensitivity; 0 stands for
    the continuous law.

    >>> from discreet.privacy import LaplaceNoise
    >>> LaplaceNoise(scale=2, sensitivity=1).sensitivity
    Fraction(1, 1)

    Refuses: InvalidArgument for amounts that are not positive and for a step that does not divide
        the sensitivity.

    Law: tests/privacy/test_events.py::test_refusals
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
        fill(self, scale=positive(scale, "scale"))
        delta1 = positive(sensitivity, "sensitivity")
        fill(self, sensitivity=delta1, step=_read_step(step, delta1))
        fill(self, neighbours=read_neighbours(neighbours))


def _read_step(step: Number, sensitivity: Fraction) -> Fraction:
    width = rational(step, "step")
    # Prices count whole lattice steps in the sensitivity, so a remainder is not allowed.
    if width < 0 or (width > 0 and (sensitivity / width).denominator != 1):
        raise InvalidArgument("step must be 0 or divide the sensitivity into whole lattice steps")
    return width


@frozen(init=False)
class DiscreteLaplaceNoise:
    """Discrete Laplace noise on the integers, P(x) ∝ exp(−|x|/scale).

    `sensitivity` is Δ1 in whole steps.
    """

    scale: Fraction
    sensitivity: int
    neighbours: Neighbours

    def __init__(
        self, scale: Number, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        fill(self, sensitivity=whole(sensitivity, "sensitivity", least=1))
        fill(self, scale=positive(scale, "scale"), neighbours=read_neighbours(neighbours))


@frozen(init=False)
class TruncatedGeometricNoise:
    """Discrete Laplace noise on one value, clamped to the public range low..high.

    The true value lies in that range too. For one value only: it is priced as moving by at most
    high − low, whatever the sensitivity. That is wrong for a vector, where each coordinate may move
    so far. Several values are several events.
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
        fill(self, low=bottom, high=top)
        fill(self, sensitivity=whole(sensitivity, "sensitivity", least=1))
        fill(self, scale=positive(scale, "scale"), neighbours=read_neighbours(neighbours))

    @property
    def shift(self) -> int:
        """Most steps that the answer moves: a clamped answer moves by at most its range."""
        return min(self.sensitivity, self.high - self.low)


@frozen(init=False)
class GaussianNoise:
    """Gaussian noise of one variance in every coordinate.

    `squared_sensitivity` is Δ2², exact where Δ2 is a root. `step` is the width of the lattice that
    it was sampled on in `dimension` coordinates; 0 stands for the continuous law.

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
        fill(self, variance=positive(variance, "variance"))
        square = positive(squared_sensitivity, "squared_sensitivity")
        width = not_negative(step, "step")
        # A step need not divide Δ2 here: events of release 0.1.0 may hold such a one.
        fill(self, squared_sensitivity=square, step=width)
        fill(self, dimension=whole(dimension, "dimension", least=1))
        fill(self, neighbours=read_neighbours(neighbours))

    @classmethod
    def of(
        cls, scale: Number, sensitivity: Number, *, neighbours: Neighbours = ADD_REMOVE
    ) -> GaussianNoise:
        """Describe continuous Gaussian noise by its standard deviation and Δ2."""
        variance = positive(scale, "scale") ** 2
        square = positive(sensitivity, "sensitivity") ** 2
        return cls(variance, square, neighbours=neighbours)


@frozen(init=False)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise on the integers, P(x) ∝ exp(−x²/2σ²), in `dimension` coordinates.

    `squared_sensitivity` is Δ2² in steps²; `linf` bounds the change of one coordinate (None: only
    Δ2 bounds it).
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
        square = whole(squared_sensitivity, "squared_sensitivity", least=1)
        bound = None if linf is None else whole(linf, "linf", least=1)
        fill(self, variance=positive(variance, "variance"), squared_sensitivity=square)
        fill(self, dimension=whole(dimension, "dimension", least=1), linf=bound)
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class BinomialNoise:
    """Centred binomial noise Bin(trials, ½) − trials/2 in every coordinate.

    `sensitivity` is Δ1 in whole steps.
    """

    trials: int
    sensitivity: int
    neighbours: Neighbours

    def __init__(
        self, trials: int, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        fill(self, trials=whole(trials, "trials", least=1))
        fill(self, sensitivity=whole(sensitivity, "sensitivity", least=1))
        fill(self, neighbours=read_neighbours(neighbours))
