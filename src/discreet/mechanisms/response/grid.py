"""Randomized response for a cell of a k × k grid (local differential privacy).

With the uniform score all other cells are told with equal probability, with the distance score near
cells more often than far ones.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats, Integers
from ...arithmetic.rational import Number, one_of, positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, exponential_choice
from ...privacy.events import Promise, Response
from ...privacy.measures import REPLACE, Measure, PureDP
from ..laws.error_bound import parameter_repr, read_beta
from ..reading.allowance import largest_epsilon
from .randomized import RandomizedResponse, read_answers

Score: TypeAlias = Literal["uniform", "distance"]
Place: TypeAlias = tuple[int, int]
"""A cell of the grid: (row, column)."""


@frozen(init=False)
class GridResponse:
    """Randomized response for a cell (row, column) of a k × k grid: an exponential mechanism.

    k is `side`.

    uniform: the true cell with probability e^ε/(e^ε + k² − 1), every other with 1/(e^ε + k² − 1).
    distance: cell (x, y) with probability ∝ exp(−r(|i − x| + |j − y|)), r = ε/(2(k − 1)). Its price
    is exactly ε, half of what the general theorem charges. Proof: rows and columns are independent,
    and along one axis of k cells the loss r|i − i'| + ln z(i')/z(i), z(i) = Σ_o e^(−r|i − o|), is
    greatest from corner to corner: r·i' + ln z(i') grows with i', and −(r·i + ln z(i)) falls with
    i; at the corners z(i') = z(i), and the loss is r(k − 1).

    >>> import discreet as dp
    >>> round(dp.GridResponse(side=10, epsilon="1.0986122886681098").truth, 6)  # ε = ln 3: 3/102
    0.029412
    >>> dp.GridResponse(side=10, epsilon=10_000, score="distance").release((3, 4))
    (3, 4)

    Guarantee: each report is ε-DP for replacing the cell by any other.
    Refuses: a side below 2, ε not above 0, another score, and cells off the grid
    (InvalidArgument), before any bit is drawn.
    Law: tests/mechanisms/test_grid_response.py::TestDistance,
    tests/mechanisms/test_grid_response.py::TestUniform,
    tests/mechanisms/test_grid_response.py::TestEstimate
    """

    side: int
    epsilon: Fraction
    score: Score

    __repr__ = parameter_repr

    def __init__(self, side: int, epsilon: Number, score: Score = "uniform") -> None:
        one_of(score, "score", "uniform", "distance")
        cells = whole(side, "side", least=2, most=1000)
        fill(self, side=cells, epsilon=positive(epsilon, "epsilon"), score=score)

    @classmethod
    def spending(cls, spend: Measure, *, side: int, score: Score = "uniform") -> GridResponse:
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""

        def event_at(epsilon: Fraction) -> Response | Promise:
            return cls(side, epsilon, score).event

        return cls(side, largest_epsilon(event_at, spend), score)

    @property
    def rate(self) -> Fraction:
        """The rate of the distance score: the loss of the farthest cells is rate·2(k − 1) = ε."""
        return self.epsilon / (2 * (self.side - 1))

    @property
    def truth(self) -> float:
        """The probability of the true cell; with the distance score, of a corner."""
        if self.score == "uniform":
            return self._over_cells().p
        return float(self.channel()[0, 0]) ** 2

    @property
    def event(self) -> Response | Promise:
        """The event to be priced: one person's report (neighbours: replace the cell)."""
        if self.score == "uniform":
            return self._over_cells().event
        return Promise(PureDP(self.epsilon), neighbours=REPLACE)

    def release(self, value: Place | AnyArray, *, bits: Bits | None = None) -> Place | Integers:
        """Randomize one cell (row, column), or an n × 2 array of cells of different people."""
        cells = self._read_cells(value)
        if self.score == "uniform":
            numbers = cells[:, 0] * self.side + cells[:, 1]
            told = self._over_cells().release(numbers, bits=bits)
            moved = np.stack(np.divmod(told, self.side), axis=1)
        else:
            # Rows first, then columns: the order in which bits are read.
            rows = self._along_axis(cells[:, 0], bits)
            columns = self._along_axis(cells[:, 1], bits)
            moved = np.stack([rows, columns], axis=1)
        if isinstance(value, np.ndarray):
            return moved
        return int(moved[0, 0]), int(moved[0, 1])

    def _along_axis(self, truths: Integers, bits: Bits | None) -> Integers:
        """Randomize rows or columns."""
        axis = np.arange(self.side)
        told = np.zeros_like(truths)
        # Every cell's law is drawn for everyone, so that the work tells nothing of the cells.
        for cell in range(self.side):
            scores = -np.abs(axis - cell)
            drawn = exponential_choice(scores, self.rate, truths.size, bits=bits)
            told = np.where(truths == cell, drawn, told)
        return told

    def channel(self) -> Floats:
        """Return P(told | true) along one axis, distance score: row = true, column = told."""
        axis = np.arange(self.side)
        distances = np.abs(axis[:, None] - axis[None, :])
        weights = np.exp(-float(self.rate) * distances)
        rows: Floats = weights / weights.sum(axis=1, keepdims=True)
        return rows

    def estimate(self, responses: AnyArray) -> GridFrequencies:
        """Estimate the k × k table of frequencies among the people who answered, without bias.

        Refuses: no responses, and responses off the grid (InvalidArgument).
        """
        told = self._read_cells(np.asarray(responses))
        counts = np.zeros((self.side, self.side))
        rows = told[:, 0]
        columns = told[:, 1]
        np.add.at(counts, (rows, columns), 1.0)
        return self._frequencies(told.shape[0], counts)

    def error(self, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one cell and any table of frequencies (Hoeffding 1963).

        Holds with probability at least 1 − β.

        >>> import discreet as dp
        >>> round(dp.GridResponse(side=2, epsilon=3).error(10_000), 3)
        0.016
        """
        people = whole(n, "n", least=1)
        # The bound depends on the channel alone, so any table of counts will do.
        no_counts = np.zeros((self.side, self.side))
        reach = self._frequencies(people, no_counts).reach(read_beta(beta))
        return float(reach.max())

    def _frequencies(self, n: int, counts: Floats) -> GridFrequencies:
        """Return the estimated table of n people from the counts of the cells they told."""
        if self.score == "distance":
            inverse = np.linalg.inv(self.channel()).astype(np.float64)
            return GridFrequencies(n, counts, inverse, 0.0)
        over_cells = self._over_cells()
        root = math.sqrt(over_cells.p - over_cells.q)
        unmix = np.eye(self.side) / root
        return GridFrequencies(n, counts, unmix, over_cells.q)

    def _over_cells(self) -> RandomizedResponse:
        """Return the randomized response over all k² cells, which the uniform score is."""
        return RandomizedResponse(self.side**2, epsilon=self.epsilon)

    def _read_cells(self, value: object) -> Integers:
        """Read one (row, column), or an n × 2 array of them; refuse cells off the grid."""
        cells = np.asarray(value)
        # A plain pair is one cell; an array of one dimension is refused below.
        if cells.ndim == 1 and not isinstance(value, np.ndarray):
            cells = cells.reshape(1, -1)
        if cells.ndim != 2 or cells.shape[1] != 2 or cells.shape[0] == 0:
            raise InvalidArgument(
                f"a place is (row, column) with both from 0 to {self.side - 1}, or an n × 2 array of them"
            )
        return read_answers(cells, self.side)


@frozen(eq=False)
class GridFrequencies:
    """Table of frequencies estimated from grid responses, without bias.

    Every person's report adds w = u_row ⊗ u_column − shift. `unmix` has the vectors u as rows (one
    per told row or column). `base` is subtracted before unmixing: `shift` is that after unmixing.
    """

    n: int
    counts: Floats
    unmix: Floats
    base: float

    @property
    def values(self) -> Floats:
        """The unbiased estimates; single ones may lie outside 0 … 1."""
        centred = self.counts / self.n - self.base
        estimates: Floats = self.unmix.T @ centred @ self.unmix
        return estimates

    @property
    def variance(self) -> Floats:
        """The coins' variance of each estimate, itself estimated without bias.

        It is (mean of w² − f)/n, at least 0. A person whose true cell is c adds w with mean
        1[true = c], so the variance is E[w²] − f summed over people.
        """
        shares = self.counts / self.n
        squared = self.unmix**2
        column_sums = self.unmix.sum(axis=0)
        shift = self.base * np.outer(column_sums, column_sums)
        mean = self.unmix.T @ shares @ self.unmix
        # E[(u ⊗ u − shift)²], multiplied out.
        mean_of_squares = squared.T @ shares @ squared
        mean_of_squares = mean_of_squares - 2 * shift * mean
        mean_of_squares = mean_of_squares + shift**2
        return np.maximum((mean_of_squares - self.values) / self.n, 0.0)

    def interval(self, beta: Number = 0.05, *, joint: bool = False) -> Floats:
        """Return a confidence interval (low, high) per cell, in a last axis.

        Each holds with probability 1 − β, with `joint` all at once (union bound). By Hoeffding
        (1963) on the range of one person's part of the estimate.
        """
        intervals = self.counts.size if joint else 1
        reach = self.reach(read_beta(beta) / intervals)
        ends = [self.values - reach, self.values + reach]
        around: Floats = np.stack(ends, axis=-1)
        return around.clip(0.0, 1.0)

    def reach(self, chance: float) -> Floats:
        """Bound the error of each estimate; each bound alone fails with probability `chance`."""
        least = self.unmix.min(axis=0)
        greatest = self.unmix.max(axis=0)
        ends = [least, greatest]
        # The extremes of u_row ⊗ u_column are among the products of the extremes.
        products = np.stack([np.outer(a, b) for a in ends for b in ends])
        spread = products.max(axis=0) - products.min(axis=0)
        log_term = math.log(2 / chance)
        deviation = up(math.sqrt(log_term / (2 * self.n)))
        bound: Floats = deviation * spread
        return bound
