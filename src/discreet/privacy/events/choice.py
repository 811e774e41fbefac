"""Events of private selection, of black boxes known only by their promise, and of shuffled reports.

The shuffle model releases local reports without their senders, in random order.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..measures import ADD_REMOVE, REPLACE, Measure, Neighbours, read_neighbours


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

    Any number of questions, at most `answers` positive ones; `epsilon` is for all of them together.
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


@frozen(init=False)
class Shuffled:
    """Shuffled reports of at least n people, each ε-DP by itself; neighbours are "replace".

    A two-level mechanism reports a value v as one of |Y| outputs. Those in a set S_v are each e^ε
    times as likely as those outside. Its three sizes are stored in lowest terms: `outputs` |Y|,
    `inside` |S_v| and `shared` |S_u ∩ S_v|, the same for all values u ≠ v. None: only ε is known.
    Everything random in a report goes through the shuffler. n is a public lower bound of the number
    of honest reports.

    >>> from discreet.privacy import Shuffled
    >>> Shuffled(1, 10_000, outputs=20, inside=2, shared=0).outputs
    10

    Refuses: InvalidArgument for add/remove neighbours, and for sizes that no two-level mechanism
        has.
    """

    epsilon: Fraction
    n: int
    outputs: int | None
    inside: int | None
    shared: int | None
    neighbours: Neighbours

    def __init__(
        self,
        epsilon: Number,
        n: int,
        outputs: int | None = None,
        inside: int | None = None,
        shared: int | None = None,
        *,
        neighbours: Neighbours = REPLACE,
    ) -> None:
        if neighbours != REPLACE:
            raise InvalidArgument(
                "shuffled reports are priced for 'replace' neighbours: who takes part is public"
            )
        all_outputs, own, both = _read_sizes(outputs, inside, shared)
        fill(self, epsilon=positive(epsilon, "epsilon"), n=whole(n, "n", least=1))
        fill(self, outputs=all_outputs, inside=own, shared=both, neighbours=REPLACE)


def _read_sizes(
    outputs: int | None, inside: int | None, shared: int | None
) -> tuple[int | None, int | None, int | None]:
    """Return the sizes of a two-level mechanism in lowest terms; refuse impossible ones."""
    if outputs is None and inside is None and shared is None:
        return None, None, None
    if outputs is None or inside is None or shared is None:
        raise InvalidArgument("give outputs, inside and shared together, or none of them")
    total = whole(outputs, "outputs", least=2)
    own = whole(inside, "inside", least=1, most=total - 1)
    both = whole(shared, "shared", most=own - 1)
    # |S_u ∪ S_v| = 2|S_v| − |S_u ∩ S_v| must fit into Y.
    if 2 * own - both > total:
        raise InvalidArgument(
            "two sets of this size that share so little do not fit among the outputs"
        )
    # Lowest terms: the law of the counts depends on the ratios only.
    common = gcd(total, own, both)
    return total // common, own // common, both // common
