"""Private multiplicative weights: answer very many counting queries, and pay only for the surprises."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import BudgetExceeded, InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, laplace
from ...privacy.events import DiscreteLaplaceNoise, Repeated, Sequence
from ...privacy.events import SparseVector as SparseVectorEvent
from ...privacy.measures import Measure
from ...privacy.neighbours import REPLACE, Neighbours, read_neighbours
from ..laws.error_bound import named, read_beta
from ..laws.tails import laplace_tail, least_above
from ..reading.allowance import largest_epsilon
from ..reading.steps import steps
from .hypothesis import MOST_PEOPLE, Hypothesis, counts_of, read_histogram, read_queries, updated
from .sparse_vector import SparseVector

_BLOCK = 512


@frozen(init=False)
class MultiplicativeWeights:
    """Keep a public histogram; compare each query's true answer with it, and correct it where they are far apart.

    A round (Hardt, Rothblum 2010; Dwork, Roth 2014, §4.2): the sparse vector technique at `epsilon` waits for the first
    query whose true and believed answers seem to differ by `threshold`; that one is measured with two-sided geometric
    noise of scale 1/epsilon, and the histogram learns from it. All other answers are read off the public histogram.
    Price: at most `updates` rounds, each one sparse vector run with one yes and one noisy count, composed: 2·updates·ε
    under pure DP, about √updates as much under (ε, δ). True answers are whole numbers and the believed one is rounded,
    so the comparison is exact on the integers; one person moves it by 1, under either neighbour relation.

    >>> import discreet as dp
    >>> import numpy as np
    >>> mw = dp.MultiplicativeWeights(domain=4, total=100, updates=2, epsilon=1000, threshold=5)
    >>> run = mw.start(np.array([40, 30, 20, 10]))
    >>> run.answer([1, 1, 0, 0]), run.left, round(run.answer([0, 0, 1, 1]), 1)
    (70.0, 1, 30.0)

    `total` is the declared, public number of people: a wrong one costs accuracy, not privacy. Refuses bad parameters
    and queries that are not rows of zeros and ones; a run whose updates are used up refuses all (BudgetExceeded).
    """

    domain: int
    total: int
    updates: int
    epsilon: Fraction
    threshold: int
    neighbours: Neighbours

    __repr__ = named

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
        fill(
            self,
            domain=whole(domain, "domain", least=2),
            total=whole(total, "total", least=1, most=MOST_PEOPLE),
            updates=whole(updates, "updates", least=1),
            epsilon=positive(epsilon, "epsilon"),
            threshold=whole(threshold, "threshold", least=1),
            neighbours=read_neighbours(neighbours),
        )

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
        """Spend a budget over `updates` rounds; the threshold is, unless given, the least that provably suffices.

        With it, all of `queries` are answered within `error(queries, beta)` before the updates run out, but for a
        chance β. In practice far smaller thresholds do, at the risk of running out.
        """
        rounds = whole(updates, "updates", least=1)
        epsilon = largest_epsilon(lambda e: _event(e, rounds, neighbours), spend, slots=2 * rounds)
        made = cls(
            domain,
            total,
            rounds,
            epsilon,
            1 if threshold is None else threshold,
            neighbours=neighbours,
        )
        if threshold is not None:
            return made
        return cls(
            domain, total, rounds, epsilon, made.provable(queries, beta), neighbours=neighbours
        )

    @property
    def event(self) -> Repeated:
        """What was done: at most `updates` rounds of one comparison run and one measurement."""
        return _event(self.epsilon, self.updates, self.neighbours)

    def start(self, histogram: NDArray[Any], *, bits: Bits | None = None) -> WeightsRun:
        """Start a run on a private histogram (whole counts over the public domain)."""
        return WeightsRun(self, histogram, bits=bits)

    def release(
        self, histogram: NDArray[Any], queries: NDArray[Any], *, bits: Bits | None = None
    ) -> NDArray[np.float64]:
        """Answer the rows of `queries` in order, up to where the updates run out."""
        return self.start(histogram, bits=bits).answer_all(queries)

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound the error of every answer given, of up to `queries`, with probability at least 1 − β.

        A believed answer is returned only where the comparison said no: within the threshold, its error and a rounding.
        """
        return up(
            max(self.threshold + self._comparison(queries, beta) + 0.5, self._measurement(beta))
        )

    def provable(self, queries: int, beta: Number = 0.05) -> int:
        """Return the least threshold with which `updates` rounds provably suffice for `queries`, with probability at
        least 1 − β.

        The belief starts at most ln N from the truth in relative entropy. A round closes ((a − h)² − (m − a)²)/4n² of
        it (`hypothesis.updated`), with |a − h| ≥ threshold − α, |m − a| ≤ ν: (threshold − α)² = 4n² ln N/updates + ν².
        """
        nu = self._measurement(beta)
        drift = math.sqrt(4 * self.total**2 * math.log(self.domain) / self.updates + nu**2)
        return math.ceil(up(self._comparison(queries, beta) + 0.5 + drift))

    def comparison(self) -> SparseVector:
        """Return the mechanism that waits for the next surprise."""
        return SparseVector(self.epsilon, 1, neighbours=self.neighbours)

    def _comparison(self, queries: int, beta: Number) -> float:
        share = Fraction(read_beta(beta)) / (2 * self.updates)
        return self.comparison().error(queries, share)

    def _measurement(self, beta: Number) -> float:
        share = read_beta(beta) / (2 * self.updates)
        return float(least_above(lambda z: 2 * laplace_tail(1 / self.epsilon, z + 1), share))


class WeightsRun:
    """A run under way: a private histogram, a public belief, and the updates that are left; it cannot be copied."""

    __slots__ = ("_belief", "_bits", "_left", "_lock", "_mechanism", "_truth", "_waiting")

    def __init__(
        self, mechanism: MultiplicativeWeights, histogram: NDArray[Any], *, bits: Bits | None = None
    ) -> None:
        self._mechanism = mechanism
        self._bits = bits
        self._truth = read_histogram(histogram, mechanism.domain)
        self._belief = np.full(mechanism.domain, mechanism.total / mechanism.domain)
        self._left = mechanism.updates
        self._waiting = mechanism.comparison().start(mechanism.threshold, bits=bits)
        self._lock = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise InvalidArgument(
            "a run cannot be copied: the copy's updates would not be paid for; start another"
        )

    @property
    def left(self) -> int:
        """How many updates are left; at 0 the run is over."""
        return self._left

    @property
    def belief(self) -> Hypothesis:
        """The public histogram as it stands."""
        return Hypothesis(self._belief.copy())

    def answer(self, query: object) -> float:
        """Answer one counting query, a row of zeros and ones.

        Refuses several rows: `answer_all` answers those.
        """
        row = read_queries(query, self._mechanism.domain)
        if len(row) != 1:
            raise InvalidArgument(
                "answer takes one query, a row of zeros and ones; answer_all takes several"
            )
        return float(self.answer_all(row)[0])

    def answer_all(self, queries: object) -> NDArray[np.float64]:
        """Answer the rows of an array in order, up to where the updates run out.

        Refuses when they have: `belief` can still be asked, without a bound on its error.
        """
        rows = read_queries(queries, self._mechanism.domain)
        with self._lock:
            if self._left == 0:
                raise BudgetExceeded(
                    "the updates of this run are used up; ask its belief", asked=1, left=0
                )
            found: list[NDArray[np.float64]] = []
            at = 0
            while at < len(rows) and self._left:
                found.append(self._block(rows[at : at + _BLOCK]))
                at += found[-1].size
            return np.concatenate(found) if found else np.empty(0)

    def _block(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Answer as many rows as come before the next surprise, and that one."""
        believed, true = counts_of(rows, self._belief), counts_of(rows, self._truth)
        gaps = np.abs(true - np.rint(believed)).astype(np.int64)
        surprised = self._waiting.ask_places(steps(gaps, self._mechanism.comparison().exponent))
        answers = believed[: surprised.size]
        if surprised[-1]:
            answers[-1] = self._measure(rows[surprised.size - 1], int(true[surprised.size - 1]))
        return answers

    def _measure(self, row: NDArray[Any], true: int) -> float:
        """Measure one query, learn from it, and wait for the next surprise."""
        mechanism = self._mechanism
        noisy = true + laplace(1 / mechanism.epsilon, bits=self._bits)
        measured = float(min(max(noisy, 0), mechanism.total))  # a public range: post-processing
        self._belief = updated(self._belief, row, measured, mechanism.total)
        self._left -= 1
        if self._left:
            self._waiting = mechanism.comparison().start(mechanism.threshold, bits=self._bits)
        return measured


def _event(epsilon: Fraction, rounds: int, neighbours: Neighbours) -> Repeated:
    noise = DiscreteLaplaceNoise(1 / rational(epsilon, "epsilon"), 1, neighbours=neighbours)
    return Repeated(Sequence([SparseVectorEvent(epsilon, 1, neighbours=neighbours), noise]), rounds)
