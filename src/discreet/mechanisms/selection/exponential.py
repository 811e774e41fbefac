"""Exponential mechanism: choose a public candidate with probability ∝ exp(rate·private score).

`ScoreSelection` is the base class of the mechanisms that select by scores.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats
from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import fraction_up, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice
from ...noise.score_gaps import ScoreArray, scores_of
from ...privacy.events import ExponentialSelection
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..reading.allowance import largest_epsilon

# Larger rates are cut to this for reports: any gap above 1e-297 then has weight 0 anyway.
_MAX_REPORTED_RATE = Fraction(10) ** 300


class ScoreSelection:
    """Base of the mechanisms that select by scores: ε, the sensitivity Δ of a score, and the rate.

    A monotone score exists under add/remove only: replacing one person moves scores both ways.

    Refuses: ε or Δ not above 0, and a monotone score with 'replace' neighbours (InvalidArgument).
    """

    __slots__ = ()

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number,
        *,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        e = positive(epsilon, "epsilon")
        d = positive(sensitivity, "sensitivity")
        relation = read_neighbours(neighbours)
        if monotone and relation != ADD_REMOVE:
            raise InvalidArgument(
                "a score is monotone under 'add-remove' neighbours only; leave monotone out for 'replace'"
            )
        fill(self, epsilon=e, sensitivity=d, monotone=bool(monotone), neighbours=relation)

    @property
    def rate(self) -> Fraction:
        """The factor of the score in the exponent: ε/2Δ, or ε/Δ for a monotone score."""
        if self.monotone:
            return self.epsilon / self.sensitivity
        return self.epsilon / (2 * self.sensitivity)


@frozen(init=False, repr=False)
class Exponential(ScoreSelection):
    """Exponential mechanism: selects candidate o with probability ∝ exp(ε w(D, o)/2Δ).

    Δ = max |w(D, o) − w(D', o)| over neighbours. Price: the log-odds of two candidates move by at
    most ε, which is ε-DP and (ε²/8)-zCDP (McSherry, Talwar 2007; Dong, Durfee, Rogers 2020). If the
    score is monotone (one person more moves every score the same way, as counts do) exp(ε w/Δ) has
    the same price: the two scores then move by 0 … Δ in one direction, not by Δ in two.

    >>> import discreet as dp
    >>> em = dp.Exponential(epsilon=1, sensitivity=1)
    >>> em.probabilities([3, 2, 0]).round(4).tolist()
    [0.5465, 0.3315, 0.122]
    >>> em.release([0, 10_000, 0])
    1

    A score is exactly the given number (an int, or a float's binary value), so Δ must hold for
    these numbers.

    Guarantee: one release is a selection of bounded range ε, drawn exactly from its law.
    Refuses: ε or Δ not above 0, no candidates, NaN and infinite scores (InvalidArgument), before
    any bit is drawn.
    Law: tests/mechanisms/test_exponential.py::TestPrice,
    tests/mechanisms/test_exponential.py::TestLaw, tests/mechanisms/test_exponential.py::TestError
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
    ) -> Exponential:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure.

        Under ZCDP that is √(8ρ), and a little more where ρ is not small.
        """
        event_at = partial(ExponentialSelection, neighbours=neighbours)
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
        optimal: int = 1,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> Exponential:
        """Take the least ε whose `error(options, beta, optimal)` is at most `error`.

        >>> import discreet as dp
        >>> dp.Exponential.for_error(10, options=4, sensitivity=1).error(options=4) <= 10
        True
        """
        gap = worst_gap(options, read_beta(beta), optimal)
        if gap == 0:
            raise InvalidArgument(
                "every option is as good as the best one at this beta; any epsilon will do"
            )
        # Rounded up twice: `error` rounds its bound up too, and must stay below the request.
        rate = fraction_up(up(gap)) / positive(error, "error")
        unit = cls(1, sensitivity, monotone=monotone, neighbours=neighbours)
        return cls(rate / unit.rate, sensitivity, monotone=monotone, neighbours=neighbours)

    @property
    def event(self) -> ExponentialSelection:
        """The event to be priced: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Draw one candidate's index, exactly from the law."""
        return exponential_choice(scores, self.rate, bits=bits)

    def probabilities(self, scores: ScoreArray) -> Floats:
        """Return the law: the probability of each candidate, to about 15 digits."""
        return selection_law(scores, self.rate)

    def error(self, options: int, beta: Number = 0.05, optimal: int = 1) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β.

        Exact for the worst scores. With o best candidates and all others at a gap s,
        P[gap ≥ s] = (m − o)e^(−rs)/(o + (m − o)e^(−rs)), and no other scores make it larger: a
        candidate nearer to the best only adds to the denominator, a farther one weighs less.
        """
        gap = worst_gap(options, read_beta(beta), optimal)
        return up(gap / float(self.rate))

    def slack(self, options: int, t: float, optimal: int = 1) -> float:
        """Return the lectures' bound, looser than `error`.

        w > OPT − (2Δ/ε)(ln(m/o) + t) with probability 1 − e^−t.

        >>> import discreet as dp
        >>> round(dp.Exponential(epsilon=1, sensitivity=1).slack(options=4, t=3), 2)  # four nationalities
        8.77
        """
        m, o = _read_sizes(options, optimal)
        gap = math.log(m / o) + t
        return up(gap / float(self.rate))


def selection_law(scores: ScoreArray, rate: Fraction) -> Floats:
    """Return exp(rate·score)/Σ, relative to the best score so that nothing overflows."""
    weights = relative_weights(scores, rate)
    with np.errstate(under="ignore"):
        law: Floats = weights / math.fsum(weights)
    return law


def relative_weights(scores: ScoreArray, rate: Fraction) -> Floats:
    """Return exp(rate·(score − best)) to float precision; for reports only, never for a draw."""
    float_rate = float(min(rate, _MAX_REPORTED_RATE))
    with np.errstate(over="ignore", under="ignore"):
        weights: Floats = np.exp(-gaps_below_best(scores) * float_rate)
    return weights


def gaps_below_best(scores: ScoreArray) -> Floats:
    """Return best − score, rounded once; ∞ where that is beyond floats.

    >>> from discreet.mechanisms.selection.exponential import gaps_below_best
    >>> gaps_below_best([2**63 - 1, -(2**63)]).tolist()
    [0.0, 1.8446744073709552e+19]
    """
    checked = scores_of(scores, 1)
    with np.errstate(over="ignore"):
        gaps: AnyArray = checked.best - checked.values
    # 64-bit integers may wrap around: the unsigned reading is then the true gap.
    if gaps.dtype == np.int64:
        gaps = gaps.view(np.uint64)
    return gaps.astype(np.float64)


def worst_gap(options: int, beta: float, optimal: int) -> float:
    """Return the worst-case gap in units of 1/rate.

    It is the s with P[gap ≥ s] = β when all candidates but the best lie at s.
    """
    m, o = _read_sizes(options, optimal)
    if m == o:
        return 0.0
    # ln((m − o)/o · (1 − β)/β), below 0 where even a random choice is right often enough.
    log_others = math.log((m - o) / o)
    log_ratio = log_others + math.log1p(-beta)
    return max(0.0, log_ratio - math.log(beta))


def _read_sizes(options: int, optimal: int) -> tuple[int, int]:
    """Read the number of candidates, and of best ones among them."""
    m = whole(options, "options", least=1)
    return m, whole(optimal, "optimal", least=1, most=m)
