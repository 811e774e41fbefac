"""Events of private selection, and black boxes known only by their promise."""

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
    """Exponential mechanism: the log-odds of any two candidates move by at most ε.

    That property is called bounded range ε.
    """

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
    """Randomized response among `options`.

    The truth with probability e^ε/(e^ε + options − 1), else another option, evenly.
    """

    epsilon: Fraction
    options: int
    neighbours: Neighbours

    def __init__(
        self, epsilon: Number, options: int = 2, *, neighbours: Neighbours = "replace"
    ) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"))
        fill(self, options=whole(options, "options", least=2))
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class SparseVector:
    """Sparse vector technique (AboveThreshold) in the correct variant of Lyu, Su, Li (2017).

    Any number of questions, at most `answers` positive ones.
    """

    epsilon: Fraction
    answers: int
    neighbours: Neighbours

    def __init__(
        self, epsilon: Number, answers: int = 1, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"))
        fill(self, answers=whole(answers, "answers", least=1))
        fill(self, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class Promise:
    """Black box that keeps a promise of any measure."""

    measure: Measure
    neighbours: Neighbours

    def __init__(self, measure: Measure, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        if not isinstance(measure, Measure):
            raise InvalidArgument("Promise takes a measure such as PureDP(1) or ApproxDP(1, 1e-6)")
        fill(self, measure=measure, neighbours=read_neighbours(neighbours))


@frozen(init=False)
class OwnCurve:
    """Black box known by points (ε, δ) of its privacy curve.

    At each listed ε it is (ε, δ)-DP, in both directions.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    neighbours: Neighbours

    def __init__(
        self, points: Iterable[tuple[Number, Number]], *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        exact = list[tuple[Fraction, Fraction]]()
        for epsilon, delta in points:
            exact.append((rational(epsilon, "epsilon"), rational(delta, "delta")))
        if not exact or any(epsilon < 0 or not 0 <= delta < 1 for epsilon, delta in exact):
            raise InvalidArgument("OwnCurve needs at least one point (epsilon ≥ 0, 0 ≤ delta < 1)")
        # Sorted, so that equal curves are equal events with equal bytes.
        fill(self, points=tuple(sorted(exact)), neighbours=read_neighbours(neighbours))
