"""MWEM: learn a histogram from the counting queries it gets most wrong, all of them known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice, gaussian, laplace
from ...privacy.events import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    Repeated,
    Sequence,
)
from ...privacy.measures import Measure, PureDP
from ...privacy.neighbours import REPLACE, Neighbours, read_neighbours
from ..laws.error_bound import named, read_beta
from ..laws.tails import gaussian_tail, laplace_tail, least_above
from ..reading.allowance import largest_epsilon
from ..reading.budget import read_budget
from ..selection.exponential import Exponential
from .hypothesis import MOST_PEOPLE, Hypothesis, counts_of, read_histogram, read_queries, updated

Noise: TypeAlias = Literal["laplace", "gaussian"]


@frozen(init=False)
class MWEM:
    """Select the query the belief gets most wrong, measure it, learn from it; `rounds` times.

    Hardt, Ligett, McSherry (2012). A round is one exponential mechanism at `epsilon` over all queries (score: the gap
    between the true and the rounded believed answer, a whole number that one person moves by at most 1) and one
    measurement with noise: discrete Laplace of scale 1/ε, or discrete Gaussian of deviation 2/ε, which costs as much
    zCDP as the selection (ε²/8). Learning is free; `passes` over all measurements so far make better use of them.

    >>> import discreet as dp
    >>> import numpy as np
    >>> mwem = dp.MWEM(domain=4, total=100, rounds=9, epsilon=1000, noise="laplace", passes=50)
    >>> belief = mwem.release(np.array([40, 30, 20, 10]), np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]]))
    >>> belief.answers(np.array([[1, 1, 0, 0], [1, 0, 0, 0]])).round(0).tolist()
    [70.0, 40.0]

    `total` is the declared, public number of people. Refuses bad parameters, a histogram that does not fit the domain,
    and queries that are not rows of zeros and ones, before any bit is drawn.
    """

    domain: int
    total: int
    rounds: int
    epsilon: Fraction
    noise: Noise
    passes: int
    neighbours: Neighbours

    __repr__ = named

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
        if noise not in ("laplace", "gaussian"):
            raise InvalidArgument(f"noise must be 'laplace' or 'gaussian', got {noise!r}")
        fill(
            self,
            domain=whole(domain, "domain", least=2),
            total=whole(total, "total", least=1, most=MOST_PEOPLE),
            rounds=whole(rounds, "rounds", least=1),
            epsilon=positive(epsilon, "epsilon"),
            noise=noise,
            passes=whole(passes, "passes", least=1),
            neighbours=read_neighbours(neighbours),
        )

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
        """Spend a budget over the rounds: discrete Laplace noise, ε/2·rounds, under PureDP; else Gaussian noise."""
        times = whole(rounds, "rounds", least=1)
        spent = read_budget(spend)
        noise: Noise = "laplace" if isinstance(spent, PureDP) else "gaussian"
        epsilon = largest_epsilon(
            lambda e: _event(e, noise, times, neighbours), spent, slots=2 * times
        )
        return cls(domain, total, times, epsilon, noise=noise, passes=passes, neighbours=neighbours)

    @property
    def event(self) -> Repeated:
        """What was done: `rounds` times one selection and one measurement."""
        return _event(self.epsilon, self.noise, self.rounds, self.neighbours)

    def release(
        self, histogram: NDArray[Any], queries: NDArray[Any], *, bits: Bits | None = None
    ) -> Hypothesis:
        """Learn a public histogram from the private one.

        With one pass the average of all rounds' beliefs is returned, which the bound of `error` is about; with more,
        the last belief.
        """
        truth, rows = read_histogram(histogram, self.domain), read_queries(queries, self.domain)
        true = counts_of(rows, truth).astype(np.int64)
        belief = np.full(self.domain, self.total / self.domain)
        mean, known = np.zeros(self.domain), dict[int, float]()
        for _ in range(self.rounds):
            believed = np.rint(counts_of(rows, belief)).astype(np.int64)
            at = exponential_choice(np.abs(true - believed), self.epsilon / 2, bits=bits)
            known[at] = self._measured(int(true[at]), bits)
            mean += belief / self.rounds
            belief = self._learn(belief, rows, at, known)
        return Hypothesis(mean if self.passes == 1 else belief)

    def _measured(self, true: int, bits: Bits | None) -> float:
        gauss = self.noise == "gaussian"
        drawn = (
            gaussian(4 / self.epsilon**2, bits=bits)
            if gauss
            else laplace(1 / self.epsilon, bits=bits)
        )
        return float(min(max(true + drawn, 0), self.total))  # a public range: post-processing

    def _learn(
        self, belief: NDArray[np.float64], rows: NDArray[Any], newest: int, known: dict[int, float]
    ) -> NDArray[np.float64]:
        belief = updated(belief, rows[newest], known[newest], self.total)
        for _ in range(self.passes - 1):
            for at, measured in known.items():
                belief = updated(belief, rows[at], measured, self.total)
        return belief

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound the greatest error over all queries of the one-pass belief, with probability at least 1 − β.

        √(4n² ln N/T + ν²) + s + 1: by `hypothesis.updated` the squared errors of the selected queries sum to at most
        4n² ln N + Tν²; every query's error is at most the selected one's, plus the selection's error s, plus 1 for
        rounding; the average belief is at most the average of these off (Jensen). ν and s hold in all rounds but for β.
        """
        share = Fraction(read_beta(beta)) / (2 * self.rounds)
        slack = Exponential(self.epsilon, 1, neighbours=self.neighbours).error(queries, share)
        tail = self._tail()
        nu = least_above(lambda z: 2 * tail(z + 1), float(share))
        return up(
            math.sqrt(4 * self.total**2 * math.log(self.domain) / self.rounds + nu**2) + slack + 1
        )

    def _tail(self) -> Callable[[int], float]:
        if self.noise == "gaussian":
            return lambda z: gaussian_tail(4 / self.epsilon**2, z)
        return lambda z: laplace_tail(1 / self.epsilon, z)


def _event(epsilon: Fraction, noise: Noise, rounds: int, neighbours: Neighbours) -> Repeated:
    measured = (
        DiscreteGaussianNoise(4 / epsilon**2, 1, neighbours=neighbours)
        if noise == "gaussian"
        else DiscreteLaplaceNoise(1 / epsilon, 1, neighbours=neighbours)
    )
    return Repeated(
        Sequence([ExponentialSelection(epsilon, neighbours=neighbours), measured]), rounds
    )
