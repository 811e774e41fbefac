"""Inverse sensitivity mechanism for quantiles: draw a value by how near it is to being true.

A value is the likelier, the fewer rows would have to change to make it the quantile of the data.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from operator import attrgetter

import numpy as np

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import Number, positive
from ...frozen import fill, frozen
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection
from ...privacy.measures import ADD_REMOVE, REPLACE, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr
from ..reading.allowance import largest_epsilon
from ..selection.exponential import Exponential
from ..selection.score_runs import Piece, choose_piece
from .ordered import PLACES, Range, read_quantile


@frozen(init=False)
class InverseQuantile:
    """Exponential quantile: draws one of 2^32 + 1 public lattice points by its distance in ranks.

    The score w(o) = −max(0, qn − #{x ≤ o}, #{x < o} − qn) is minus how many values must change to
    make o the q-quantile. This is the inverse sensitivity mechanism (Asi, Duchi 2020), or the
    exponential quantile (Smith 2011). One person moves every w(o) by at most Δ = 1 under replace,
    max(q, 1 − q) under add/remove. The score is constant between neighbouring values. So a piece
    (one value, or the gap between two) is drawn with probability exactly proportional to
    length·exp(−rate·depth), enclosed by integers of as many bits as the decision takes; then a
    point of it, uniformly.

    >>> import discreet as dp
    >>> median = dp.InverseQuantile(epsilon=1, low=0, high=100)
    >>> abs(median.release([49.5, 50.0, 50.5] * 2000) - 50) <= 0.5
    True

    Guarantee: one release is a selection of bounded range ε, pure DP.
    Refuses: ε not above 0, a quantile outside 0 … 1, bounds out of order, NaN (InvalidArgument).
    Law: tests/mechanisms/test_inverse.py::TestPrice, tests/mechanisms/test_inverse.py::TestError
    """

    epsilon: Fraction
    quantile: Fraction
    range: Range
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self,
        epsilon: Number,
        low: Number,
        high: Number,
        *,
        quantile: Number = Fraction(1, 2),
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        exact_epsilon = positive(epsilon, "epsilon")
        bounds = Range(low, high)
        exact_quantile = read_quantile(quantile)
        relation = read_neighbours(neighbours)
        fill(self, epsilon=exact_epsilon, quantile=exact_quantile)
        fill(self, range=bounds, neighbours=relation)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        low: Number,
        high: Number,
        quantile: Number = Fraction(1, 2),
        neighbours: Neighbours = ADD_REMOVE,
    ) -> InverseQuantile:
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        event_at = partial(ExponentialSelection, neighbours=neighbours)
        epsilon = largest_epsilon(event_at, spend)
        return cls(epsilon, low, high, quantile=quantile, neighbours=neighbours)

    @property
    def sensitivity(self) -> Fraction:
        """The sensitivity of the score: 1 under replace, max(q, 1 − q) under add/remove."""
        larger_side = max(self.quantile, 1 - self.quantile)
        return Fraction(1) if self.neighbours == REPLACE else larger_side

    @property
    def event(self) -> ExponentialSelection:
        """The event to be priced: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, values: object, *, bits: Bits | None = None) -> float:
        """Draw a piece, then a point of it."""
        pieces = self.pieces(self.range.sorted(values))
        # Depths count in parts of 1/denominator, so the rate is divided by it.
        rate = self.epsilon / (2 * self.sensitivity * self.quantile.denominator)
        piece = choose_piece(pieces, PLACES + 1, rate, bits=bits)
        point = piece.start + uniform(piece.length, bits=bits)
        return self.range.value(point)

    def pieces(self, ordered: Integers) -> list[Piece]:
        """Cut the lattice at the values: each value is a piece, each gap is one; the best first.

        Depths are whole numbers: minus the score, times the quantile's denominator.
        """
        points, counts = np.unique(ordered, return_counts=True)
        # below[i] values lie below points[i]; the last entry counts all of them.
        below = np.concatenate([[0], np.cumsum(counts)])
        target = self.quantile.numerator * ordered.size
        unit = self.quantile.denominator

        def depth(fewer: int, at_most: int) -> int:
            return max(0, target - unit * at_most, unit * fewer - target)

        pieces = []
        # As Python integers: the products in `depth` may be wider than 64 bits.
        counted = below.tolist()
        for point, fewer, at_most in zip(points.tolist(), counted, counted[1:], strict=False):
            pieces.append(Piece(point, 1, depth(fewer, at_most)))
        ends = np.concatenate([[-1], points, [PLACES + 1]])
        starts = (ends[:-1] + 1).tolist()
        lengths = (np.diff(ends) - 1).tolist()
        for start, length, fewer in zip(starts, lengths, counted, strict=True):
            if length > 0:
                pieces.append(Piece(start, length, depth(fewer, fewer)))
        # Stable: pieces of equal depth stay in this order, which decides the draw.
        return sorted(pieces, key=attrgetter("depth"))

    def error(self, beta: Number = 0.05) -> float:
        """Bound how many ranks the answer is off, with probability at least 1 − β.

        It is the exponential mechanism's error.
        """
        selection = Exponential(self.epsilon, self.sensitivity, neighbours=self.neighbours)
        return selection.error(PLACES + 1, beta)
