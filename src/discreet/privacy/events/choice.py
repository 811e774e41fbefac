"""Events that choose among candidates, and black boxes known only by their promise."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..measures import Measure
from ..neighbours import ADD_REMOVE, Neighbours, read_neighbours


@frozen(init=False)
class ExponentialSelection:
    """The exponential mechanism: the log-odds of any two candidates move by at most ε (bounded range ε)."""

    epsilon: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: Number, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"), neighbours=read_neighbours(neighbours))


@frozen(init=False)
class PermuteAndFlipSelection:
    """Permute-and-flip, or report-noisy-max with exponential or Laplace noise, calibrated to ε."""

    epsilon: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: Number, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"), neighbours=read_neighbours(neighbours))


@frozen(init=False)
class Response:
    """Randomized response among `options`: the truth with probability e^ε/(e^ε + options − 1), else another, evenly."""

    epsilon: Fraction
    options: int
    neighbours: Neighbours

    def __init__(
        self, epsilon: Number, options: int = 2, *, neighbours: Neighbours = "replace"
    ) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"), options=whole(options, "options", least=2))
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class SparseVector:
    """AboveThreshold in the correct variant of Lyu, Su, Li (2017): any number of questions, `answers` positive ones."""

    epsilon: Fraction
    answers: int
    neighbours: Neighbours

    def __init__(
        self, epsilon: Number, answers: int = 1, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"), answers=whole(answers, "answers", least=1))
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class Promise:
    """A black box that keeps a promise of any measure."""

    measure: Measure
    neighbours: Neighbours

    def __init__(self, measure: Measure, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        if not isinstance(measure, Measure):
            raise InvalidArgument("Promise takes a measure such as PureDP(1) or ApproxDP(1, 1e-6)")
        fill(self, measure=measure, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class OwnCurve:
    """A black box known by points (ε, δ) of its privacy curve: at each listed ε it is (ε, δ)-DP, in both directions."""

    points: tuple[tuple[Fraction, Fraction], ...]
    neighbours: Neighbours

    def __init__(
        self, points: Iterable[tuple[Number, Number]], *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        exact = tuple(sorted((rational(e, "epsilon"), rational(d, "delta")) for e, d in points))
        if not exact or any(e < 0 or not 0 <= d < 1 for e, d in exact):
            raise InvalidArgument("OwnCurve needs at least one point (epsilon ≥ 0, 0 ≤ delta < 1)")
        fill(self, points=exact, neighbours=read_neighbours(neighbours))
