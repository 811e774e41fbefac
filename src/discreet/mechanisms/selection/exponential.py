"""The exponential mechanism: choose among public candidates, the better ones exponentially more often."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import fraction_up, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice
from ...noise.score_gaps import ScoreArray, scores_of
from ...privacy.events import ExponentialSelection
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon


@frozen(init=False)
class Exponential:
    """Select candidate o with probability ∝ exp(ε w(D, o)/2Δ), where Δ = max |w(D, o) − w(D', o)| over neighbours.

    Price: the log-odds of two candidates move by at most ε, which is ε-DP and (ε²/8)-zCDP (McSherry, Talwar 2007;
    Dong, Durfee, Rogers 2020). If the score is monotone (one person more moves every score the same way, as counts do)
    exp(ε w/Δ) has the same price: the two scores then move by 0 … Δ in one direction, not by Δ in two.

    >>> import discreet as dp
    >>> em = dp.Exponential(epsilon=1, sensitivity=1)
    >>> em.probabilities([3, 2, 0]).round(4).tolist()
    [0.5465, 0.3315, 0.122]
    >>> em.release([0, 10_000, 0])
    1

    A score is exactly the number handed in (an int, or a float's binary value), so Δ must hold for these numbers.
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
    ) -> Exponential:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure.

        Under ZCDP that is √(8ρ), and a little more where ρ is not small.
        """
        epsilon = largest_epsilon(lambda e: ExponentialSelection(e, neighbours=neighbours), spend)
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
        gap = gap_of(options, read_beta(beta), optimal)
        if gap == 0:
            raise InvalidArgument(
                "every option is as good as the best one at this beta; any epsilon will do"
            )
        rate = fraction_up(up(gap)) / positive(error, "error")
        unit = cls(1, sensitivity, monotone=monotone, neighbours=neighbours)
        return cls(rate / unit.rate, sensitivity, monotone=monotone, neighbours=neighbours)

    @property
    def rate(self) -> Fraction:
        """The factor of the score in the exponent: ε/2Δ, or ε/Δ for a monotone score."""
        return rate_of(
            self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
        )

    @property
    def event(self) -> ExponentialSelection:
        """What was done: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Draw one candidate's index, exactly from the law."""
        return exponential_choice(scores, self.rate, bits=bits)

    def probabilities(self, scores: ScoreArray) -> NDArray[np.float64]:
        """Return the law: the chance of each candidate, to about 15 digits."""
        return law_of(scores, self.rate)

    def error(self, options: int, beta: Number = 0.05, optimal: int = 1) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β: exact for the worst
        scores.

        With o best candidates and all others at a gap s, P[gap ≥ s] = (m − o)e^(−rs)/(o + (m − o)e^(−rs)), and no other
        scores make it larger: a candidate nearer to the best only adds to the denominator, a farther one weighs less.
        """
        return up(gap_of(options, read_beta(beta), optimal) / float(self.rate))

    def slack(self, options: int, t: float, optimal: int = 1) -> float:
        """Return the lectures' bound: w > OPT − (2Δ/ε)(ln(m/o) + t) with probability 1 − e^−t; looser than `error`.

        >>> import discreet as dp
        >>> round(dp.Exponential(epsilon=1, sensitivity=1).slack(options=4, t=3), 2)  # four nationalities
        8.77
        """
        m, o = _sizes(options, optimal)
        return up((math.log(m / o) + t) / float(self.rate))


def read_selection(
    epsilon: Number, sensitivity: Number, *, monotone: bool, neighbours: Neighbours
) -> dict[str, Fraction | bool | Neighbours]:
    """Read what every selection is told, by the names of its fields.

    Refuses ε or Δ not above 0, and a monotone score beside 'replace' neighbours.
    """
    e, d, relation = (
        positive(epsilon, "epsilon"),
        positive(sensitivity, "sensitivity"),
        read_neighbours(neighbours),
    )
    rate_of(e, d, monotone=monotone, neighbours=relation)
    return {"epsilon": e, "sensitivity": d, "monotone": bool(monotone), "neighbours": relation}


def rate_of(
    epsilon: Fraction, sensitivity: Fraction, *, monotone: bool, neighbours: Neighbours
) -> Fraction:
    """Return the rate of the score; a monotone score exists under add/remove only (replacing one moves both ways)."""
    if monotone and neighbours != ADD_REMOVE:
        raise InvalidArgument(
            "a score is monotone under 'add-remove' neighbours only; leave monotone out for 'replace'"
        )
    return epsilon / sensitivity if monotone else epsilon / (2 * sensitivity)


def law_of(scores: ScoreArray, rate: Fraction) -> NDArray[np.float64]:
    """Return exp(rate·score)/Σ, relative to the best score so that nothing overflows."""
    chances = chances_of(scores, rate)
    with np.errstate(under="ignore"):
        law: NDArray[np.float64] = chances / math.fsum(chances)
    return law


def chances_of(scores: ScoreArray, rate: Fraction) -> NDArray[np.float64]:
    """Return exp(rate·(score − best)) to float precision; for reports only, nothing is drawn from it."""
    with np.errstate(over="ignore", under="ignore"):
        found: NDArray[np.float64] = np.exp(
            -gaps_of(scores) * float(min(rate, Fraction(10) ** 300))
        )
    return found


def gaps_of(scores: ScoreArray) -> NDArray[np.float64]:
    """Return best − score, rounded once; ∞ where that is beyond floats.

    >>> from discreet.mechanisms.selection.exponential import gaps_of
    >>> gaps_of([2**63 - 1, -(2**63)]).tolist()
    [0.0, 1.8446744073709552e+19]
    """
    checked = scores_of(scores, 1)
    with np.errstate(over="ignore"):
        gaps = (
            checked.best - checked.values
        )  # 64-bit integers may wrap: then the true gap is the unsigned reading
    wide: NDArray[Any] = gaps.view(np.uint64) if gaps.dtype == np.int64 else gaps
    return wide.astype(np.float64)


def gap_of(options: int, beta: float, optimal: int) -> float:
    """Return the worst-case gap in units of 1/rate: the s with P[gap ≥ s] = β when all but the best lie at s."""
    m, o = _sizes(options, optimal)
    return 0.0 if m == o else max(0.0, math.log((m - o) / o) + math.log1p(-beta) - math.log(beta))


def _sizes(options: int, optimal: int) -> tuple[int, int]:
    m = whole(options, "options", least=1)
    return m, whole(optimal, "optimal", least=1, most=m)
