"""Permute-and-flip mechanism: at the same ε never less accurate than the exponential mechanism.

Under pure DP both cost ε; under other accountants the exponential mechanism of the same ε is
cheaper.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number, whole
from ...arithmetic.root_finder import bisect
from ...arithmetic.rounding import up
from ...arithmetic.series import legendre
from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits, permute_and_flip
from ...noise.score_gaps import ScoreArray
from ...privacy.events import PermuteAndFlipSelection
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours
from ..laws.error_bound import read_beta
from ..reading.allowance import epsilon_for_error, largest_epsilon
from .exponential import ScoreSelection, relative_weights, worst_gap

MAX_LISTED = 2000
"""The largest set of candidates whose exact law is computed; half as many nodes are needed."""


@frozen(init=False, repr=False)
class PermuteAndFlip(ScoreSelection):
    """Permute-and-flip mechanism: visits the candidates in random order, takes the first heads.

    The coin of a candidate has bias exp(ε(w − max w)/2Δ), or exp(ε(w − max w)/Δ) for a monotone
    score (McKenna, Sheldon 2020). The law is that of report-noisy-max with exponential noise (Ding
    et al. 2021). The error is stochastically at most that of the exponential mechanism at the same
    ε (McKenna, Sheldon 2020, dominance theorem).

    >>> import discreet as dp
    >>> pf = dp.PermuteAndFlip(epsilon=1, sensitivity=1)
    >>> pf.probabilities([3, 2, 0]).round(4).tolist()
    [0.6303, 0.2807, 0.089]
    >>> pf.release([0, 10_000, 0])
    1

    Guarantee: one release is ε-DP, drawn exactly from its law.
    Refuses: ε or Δ not above 0, no candidates, NaN and infinite scores (InvalidArgument), before
    any bit is drawn.
    Law: tests/mechanisms/test_permute_and_flip.py::TestPrice,
    tests/mechanisms/test_permute_and_flip.py::TestError
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Number,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> PermuteAndFlip:
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        event_at = partial(PermuteAndFlipSelection, neighbours=neighbours)
        epsilon = largest_epsilon(event_at, spend)
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
        unit_error = unit.error(whole(options, "options", least=2), beta)
        epsilon = epsilon_for_error(unit_error, error)
        return cls(epsilon, sensitivity, monotone=monotone, neighbours=neighbours)

    @property
    def event(self) -> PermuteAndFlipSelection:
        """The event to be priced: one permute-and-flip at ε."""
        return PermuteAndFlipSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Draw one candidate's index, exactly from the law."""
        return permute_and_flip(scores, self.rate, bits=bits)

    def probabilities(self, scores: ScoreArray) -> Floats:
        """Return the law: the probability of each candidate, for at most 2 000 of them."""
        return flip_law(scores, self.rate)

    def error(self, options: int, beta: Number = 0.05, optimal: int = 1) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β.

        Exact for the worst scores where o = `optimal` is 1. The worst scores put all others at the
        same gap (moving a candidate there, heads or tails, never saves a choice). With n = m − 1 of
        them and p = e^(−rs), the best is chosen with probability
        ∫₀¹ (1 − pt)^n dt = (1 − (1 − p)^(n+1))/((n+1)p).
        For more best candidates: the smaller of that bound, at n = m − o, and the exponential
        mechanism's.
        """
        probability = read_beta(beta)
        exponential_gap = worst_gap(options, probability, optimal)
        others = whole(options, "options", least=1) - optimal
        single_best_gap = _gap_of_single_best(others, probability)
        return up(min(exponential_gap, single_best_gap) / float(self.rate))


def check_listed(candidates: int) -> None:
    """Refuse to list the exact law of more than 2 000 candidates (InvalidArgument)."""
    if candidates > MAX_LISTED:
        raise InvalidArgument(
            f"the exact law is listed for at most {MAX_LISTED} candidates; release has no such limit"
        )


def flip_law(scores: ScoreArray, rate: Fraction) -> Floats:
    """Return the law p_i ∫₀¹ Π_{j≠i} (1 − p_j t) dt, p_j = exp(rate(w_j − max w)).

    Give each candidate a uniform arrival time t: i is chosen if its coin falls heads and no earlier
    coin did. The integrand is a polynomial of degree m − 1, so Gauss–Legendre quadrature with
    ⌈m/2⌉ nodes is exact, and all terms are positive.

    >>> from discreet.mechanisms.selection.permute_and_flip import flip_law
    >>> from fractions import Fraction
    >>> flip_law([0, 0], Fraction(1)).tolist()
    [0.5, 0.5]
    """
    bias = relative_weights(scores, rate)
    check_listed(bias.size)
    nodes, weights = legendre(bias.size // 2 + 1)
    # From the interval −1 … 1 of the quadrature to the arrival times 0 … 1.
    times = (nodes + 1) / 2
    logs = np.log1p(-np.outer(times, bias))
    # The product over j ≠ i as a sum of logarithms less the candidate's own.
    others = np.exp(logs.sum(axis=1, keepdims=True) - logs)
    law: Floats = bias * (weights / 2 @ others)
    return law


def _gap_of_single_best(others: int, beta: float) -> float:
    """Find the gap, in units of 1/rate, at which a single best one is missed with probability β."""

    def is_likely(gap: float) -> bool:
        return _miss_probability(others, gap) > beta

    if not is_likely(0.0):
        return 0.0
    # P[missed] ≤ np/2 with p = e^(−gap) gives an upper end.
    ratio = max(others, 1) / (2 * beta)
    high = max(0.0, math.log(ratio))
    # 60 halvings reach the last bits of a float. At the upper end the probability is at most β.
    return bisect(is_likely, 0.0, high, 60)[1]


def _miss_probability(others: int, gap: float) -> float:
    """Bound P[the best is not chosen] from above: the closed form, or np/2 where that cancels."""
    p = math.exp(-gap)
    if (others + 1) * p < 1e-4:
        return others * p / 2
    candidates = others + 1
    all_tails = math.exp(candidates * math.log1p(-p)) if p < 1 else 0.0
    missed = 1 - (1 - all_tails) / (candidates * p)
    # A relative 1e-6 is above what the difference of two numbers near 1 loses here.
    return (1 + 1e-6) * missed
