"""Private multiplicative weights: answer many counting queries from a public histogram.

Only a query that the histogram seems to answer wrongly (a surprise) is measured; that is an update.
"""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from functools import partial
from typing import NoReturn

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats
from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import BudgetExceeded, InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, laplace
from ...privacy.events import DiscreteLaplaceNoise, Repeated, Sequence
from ...privacy.events import SparseVector as SparseVectorEvent
from ...privacy.measures import REPLACE, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.tails import laplace_tail, two_sided_bound
from ..reading.allowance import largest_epsilon
from ..reading.steps import to_steps
from .hypothesis import MAX_PEOPLE, Hypothesis, counts_of, read_histogram, read_queries, updated
from .sparse_vector import SparseVector

# Queries compared at a time; those after a surprise in a block are asked again.
_BLOCK = 512


@frozen(init=False)
class MultiplicativeWeights:
    """Private multiplicative weights: compares each query with a public histogram, and corrects it.

    A round (Hardt, Rothblum 2010; Dwork, Roth 2014, §4.2): the sparse vector technique at `epsilon`
    waits for the first query whose true and believed answers seem to differ by `threshold`; that
    one is measured with two-sided geometric noise of scale 1/epsilon, and the histogram learns from
    it. All other answers are read off the public histogram. True answers are whole numbers and the
    believed one is rounded, so the comparison is exact on the integers; one person moves it by 1,
    under either neighbour relation.

    >>> import discreet as dp
    >>> import numpy as np
    >>> mw = dp.MultiplicativeWeights(domain=4, total=100, updates=2, epsilon=1000, threshold=5)
    >>> run = mw.start(np.array([40, 30, 20, 10]))
    >>> run.answer([1, 1, 0, 0]), run.left, round(run.answer([0, 0, 1, 1]), 1)
    (70.0, 1, 30.0)

    `total` is the declared, public number of people: a wrong one costs accuracy, not privacy.

    Guarantee: at most `updates` rounds, each one sparse vector run with one yes and one noisy
    count, composed: 2·updates·ε under pure DP; under (ε, δ) the cost grows with √updates.
    Refuses: bad parameters and queries that are not rows of zeros and ones (InvalidArgument); a run
    whose updates are used up refuses all queries (BudgetExceeded).
    Law: tests/mechanisms/test_weights.py::TestPrice, tests/mechanisms/test_weights.py::TestError
    """

    domain: int
    total: int
    updates: int
    epsilon: Fraction
    threshold: int
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self,
        domain: int,
        total: int,
        updates: int,
        epsilon: Number,
        threshold: int,
        *,
        neighbours: Neighbours = REPLACE,
    ) -> None:
        cells = whole(domain, "domain", least=2)
        people = whole(total, "total", least=1, most=MAX_PEOPLE)
        rounds = whole(updates, "updates", least=1)
        exact_epsilon = positive(epsilon, "epsilon")
        least_gap = whole(threshold, "threshold", least=1)
        relation = read_neighbours(neighbours)
        fill(self, domain=cells, total=people, updates=rounds)
        fill(self, epsilon=exact_epsilon, threshold=least_gap, neighbours=relation)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        domain: int,
        total: int,
        updates: int,
        queries: int,
        threshold: int | None = None,
        beta: Number = 0.05,
        neighbours: Neighbours = REPLACE,
    ) -> MultiplicativeWeights:
        """Spend a budget over `updates` rounds.

        The threshold is, unless given, the least that provably suffices: with it all of `queries`
        are answered within `error(queries, beta)` before the updates run out, but for a failure
        probability β. In practice far smaller thresholds do, at the risk of running out.
        """
        rounds = whole(updates, "updates", least=1)

        def event_at(epsilon: Fraction) -> Repeated:
            return _event(epsilon, rounds, neighbours)

        epsilon = largest_epsilon(event_at, spend, slots=2 * rounds)
        chosen = 1 if threshold is None else threshold
        made = cls(domain, total, rounds, epsilon, chosen, neighbours=neighbours)
        if threshold is not None:
            return made
        # The provable threshold depends on all parameters but the threshold itself.
        provable = made.provable(queries, beta)
        return cls(domain, total, rounds, epsilon, provable, neighbours=neighbours)

    @property
    def event(self) -> Repeated:
        """The event to be priced: at most `updates` rounds of one comparison run and one count."""
        return _event(self.epsilon, self.updates, self.neighbours)

    def start(self, histogram: AnyArray, *, bits: Bits | None = None) -> WeightsRun:
        """Start a run on a private histogram (whole counts over the public domain)."""
        return WeightsRun(self, histogram, bits=bits)

    def release(
        self, histogram: AnyArray, queries: AnyArray, *, bits: Bits | None = None
    ) -> Floats:
        """Answer the rows of `queries` in order, until the updates run out.

        The result then has fewer answers than there are queries.
        """
        return self.start(histogram, bits=bits).answer_all(queries)

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound the error of every answer given, of up to `queries`, with probability ≥ 1 − β.

        A believed answer is returned only where the comparison said no: within the threshold, its
        error and a rounding.
        """
        believed = self.threshold + self._comparison_error(queries, beta) + 0.5
        return up(max(believed, self._measurement_error(beta)))

    def provable(self, queries: int, beta: Number = 0.05) -> int:
        """Return the least threshold with which `updates` rounds provably suffice for `queries`.

        Holds with probability at least 1 − β. The belief starts uniform over the N = `domain`
        cells, so its relative entropy from the truth is at most ln N. A round closes
        ((a − h)² − (m − a)²)/4n² of it (`hypothesis.updated`), where a, h and m are the true, the
        believed and the measured answer and n = `total`. With |a − h| ≥ threshold − α and
        |m − a| ≤ ν this gives (threshold − α)² = 4n² ln N/updates + ν². Here α bounds the error
        of a comparison with ½ for rounding, ν the noise of a measurement.
        """
        nu = self._measurement_error(beta)
        entropy = 4 * self.total**2 * math.log(self.domain)
        drift = math.sqrt(entropy / self.updates + nu**2)
        # Rounded up: a higher threshold asks for fewer updates.
        alpha = self._comparison_error(queries, beta)
        return math.ceil(up(alpha + 0.5 + drift))

    def comparison(self) -> SparseVector:
        """Return the mechanism that waits for the next surprise."""
        return SparseVector(self.epsilon, 1, neighbours=self.neighbours)

    def _comparison_error(self, queries: int, beta: Number) -> float:
        """Bound the error of the comparisons of one round, at its part of β (union bound)."""
        beta_each = Fraction(read_beta(beta)) / (2 * self.updates)
        return self.comparison().error(queries, beta_each)

    def _measurement_error(self, beta: Number) -> float:
        """Bound the noise of one measurement, at its part of β (union bound)."""
        beta_each = read_beta(beta) / (2 * self.updates)
        return float(two_sided_bound(partial(laplace_tail, 1 / self.epsilon), beta_each))


class WeightsRun:
    """Run of multiplicative weights: private histogram, public belief, and the updates left.

    Guarantee: gives at most `updates` measurements, from one thread at a time.
    Refuses: a copy (InvalidArgument), and queries after the last update (BudgetExceeded).
    Law: tests/mechanisms/test_weights.py::TestRun,
    tests/mechanisms/test_weights.py::test_a_run_is_not_copied
    """

    __slots__ = ("_belief", "_bits", "_left", "_lock", "_mechanism", "_truth", "_waiting")

    def __init__(
        self, mechanism: MultiplicativeWeights, histogram: AnyArray, *, bits: Bits | None = None
    ) -> None:
        self._mechanism = mechanism
        self._bits = bits
        self._truth = read_histogram(histogram, mechanism.domain)
        self._belief = np.full(mechanism.domain, mechanism.total / mechanism.domain)
        self._left = mechanism.updates
        self._waiting = mechanism.comparison().start(mechanism.threshold, bits=bits)
        # Two threads must not both take the last update, nor learn at once.
        self._lock = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise InvalidArgument(
            "a run cannot be copied: the copy's updates would not be paid for; start another"
        )

    @property
    def left(self) -> int:
        """The number of updates left; at 0 the run is over."""
        return self._left

    @property
    def belief(self) -> Hypothesis:
        """The current public histogram."""
        return Hypothesis(self._belief.copy())

    def answer(self, query: object) -> float:
        """Answer one counting query, a row of zeros and ones.

        Refuses: several rows (InvalidArgument); `answer_all` answers those.
        """
        row = read_queries(query, self._mechanism.domain)
        if len(row) != 1:
            raise InvalidArgument(
                "answer takes one query, a row of zeros and ones; answer_all takes several"
            )
        return float(self.answer_all(row)[0])

    def answer_all(self, queries: object) -> Floats:
        """Answer the rows of an array in order, until the updates run out.

        The result then has fewer answers than rows.

        Refuses: a call after that (BudgetExceeded); `belief` can still be asked, without a bound on
        its error.
        """
        rows = read_queries(queries, self._mechanism.domain)
        with self._lock:
            if self._left == 0:
                raise BudgetExceeded(
                    "the updates of this run are used up; ask its belief", asked=1, left=0
                )
            blocks: list[Floats] = []
            answered = 0
            while answered < len(rows) and self._left:
                block = self._answer_block(rows[answered : answered + _BLOCK])
                blocks.append(block)
                answered += block.size
            if not blocks:
                return np.empty(0)
            return np.concatenate(blocks)

    def _answer_block(self, rows: AnyArray) -> Floats:
        """Answer rows up to and including the next surprise; the others are left unanswered."""
        believed = counts_of(rows, self._belief)
        true = counts_of(rows, self._truth)
        gaps = np.abs(true - np.rint(believed))
        exponent = self._mechanism.comparison().exponent
        gap_steps = to_steps(gaps.astype(np.int64), exponent)
        surprised = self._waiting.ask_places(gap_steps)
        # The comparison stops at its first yes: later rows have no answer yet.
        answers = believed[: surprised.size]
        if surprised[-1]:
            last = surprised.size - 1
            answers[-1] = self._measure(rows[last], int(true[last]))
        return answers

    def _measure(self, row: AnyArray, true: int) -> float:
        """Measure one query, learn from it, and wait for the next surprise."""
        mechanism = self._mechanism
        noisy = true + laplace(1 / mechanism.epsilon, bits=self._bits)
        # Clamping to a public range is post-processing.
        measured = float(min(max(noisy, 0), mechanism.total))
        self._belief = updated(self._belief, row, measured, mechanism.total)
        self._left -= 1
        if self._left:
            self._waiting = mechanism.comparison().start(mechanism.threshold, bits=self._bits)
        return measured


def _event(epsilon: Fraction, rounds: int, neighbours: Neighbours) -> Repeated:
    comparison = SparseVectorEvent(epsilon, 1, neighbours=neighbours)
    scale = 1 / rational(epsilon, "epsilon")
    measurement = DiscreteLaplaceNoise(scale, 1, neighbours=neighbours)
    return Repeated(Sequence([comparison, measurement]), rounds)
