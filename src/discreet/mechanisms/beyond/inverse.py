"""Inverse sensitivity: answer a value the more likely, the fewer people must change to make it the true one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, rational
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, read_neighbours
from ..laws.error_bound import named
from ..reading.allowance import largest_epsilon
from ..selection.exponential import Exponential
from ..selection.score_runs import Piece, choose_piece
from .ordered import PLACES, Range


@frozen(init=False)
class InverseQuantile:
    """Choose among 2^32 + 1 public places by the exponential mechanism, with the distance in ranks as the score.

    w(o) = −max(0, qn − #{x ≤ o}, #{x < o} − qn): how many values must move to make o the q-quantile (the inverse
    sensitivity mechanism, Asi and Duchi 2020; the exponential quantile of Smith 2011). One person moves every w(o) by
    at most Δ = 1 under replace, max(q, 1 − q) under add/remove. Price: one selection of bounded range ε, pure DP.
    The score is constant between neighbouring values, so a piece is drawn with probability exactly proportional to
    length·exp(−rate·depth) (enclosed by integers, as many bits as the decision takes), then a place of it, uniformly.

    >>> import discreet as dp
    >>> median = dp.InverseQuantile(epsilon=1, low=0, high=100)
    >>> abs(median.release([49.5, 50.0, 50.5] * 2000) - 50) <= 0.5
    True

    Refuses ε not above 0, a quantile outside 0 … 1, bounds out of order, NaN.
    """

    epsilon: Fraction
    quantile: Fraction
    range: Range
    neighbours: Neighbours

    __repr__ = named

    def __init__(
        self,
        epsilon: Number,
        low: Number,
        high: Number,
        *,
        quantile: Number = Fraction(1, 2),
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        fill(
            self,
            epsilon=positive(epsilon, "epsilon"),
            quantile=rational(quantile, "quantile"),
            range=Range(low, high),
            neighbours=read_neighbours(neighbours),
        )
        if not 0 <= self.quantile <= 1:
            raise InvalidArgument("quantile must lie from 0 to 1; the median is 1/2")

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
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        epsilon = largest_epsilon(lambda e: ExponentialSelection(e, neighbours=neighbours), spend)
        return cls(epsilon, low, high, quantile=quantile, neighbours=neighbours)

    @property
    def sensitivity(self) -> Fraction:
        """How far one person moves the score: 1 under replace, max(q, 1 − q) under add/remove."""
        return Fraction(1) if self.neighbours == REPLACE else max(self.quantile, 1 - self.quantile)

    @property
    def event(self) -> ExponentialSelection:
        """What was done: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, values: object, *, bits: Bits | None = None) -> float:
        """Draw a piece, then a place of it."""
        pieces = self.pieces(self.range.sorted(values))
        rate = self.epsilon / (2 * self.sensitivity * self.quantile.denominator)
        piece = choose_piece(pieces, PLACES + 1, rate, bits=bits)
        return self.range.value(piece.start + uniform(piece.length, bits=bits))

    def pieces(self, ordered: NDArray[np.int64]) -> list[Piece]:
        """Cut the lattice at the values: each value is a piece, and so is each gap between two; the best first.

        Depths are whole numbers: the score times the quantile's denominator.
        """
        places, counts = np.unique(ordered, return_counts=True)
        below = np.concatenate(
            [[0], np.cumsum(counts)]
        )  # how many lie below each value, and below the end
        target, unit = self.quantile.numerator * ordered.size, self.quantile.denominator

        def depth(fewer: int, atmost: int) -> int:
            return max(0, target - unit * atmost, unit * fewer - target)

        found = [
            Piece(int(v), 1, depth(int(f), int(t)))
            for v, f, t in zip(places, below, below[1:], strict=False)
        ]
        ends = np.concatenate([[-1], places, [PLACES + 1]])
        gaps = zip(ends[:-1] + 1, np.diff(ends) - 1, below, strict=True)
        found += [Piece(int(s), int(m), depth(int(c), int(c))) for s, m, c in gaps if m > 0]
        return sorted(found, key=lambda piece: piece.depth)

    def error(self, beta: Number = 0.05) -> float:
        """Bound how many ranks the answer is off, with probability at least 1 − β: the exponential
        mechanism's error.
        """
        return Exponential(self.epsilon, self.sensitivity, neighbours=self.neighbours).error(
            PLACES + 1, beta
        )
