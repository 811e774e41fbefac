"""Top-k selection by peeling: select a candidate privately, remove it, select again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import Number, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice
from ...noise.score_gaps import ScoreArray, scores_of
from ...privacy.events import ExponentialSelection, Repeated
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours
from ..laws.error_bound import read_beta
from ..reading.allowance import epsilon_for_error, largest_epsilon
from .exponential import Exponential, ScoreSelection, relative_weights


@frozen(init=False, repr=False)
class TopK(ScoreSelection):
    """Top-k selection: runs the exponential mechanism k times, removing each chosen candidate.

    Each of the k selections has `epsilon`. The law of the ordered answer is the one-shot law "add
    Gumbel noise of scale 1/rate once, report the k greatest in order" (Durfee, Rogers 2019): both
    draw without replacement with weights exp(rate·score). It is drawn by peeling, exactly.

    >>> import discreet as dp
    >>> dp.TopK(k=2, epsilon=1, sensitivity=1).release([0, 10**6, 2 * 10**6, 5]).tolist()
    [2, 1]

    Guarantee: k selections of bounded range ε, composed: kε under pure DP, kε²/8 under zCDP.
    Refuses: k below 1, fewer candidates than k, ε or Δ not above 0, NaN and infinite scores
    (InvalidArgument), before any bit is drawn.
    Law: tests/mechanisms/test_top_k.py::TestPrice, tests/mechanisms/test_top_k.py::TestLaw
    """

    k: int
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours

    def __init__(
        self,
        k: int,
        epsilon: Number,
        sensitivity: Number,
        *,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        ScoreSelection.__init__(
            self, epsilon, sensitivity, monotone=monotone, neighbours=neighbours
        )
        fill(self, k=whole(k, "k", least=1))

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        k: int,
        sensitivity: Number,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> TopK:
        """Spend a budget on all k selections.

        ε/k each under PureDP, the largest ε that fits under any other measure.

        >>> import discreet as dp
        >>> from discreet.privacy.measures import PureDP
        >>> dp.TopK.spending(PureDP(1), k=4, sensitivity=1).epsilon
        Fraction(1, 4)
        """
        times = whole(k, "k", least=1)

        def event_at(epsilon: Fraction) -> Repeated:
            selection = ExponentialSelection(epsilon, neighbours=neighbours)
            return Repeated(selection, times)

        epsilon = largest_epsilon(event_at, spend, slots=times)
        return cls(times, epsilon, sensitivity, monotone=monotone, neighbours=neighbours)

    @classmethod
    def for_error(
        cls,
        error: Number,
        *,
        k: int,
        options: int,
        sensitivity: Number,
        beta: Number = 0.05,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> TopK:
        """Take the least ε whose `error(options, beta)` is at most `error`.

        >>> import discreet as dp
        >>> dp.TopK.for_error(10, k=3, options=50, sensitivity=1).error(options=50) <= 10
        True
        """
        unit = cls(k, 1, sensitivity, monotone=monotone, neighbours=neighbours)
        unit_error = unit.error(whole(options, "options", least=2), beta)
        epsilon = epsilon_for_error(unit_error, error)
        return cls(k, epsilon, sensitivity, monotone=monotone, neighbours=neighbours)

    @property
    def event(self) -> Repeated:
        """The event to be priced: k selections, each knowing the ones before."""
        return Repeated(ExponentialSelection(self.epsilon, neighbours=self.neighbours), self.k)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> Integers:
        """Draw k different indices, the first chosen first."""
        values = self._read_scores(scores)
        remaining = np.arange(values.size)
        chosen = np.empty(self.k, dtype=np.int64)
        for position in range(self.k):
            drawn = exponential_choice(values[remaining], self.rate, bits=bits)
            chosen[position] = remaining[drawn]
            remaining = np.delete(remaining, drawn)
        return chosen

    def probability(self, scores: ScoreArray, order: Sequence[int]) -> float:
        """Return the probability of one ordered answer (Plackett, Luce).

        It is Π exp(rate·w_i)/Σ, each sum over those not chosen yet.

        >>> import discreet as dp
        >>> round(dp.TopK(k=2, epsilon=1, sensitivity=1).probability([3, 2, 0], [0, 1]), 4)
        0.3996
        """
        weights = relative_weights(self._read_scores(scores), self.rate)
        candidates = set(range(weights.size))
        if len(order) != self.k or len(set(order)) != self.k or not set(order) <= candidates:
            raise InvalidArgument(f"order must name {self.k} different candidates by their index")
        probability = 1.0
        for index in order:
            probability *= weights[index] / weights.sum()
            # Removed: later selections do not see it.
            weights[index] = 0.0
        return float(probability)

    def error(self, options: int, beta: Number = 0.05) -> float:
        """Bound how far the j-th choice falls below the j-th best score, for all j ≤ k at once.

        Holds with probability at least 1 − β. Each selection misses the best remaining candidate by
        the exponential mechanism's error at β/k (union bound). The best remaining candidate of the
        j-th selection is at least the j-th best of all.
        """
        each = Exponential(
            self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
        )
        beta_each = Fraction(read_beta(beta)) / self.k
        return each.error(whole(options, "options", least=self.k), beta_each)

    def _read_scores(self, scores: ScoreArray) -> Integers | Floats:
        values = scores_of(scores, self.rate).values
        if values.size < self.k:
            raise InvalidArgument(f"k = {self.k} needs at least as many candidates")
        return values
