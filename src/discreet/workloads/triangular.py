"""Lower triangular strategies of a line of days: what day t publishes uses days up to t alone.

Let x_s be the exact total of day s and A the running sums. With a whole lower triangular C ≥ 0, day
t publishes g·Σ_{s≤t} C_ts·x_s plus fresh noise, and B = A·C⁻¹ turns the published numbers into
running totals. B is lower triangular too, so an estimate never changes once it is published.

    optimum   X = CᵀC of `fixed_point`, its Cholesky factor read backwards     one day a person
    root      c_j = round(2^12·C(2j, j)/4^j), the root of A (Fichtenberger, Henzinger, Upadhyay 2023)
    fitted    c_0 ≥ c_1 ≥ … ≥ 0 found by descent (`toeplitz`)                  several days a person

A person is counted on at most k days, at least b days apart. For a Toeplitz C with
c_0 ≥ c_1 ≥ … ≥ 0 the worst pattern is 0, b, 2b, …: with v the sum of these columns

    Δ2² = ‖v‖²   Δ1 = ‖v‖₁   Δ∞ = Σ_{j<k} c_jb       (k at most ⌈n/b⌉), and all are attained.

Proof. G_ij = Σ_{u<n−j} c_u·c_{u+j−i} for i ≤ j falls in the gap j − i and in j. The p-th day of a
pattern is at least (p−1)·b, and two of its days are at least (q−p)·b apart. So ΣG over the days of
a pattern is at most that of 0, b, 2b, …, term by term. Signs lower it, since G ≥ 0. Column sums
fall with the day, and so does what the days of a pattern add to any one row. ∎

Law: tests/workloads/test_triangular.py::TestParticipation
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import field, frozen
from .fixed_point import GaussianOptimum
from .range_gram import upper_inverse
from .strategy_norms import Block

MAX_DAYS = 36_525
"""Longest line: a hundred years of days."""
MAX_DENSE = 4096
"""Longest line of a strategy that is a whole matrix."""
_GRID = 2**12


@frozen
class Participation:
    """Days of the line on which one unit counts: at most `days`, at least `apart` days apart."""

    days: int = 1
    apart: int = 1

    def within(self, size: int) -> int:
        """Return the largest number of days that fit into a line of `size` days."""
        return min(self.days, -(-size // self.apart))


@frozen(eq=False)
class Triangular:
    """A whole lower triangular strategy: a falling Toeplitz column, or a matrix of its own.

    `column` is the first column; `matrix` is None for a Toeplitz strategy.

    Guarantee: `block` bounds what one unit moves, exactly, for every allowed pattern of days.
    Refuses: a column that is not falling, a matrix that is not lower triangular, entries below 0,
    a zero on the diagonal (InvalidArgument).
    Law: tests/workloads/test_triangular.py::TestParticipation
    """

    name: str
    column: Integers
    matrix: Integers | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.matrix is None:
            falls = bool((np.diff(self.column) <= 0).all())
            sound = falls and int(self.column[0]) > 0 and int(self.column[-1]) >= 0
        else:
            lower = bool((np.triu(self.matrix, 1) == 0).all())
            diagonal = np.diagonal(self.matrix)
            sound = lower and int(diagonal.min()) > 0 and int(self.matrix.min()) >= 0
        if not sound:
            raise InvalidArgument("a strategy of days is triangular, falling and never negative")

    @property
    def size(self) -> int:
        """Number of days."""
        return len(self.column)

    def row(self, day: int) -> Integers:
        """Return the factors of days 0..day in what `day` publishes."""
        if self.matrix is not None:
            return self.matrix[day, : day + 1]
        return self.column[day::-1]

    def block(self, counted: Participation, keys: int = 1) -> Block:
        """Return the norms of what a unit that moves one step a day changes, over `keys` keys.

        The norms do not depend on `keys`: columns of two keys share no row, so two days of a
        pattern add most if both are in one key.

        Refuses: a matrix that is not Toeplitz for units of several days (InvalidArgument).
        """
        times = counted.within(self.size)
        rows = self.size * keys
        if self.matrix is not None:
            if times > 1:
                raise InvalidArgument("several days of a unit need a Toeplitz strategy")
            l1 = int(self.matrix.sum(axis=0).max())
            square = int((self.matrix**2).sum(axis=0).max())
            linf = int(self.matrix.max())
            return Block(self.name, rows, l1, square, linf, self.size, 2 * square)
        moved = np.zeros(self.size, dtype=object)
        for place in range(times):
            start = place * counted.apart
            moved[start:] += self.column[: self.size - start]
        square = int((moved**2).sum())
        linf = int(self.column[:: counted.apart][:times].sum())
        # ⟨a, b⟩ ≥ 0 for any two changes, as C ≥ 0: a difference of two has at most twice the square.
        return Block(self.name, rows, int(moved.sum()), square, linf, self.size, 2 * square)

    def variances(self, starts: Sequence[int], ends: Sequence[int]) -> Floats:
        """Return the variances of the sums of days start..end−1 at noise of variance 1 a row."""
        if self.matrix is not None:
            running = _running_weights(self)
            first = np.vstack([np.zeros(self.size), running])
            changed = first[np.asarray(ends)] - first[np.asarray(starts)]
            return np.asarray((changed**2).sum(axis=1))
        weights = _running_column(self)
        squares = np.concatenate([[0.0], np.cumsum(weights**2)])
        found = np.empty(len(starts))
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            length = end - start
            later = weights[length:end] - weights[:start]
            found[place] = squares[length] + float(later @ later)
        return found

    def weights(self, ends: Sequence[int]) -> Floats:
        """Return the weight of each published number in the running totals of so many days."""
        if self.matrix is not None:
            return np.asarray(_running_weights(self)[np.asarray(ends) - 1])
        column = _running_column(self)
        found = np.zeros((len(ends), self.size))
        for row, end in zip(found, ends, strict=True):
            row[:end] = column[end - 1 :: -1] if end < self.size else column[::-1]
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the strategy as text, packed; it is stored and never computed again."""
        stored: dict[str, Any] = {"name": self.name, "size": self.size}
        if self.matrix is None:
            return stored | {"column": packed(np.diff(self.column, prepend=0))}
        # Neighbours on a diagonal are nearly equal: their differences pack well.
        steps = self.matrix.copy()
        steps[1:, 1:] -= self.matrix[:-1, :-1]
        return stored | {"matrix": packed(steps)}


def triangular_from_json(data: dict[str, Any]) -> Triangular:
    """Read a strategy that `to_json` wrote.

    Refuses: other values (InvalidArgument).
    """
    try:
        size = whole(data["size"], "size", least=1, most=MAX_DAYS)
        if "column" in data:
            column = np.cumsum(unpacked(data["column"], size))
            return Triangular(str(data["name"]), column)
        size = whole(size, "size", least=1, most=MAX_DENSE)
        matrix = unpacked(data["matrix"], size * size).reshape(size, size)
        for place in range(1, size):
            matrix[place, 1:] += matrix[place - 1, :-1]
        return Triangular(str(data["name"]), matrix[:, 0].copy(), matrix)
    except (KeyError, TypeError, ValueError, zlib.error):
        raise InvalidArgument("this is no strategy of days, or one of a newer release") from None


def packed(numbers: Integers) -> str:
    """Return whole numbers of 32 bits as text, compressed."""
    raw = numbers.astype("<i4").tobytes()
    return base64.b64encode(zlib.compress(raw, 9)).decode()


def unpacked(text: str, count: int) -> Integers:
    """Read `count` whole numbers that `packed` wrote; raise ValueError or zlib.error for others."""
    # One more byte than is due shows that there is too much, without unpacking all of it.
    raw = zlib.decompressobj().decompress(base64.b64decode(text), count * 4 + 1)
    if len(raw) != count * 4:
        raise ValueError
    return np.frombuffer(raw, dtype="<i4").astype(np.int64)


@lru_cache(maxsize=4)
def _running_weights(strategy: Triangular) -> Floats:
    """Return B = A·C⁻¹ of a matrix: the weights of the published numbers in each running total."""
    matrix = np.asarray(strategy.matrix, dtype=np.float64)
    return np.asarray(np.cumsum(upper_inverse(matrix.T).T, axis=0))


@lru_cache(maxsize=8)
def _running_column(strategy: Triangular) -> Floats:
    """Return the first column of the Toeplitz matrix B = A·C⁻¹, by forward substitution."""
    return running_column(strategy.column.astype(np.float64))


def running_column(column: Floats) -> Floats:
    """Return the power series of 1/((1 − x)·c(x))."""
    found = np.empty(len(column))
    for place in range(len(column)):
        known = float(column[place:0:-1] @ found[:place])
        found[place] = (1.0 - known) / column[0]
    return found


def identity_strategy(size: int) -> Triangular:
    """Return the strategy that publishes each day by itself."""
    column = np.zeros(size, dtype=np.int64)
    column[0] = 1
    return Triangular("days", column)


def root_strategy(size: int) -> Triangular:
    """Return the root of the running sums, in whole numbers of exact arithmetic.

    >>> from discreet.workloads.triangular import root_strategy
    >>> root_strategy(4).column.tolist()
    [4096, 2048, 1536, 1280]
    """
    numbers = []
    central = 1
    for place in range(size):
        # round(2^12·C(2j, j)/4^j), halves up; the exact numbers fall, and so do their roundings.
        numbers.append((central * _GRID * 2 + 4**place) // (2 * 4**place))
        central = central * 2 * (2 * place + 1) // (place + 1)
    return Triangular("root", np.array(numbers, dtype=np.int64))


def optimum_strategy(optimum: GaussianOptimum, name: str = "optimum") -> Triangular:
    """Return the optimum X as a whole lower triangular C with CᵀC ≈ X, for units of one day.

    The Cholesky factor of X in reversed order is upper triangular; reversed back it is C.
    """
    backwards = np.linalg.cholesky(optimum.gram[::-1, ::-1])
    lower = backwards.T[::-1, ::-1]
    # Its columns have a norm of at most 1. The norms of the rounded matrix are computed afresh.
    matrix = np.maximum(np.rint(lower * _GRID), 0).astype(np.int64)
    return Triangular(name, matrix[:, 0].copy(), matrix)


def toeplitz_strategy(column: Floats, name: str = "fitted") -> Triangular:
    """Return a falling column in whole numbers; rounding keeps it falling."""
    numbers = np.rint(column / column[0] * _GRID).astype(np.int64)
    return Triangular(name, numbers)
