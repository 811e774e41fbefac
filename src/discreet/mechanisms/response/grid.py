"""Randomized response for a place on a k × k grid; the score knows only right or wrong, or it knows the distance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice
from ...privacy.events import Promise, Response
from ...privacy.measures import Measure, PureDP
from ...privacy.neighbours import REPLACE
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon
from .randomized import RandomizedResponse, read_answers

Score: TypeAlias = Literal["uniform", "distance"]
Place: TypeAlias = tuple[int, int]


@frozen(init=False)
class GridResponse:
    """Report a cell (row, column) of a k × k grid: the exponential mechanism with a uniform or a distance score.

    uniform: the true cell with probability e^ε/(e^ε + k² − 1), every other with 1/(e^ε + k² − 1).
    distance: cell (x, y) with probability ∝ exp(−r(|i − x| + |j − y|)), r = ε/(2(k − 1)). Price exactly ε, half of what
    the general theorem charges: the rows and columns are independent, and along one line of k cells the loss
    r|i − i'| + ln z(i')/z(i), z(i) = Σ_o e^(−r|i − o|), is greatest from corner to corner: r·i' + ln z(i') grows with
    i', and −(r·i + ln z(i)) falls with i; at the corners z(i') = z(i), and the loss is r(k − 1).

    >>> import discreet as dp
    >>> round(dp.GridResponse(side=10, epsilon="1.0986122886681098").truth, 6)  # ε = ln 3: 3/102
    0.029412
    >>> dp.GridResponse(side=10, epsilon=10_000, score="distance").release((3, 4))
    (3, 4)

    Refuses a side below 2, ε not above 0, another score, and places off the grid, before any bit is drawn.
    """

    side: int
    epsilon: Fraction
    score: Score

    __repr__ = named

    def __init__(self, side: int, epsilon: Number, score: Score = "uniform") -> None:
        if score not in ("uniform", "distance"):
            raise InvalidArgument(f"score must be 'uniform' or 'distance', got {score!r}")
        fill(
            self,
            side=whole(side, "side", least=2, most=1000),
            epsilon=positive(epsilon, "epsilon"),
            score=score,
        )

    @classmethod
    def spending(cls, spend: Measure, *, side: int, score: Score = "uniform") -> GridResponse:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        return cls(side, largest_epsilon(lambda e: cls(side, e, score).event, spend), score)

    @property
    def rate(self) -> Fraction:
        """How fast the distance score falls: the loss of the two farthest cells is rate·2(k − 1) = ε."""
        return self.epsilon / (2 * (self.side - 1))

    @property
    def truth(self) -> float:
        """The probability of the true cell; with the distance score, of a corner."""
        return self._cells().p if self.score == "uniform" else float(self.channel()[0, 0]) ** 2

    @property
    def event(self) -> Response | Promise:
        """What each person's report costs that person (neighbours: replace the place)."""
        if self.score == "uniform":
            return self._cells().event
        return Promise(PureDP(self.epsilon), neighbours=REPLACE)

    def release(
        self, value: Place | NDArray[Any], *, bits: Bits | None = None
    ) -> Place | NDArray[np.int64]:
        """Randomize one place (row, column), or an n × 2 array of places of different people."""
        places = self._places(value)
        if self.score == "uniform":
            told = self._cells().release(places[:, 0] * self.side + places[:, 1], bits=bits)
            moved = np.stack(np.divmod(told, self.side), axis=1)
        else:
            moved = np.stack([self._along(places[:, axis], bits) for axis in (0, 1)], axis=1)
        return moved if isinstance(value, np.ndarray) else (int(moved[0, 0]), int(moved[0, 1]))

    def _along(self, truths: NDArray[np.int64], bits: Bits | None) -> NDArray[np.int64]:
        """Move along one line. Every cell's law is drawn for everyone: the work done tells nothing of the places."""
        line = np.arange(self.side)
        told = np.zeros_like(truths)
        for cell in range(self.side):
            drawn = exponential_choice(-np.abs(line - cell), self.rate, truths.size, bits=bits)
            told = np.where(truths == cell, drawn, told)
        return told

    def channel(self) -> NDArray[np.float64]:
        """Return P(told | true) along one line with the distance score: row = true cell, column = told cell."""
        line = np.arange(self.side)
        weights = np.exp(-float(self.rate) * np.abs(line[:, None] - line[None, :]))
        rows: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return rows

    def estimate(self, responses: NDArray[Any]) -> GridFrequencies:
        """Estimate the k × k table of frequencies among those who answered, without bias.

        Refuses no responses, and responses off the grid.
        """
        told = self._places(np.asarray(responses))
        counts = np.zeros((self.side, self.side))
        np.add.at(counts, (told[:, 0], told[:, 1]), 1.0)
        return self._frequencies(told.shape[0], counts)

    def error(self, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one cell and any table of frequencies, with probability at least 1 − β
        (Hoeffding 1963).

        >>> import discreet as dp
        >>> round(dp.GridResponse(side=2, epsilon=3).error(10_000), 3)
        0.016
        """
        people = whole(n, "n", least=1)
        return float(
            self._frequencies(people, np.zeros((self.side, self.side))).reach(read_beta(beta)).max()
        )

    def _frequencies(self, n: int, counts: NDArray[np.float64]) -> GridFrequencies:
        if self.score == "distance":
            return GridFrequencies(n, counts, np.linalg.inv(self.channel()).astype(np.float64), 0.0)
        cells = self._cells()
        return GridFrequencies(n, counts, np.eye(self.side) / math.sqrt(cells.p - cells.q), cells.q)

    def _cells(self) -> RandomizedResponse:
        return RandomizedResponse(self.side**2, epsilon=self.epsilon)

    def _places(self, value: object) -> NDArray[np.int64]:
        array = np.asarray(value)
        places = (
            array.reshape(1, -1) if array.ndim == 1 and not isinstance(value, np.ndarray) else array
        )
        if places.ndim != 2 or places.shape[1] != 2 or places.shape[0] == 0:
            raise InvalidArgument(
                f"a place is (row, column) with both from 0 to {self.side - 1}, or an n × 2 array of them"
            )
        return read_answers(places, self.side)


@frozen(eq=False)
class GridFrequencies:
    """A table of frequencies told by grid responses: every person's report adds w = u_row ⊗ u_column − shift, unbiased.

    `unmix` has the vectors u as rows (one per told line); `base` is what is subtracted before unmixing.
    """

    n: int
    counts: NDArray[np.float64]
    unmix: NDArray[np.float64]
    base: float

    @property
    def values(self) -> NDArray[np.float64]:
        """The unbiased estimates; single ones may lie outside 0 … 1."""
        estimates: NDArray[np.float64] = (
            self.unmix.T @ (self.counts / self.n - self.base) @ self.unmix
        )
        return estimates

    @property
    def variance(self) -> NDArray[np.float64]:
        """The coins' variance of each estimate, itself estimated without bias: (mean of w² − f)/n, at least 0.

        A person whose true cell is c adds w with mean 1[true = c], so the variance is E[w²] − f summed over people.
        """
        lines = self.unmix**2
        shift = self.base * np.outer(self.unmix.sum(axis=0), self.unmix.sum(axis=0))
        mean = self.unmix.T @ (self.counts / self.n) @ self.unmix
        squares = lines.T @ (self.counts / self.n) @ lines - 2 * shift * mean + shift**2
        return np.maximum((squares - self.values) / self.n, 0.0)

    def interval(self, beta: Number = 0.05, *, joint: bool = False) -> NDArray[np.float64]:
        """Return (low, high) per cell in a last axis; each holds with probability 1 − β, with `joint` all at once.

        Hoeffding (1963) on the range of one person's share in the estimate.
        """
        reach = self.reach(read_beta(beta) / (self.counts.size if joint else 1))
        around: NDArray[np.float64] = np.stack([self.values - reach, self.values + reach], axis=-1)
        return around.clip(0.0, 1.0)

    def reach(self, chance: float) -> NDArray[np.float64]:
        """Bound how far each estimate is off but for a chance."""
        ends = np.stack([self.unmix.min(axis=0), self.unmix.max(axis=0)])
        products = np.stack([np.outer(a, b) for a in ends for b in ends])
        spread = products.max(axis=0) - products.min(axis=0)
        found: NDArray[np.float64] = up(math.sqrt(math.log(2 / chance) / (2 * self.n))) * spread
        return found
