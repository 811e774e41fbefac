"""Permute-and-flip: a selection of the same price as the exponential mechanism, and never worse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import fraction_up, up
from ...arithmetic.series import legendre
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, permute_and_flip
from ...noise.score_gaps import ScoreArray
from ...privacy.events import PermuteAndFlipSelection
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon
from .exponential import chances_of, gap_of, rate_of, read_selection

MOST_LISTED = 2000
"""The largest set of candidates whose exact law is computed (the quadrature takes half as many nodes)."""


@frozen(init=False)
class PermuteAndFlip:
    """Visit the candidates in random order; take the first whose coin of bias exp(ε(w − max w)/2Δ) falls heads.

    Price: ε-DP, or with exp(ε(w − max w)/Δ) for a monotone score (McKenna, Sheldon 2020). It has the law of
    report-noisy-max with exponential noise (Ding et al. 2021), and its error is stochastically at most that of the
    exponential mechanism at the same ε (McKenna, Sheldon 2020, dominance theorem).

    >>> import discreet as dp
    >>> pf = dp.PermuteAndFlip(epsilon=1, sensitivity=1)
    >>> pf.probabilities([3, 2, 0]).round(4).tolist()
    [0.6303, 0.2807, 0.089]
    >>> pf.release([0, 10_000, 0])
    1

    Refuses ε or Δ not above 0, no candidates, NaN and infinite scores, before any bit is drawn.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours

    __repr__ = named

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number,
        *,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        fill(self, **read_selection(epsilon, sensitivity, monotone=monotone, neighbours=neighbours))

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Number,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> PermuteAndFlip:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        epsilon = largest_epsilon(
            lambda e: PermuteAndFlipSelection(e, neighbours=neighbours), spend
        )
        return cls(epsilon, sensitivity, monotone=monotone, neighbours=neighbours)

    @classmethod
    def for_error(
        cls,
        error: Number,
        *,
        options: int,
        sensitivity: Number,
        beta: Number = 0.05,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> PermuteAndFlip:
        """Take the least ε whose `error(options, beta)` is at most `error`.

        >>> import discreet as dp
        >>> dp.PermuteAndFlip.for_error(10, options=4, sensitivity=1).error(options=4) <= 10
        True
        """
        unit = cls(1, sensitivity, monotone=monotone, neighbours=neighbours)
        ratio = fraction_up(unit.error(whole(options, "options", least=2), beta)) / positive(
            error, "error"
        )
        return cls(ratio, sensitivity, monotone=monotone, neighbours=neighbours)

    @property
    def rate(self) -> Fraction:
        """The factor of the score in the exponent: ε/2Δ, or ε/Δ for a monotone score."""
        return rate_of(
            self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
        )

    @property
    def event(self) -> PermuteAndFlipSelection:
        """What was done: one permute-and-flip at ε."""
        return PermuteAndFlipSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Draw one candidate's index, exactly from the law."""
        return permute_and_flip(scores, self.rate, bits=bits)

    def probabilities(self, scores: ScoreArray) -> NDArray[np.float64]:
        """Return the law: the chance of each candidate, for at most 2 000 of them."""
        return flip_law(scores, self.rate)

    def error(self, options: int, beta: Number = 0.05, optimal: int = 1) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β: exact for the worst
        scores, o = 1.

        The worst scores put all others at the same gap (moving a candidate there, heads or tails, never saves a
        choice). With n = m − 1 of them and p = e^(−rs), the best is chosen with probability
        ∫₀¹ (1 − pt)^n dt = (1 − (1 − p)^(n+1))/((n+1)p).
        For more best candidates: the smaller of that bound with the others unchanged and the exponential mechanism's.
        """
        chance = read_beta(beta)
        exponential = gap_of(options, chance, optimal)
        alone = _alone(whole(options, "options", least=1) - optimal, chance)
        return up(min(exponential, alone) / float(self.rate))


def flip_law(scores: ScoreArray, rate: Fraction) -> NDArray[np.float64]:
    """Return the law p_i ∫₀¹ Π_{j≠i} (1 − p_j t) dt, p_j = exp(rate(w_j − max w)).

    Give each candidate a uniform arrival time t: i is chosen if its coin falls heads and no earlier coin did. The
    integrand is a polynomial of degree m − 1, so Gauss–Legendre with ⌈m/2⌉ nodes is exact, and all terms are positive.

    >>> from discreet.mechanisms.selection.permute_and_flip import flip_law
    >>> from fractions import Fraction
    >>> flip_law([0, 0], Fraction(1)).tolist()
    [0.5, 0.5]
    """
    bias = chances_of(scores, rate)
    if bias.size > MOST_LISTED:
        raise InvalidArgument(
            f"the exact law is listed for at most {MOST_LISTED} candidates; release has no such limit"
        )
    nodes, weights = legendre(bias.size // 2 + 1)
    times = (nodes + 1) / 2
    logs = np.log1p(-np.outer(times, bias))
    others = np.exp(logs.sum(axis=1, keepdims=True) - logs)
    law: NDArray[np.float64] = bias * (weights / 2 @ others)
    return law


def _alone(others: int, beta: float) -> float:
    """Find the gap, in units of 1/rate, at which one best candidate among n + 1 is missed with probability β."""
    low, high = 0.0, max(0.0, math.log(max(others, 1) / (2 * beta)))  # P[missed] ≤ np/2
    if _missed(others, low) <= beta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _missed(others, middle) <= beta else (middle, high)
    return high


def _missed(others: int, gap: float) -> float:
    """Return P[the best is not chosen] a little from above: the closed form, or n p/2 where that would cancel."""
    p = math.exp(-gap)
    if (others + 1) * p < 1e-4:
        return others * p / 2
    tails = math.exp((others + 1) * math.log1p(-p)) if p < 1 else 0.0
    return (1 + 1e-6) * (1 - (1 - tails) / ((others + 1) * p))
