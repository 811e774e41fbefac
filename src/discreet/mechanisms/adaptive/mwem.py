"""MWEM: learn a public histogram from noisy answers to the queries that it gets most wrong.

Multiplicative weights with the exponential mechanism, which selects those counting queries; all
queries are known beforehand.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats
from ...arithmetic.rational import Number, one_of, positive, whole
from ...arithmetic.rounding import up
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice, gaussian, laplace
from ...privacy.events import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    Repeated,
    Sequence,
)
from ...privacy.measures import REPLACE, Measure, Neighbours, PureDP, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.tails import gaussian_tail, laplace_tail, two_sided_bound
from ..reading.allowance import largest_epsilon
from ..reading.value import read_budget
from ..selection.exponential import Exponential
from .hypothesis import MAX_PEOPLE, Hypothesis, counts_of, read_histogram, read_queries, updated

Noise: TypeAlias = Literal["laplace", "gaussian"]


@frozen(init=False)
class MWEM:
    """MWEM: privately selects a query the belief gets wrong, measures it, learns; `rounds` times.

    Hardt, Ligett, McSherry (2012). A round is one exponential mechanism at `epsilon` over all
    queries (score: the gap between the true and the rounded believed answer, a whole number that
    one person moves by at most 1) and one measurement with noise: discrete Laplace of scale 1/ε, or
    discrete Gaussian of deviation 2/ε, which costs as much zCDP as the selection (ε²/8). Learning
    is post-processing; `passes` over all measurements so far make better use of them.

    >>> import discreet as dp
    >>> import numpy as np
    >>> mwem = dp.MWEM(domain=4, total=100, rounds=9, epsilon=1000, noise="laplace", passes=50)
    >>> belief = mwem.release(np.array([40, 30, 20, 10]), np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]]))
    >>> belief.answers(np.array([[1, 1, 0, 0], [1, 0, 0, 0]])).round(0).tolist()
    [70.0, 40.0]

    `total` is the declared, public number of people.

    Guarantee: `rounds` times one selection and one noisy count, composed.
    Refuses: bad parameters, a histogram that does not fit the domain, and queries that are not rows
    of zeros and ones (InvalidArgument), before any bit is drawn.
    Law: tests/mechanisms/test_mwem.py::TestPrice, tests/mechanisms/test_mwem.py::TestLearning
    """

    domain: int
    total: int
    rounds: int
    epsilon: Fraction
    noise: Noise
    passes: int
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self,
        domain: int,
        total: int,
        rounds: int,
        epsilon: Number,
        *,
        noise: Noise,
        passes: int = 1,
        neighbours: Neighbours = REPLACE,
    ) -> None:
        one_of(noise, "noise", "laplace", "gaussian")
        cells = whole(domain, "domain", least=2)
        people = whole(total, "total", least=1, most=MAX_PEOPLE)
        times = whole(rounds, "rounds", least=1)
        exact_epsilon = positive(epsilon, "epsilon")
        repeats = whole(passes, "passes", least=1)
        relation = read_neighbours(neighbours)
        fill(self, domain=cells, total=people, rounds=times, epsilon=exact_epsilon)
        fill(self, noise=noise, passes=repeats, neighbours=relation)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        domain: int,
        total: int,
        rounds: int,
        passes: int = 1,
        neighbours: Neighbours = REPLACE,
    ) -> MWEM:
        """Spend a budget over the rounds.

        Under PureDP with discrete Laplace noise at ε/(2·rounds), else with Gaussian noise.
        """
        times = whole(rounds, "rounds", least=1)
        spent = read_budget(spend)
        noise: Noise = "laplace" if isinstance(spent, PureDP) else "gaussian"

        def event_at(epsilon: Fraction) -> Repeated:
            return _event(epsilon, noise, times, neighbours)

        epsilon = largest_epsilon(event_at, spent, slots=2 * times)
        return cls(domain, total, times, epsilon, noise=noise, passes=passes, neighbours=neighbours)

    @property
    def event(self) -> Repeated:
        """The event to be priced: `rounds` times one selection and one measurement."""
        return _event(self.epsilon, self.noise, self.rounds, self.neighbours)

    def release(
        self, histogram: AnyArray, queries: AnyArray, *, bits: Bits | None = None
    ) -> Hypothesis:
        """Learn a public histogram from the private one.

        With one pass the average of all rounds' beliefs is returned, which the bound of `error` is
        about; with more, the last belief.
        """
        truth = read_histogram(histogram, self.domain)
        rows = read_queries(queries, self.domain)
        true = counts_of(rows, truth).astype(np.int64)
        belief = np.full(self.domain, self.total / self.domain)
        mean_belief = np.zeros(self.domain)
        known: dict[int, float] = {}
        for _ in range(self.rounds):
            # Rounded, so that the score is whole and one person moves it by at most 1.
            believed = np.rint(counts_of(rows, belief)).astype(np.int64)
            gaps = np.abs(true - believed)
            worst = exponential_choice(gaps, self.epsilon / 2, bits=bits)
            known[worst] = self._measured(int(true[worst]), bits)
            mean_belief += belief / self.rounds
            belief = self._learn(belief, rows, worst, known)
        return Hypothesis(mean_belief if self.passes == 1 else belief)

    def _measured(self, true: int, bits: Bits | None) -> float:
        """Return a count with noise, clamped to 0..total."""
        if self.noise == "gaussian":
            noisy = true + gaussian(self._variance, bits=bits)
        else:
            # Two-sided geometric noise, for a pure ε.
            noisy = true + laplace(self._scale, bits=bits)
        # Clamping to a public range is post-processing.
        return float(min(max(noisy, 0), self.total))

    @property
    def _scale(self) -> Fraction:
        """The scale of Laplace noise on a measurement."""
        return 1 / self.epsilon

    @property
    def _variance(self) -> Fraction:
        """The variance of Gaussian noise on a measurement."""
        return 4 / self.epsilon**2

    def _learn(
        self, belief: Floats, rows: AnyArray, newest: int, known: dict[int, float]
    ) -> Floats:
        """Return the belief after the newest measurement, and further passes over all so far."""
        belief = updated(belief, rows[newest], known[newest], self.total)
        for _ in range(self.passes - 1):
            for query, measured in known.items():
                belief = updated(belief, rows[query], measured, self.total)
        return belief

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound the greatest error over all queries of the one-pass belief.

        √(4n² ln N/T + ν²) + s + 1 with probability at least 1 − β: by `hypothesis.updated` the
        squared errors of the selected queries sum to at most 4n² ln N + Tν²; every query's error is
        at most the selected one's, plus the selection's error s, plus 1 for rounding; the average
        belief is at most the average of these off (Jensen). ν and s hold in all rounds but for β.
        """
        # Union bound over one selection and one measurement in every round.
        beta_each = Fraction(read_beta(beta)) / (2 * self.rounds)
        selection = Exponential(self.epsilon, 1, neighbours=self.neighbours)
        slack = selection.error(queries, beta_each)
        nu = two_sided_bound(self._tail, float(beta_each))
        entropy = 4 * self.total**2 * math.log(self.domain)
        selected = math.sqrt(entropy / self.rounds + nu**2)
        return up(selected + slack + 1)

    def _tail(self, z: int) -> float:
        """Bound P[noise ≥ z] of a measurement."""
        if self.noise == "gaussian":
            return gaussian_tail(self._variance, z)
        return laplace_tail(self._scale, z)


def _event(epsilon: Fraction, noise: Noise, rounds: int, neighbours: Neighbours) -> Repeated:
    """Return the event of all rounds at ε: one selection and one measurement each."""
    selection = ExponentialSelection(epsilon, neighbours=neighbours)
    measurement: DiscreteGaussianNoise | DiscreteLaplaceNoise
    if noise == "gaussian":
        # Variance 4/ε² costs ε²/8 of zCDP, as much as the selection.
        measurement = DiscreteGaussianNoise(4 / epsilon**2, 1, neighbours=neighbours)
    else:
        measurement = DiscreteLaplaceNoise(1 / epsilon, 1, neighbours=neighbours)
    return Repeated(Sequence([selection, measurement]), rounds)
