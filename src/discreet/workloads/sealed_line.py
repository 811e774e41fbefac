"""Running totals of a stream under pure ε: all noise is drawn, and stored sealed, at the start.

x_s is the exact total of day s. M = [own; B] is the p-Identity strategy of running totals: every
day times a whole number, and a few whole weighted sums. Its noise z is drawn once, and day t
publishes S_t = Σ_{s≤t} x_s + round(W_t·z) with W·M = A, the running sums. As A·x is whole, S =
round(W·(M·x + z)): a function of the one release M·x + z, which is ε-DP with ε = Δ1/scale against
streams that were fixed beforehand.

**Days may react to what was published.** The totals of later days may depend on published answers.
For one noise z and any sequence of answers o the probability of o under a reacting stream is that
under the fixed stream x(o) which it becomes along o. So each ratio of probabilities is one of fixed
streams, at most e^ε. This holds for pure ε alone.
The error round(W·z) does not depend on the stream at all, so accuracy is the same for reacting ones:
the separations by accuracy of Bun, Gaboardi and Wagaman (2026) do not contradict this.

Exact: W₂, the weights of the sums, is rounded to 2^-20. W₁ = (A − W₂·B)/own then makes W·M = A in
fractions. Published numbers are computed in floats, and in fractions where rounding is in doubt.

Law: tests/workloads/test_triangular.py::TestSealed
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..errors import InvalidArgument
from ..frozen import frozen
from .matrix import SumsStrategy, line_strategies
from .strategy_norms import Block
from .triangular import Participation, packed, unpacked
from .workload import RunningTotals

_STEPS = 2**20
# Relative error of a float sum of at most 2^13 terms, with a wide margin.
_MARGIN = 1e-11
MAX_SEALED = 4096
"""Longest line of a stream under pure ε."""


@frozen(eq=False)
class SealedLine:
    """A p-Identity strategy of running totals: the factors of days, and whole weighted sums."""

    own: Integers
    sums: Integers

    @property
    def name(self) -> str:
        """The kind of strategy."""
        return "p-identity"

    @property
    def size(self) -> int:
        """Number of days."""
        return len(self.own)

    @property
    def rows(self) -> int:
        """Number of numbers that get noise, for each key."""
        return len(self.own) + len(self.sums)

    def block(self, counted: Participation, keys: int = 1) -> Block:
        """Return the norms of what a unit that moves one step a day changes.

        Each day of a unit moves at most the largest column; a unit of k days moves k of them.
        """
        times = counted.within(self.size)
        columns = self.own + self.sums.sum(axis=0)
        l1 = times * int(columns.max())
        largest = max(int(self.own.max()), int(self.sums.max(initial=0)))
        square = times**2 * int((self.own**2 + (self.sums**2).sum(axis=0)).max())
        rows = self.rows * keys
        return Block(self.name, rows, l1, square, times * largest, self.rows, 2 * square)

    def weights(self, ends: list[int]) -> Floats:
        """Return the weight of each noisy number in the running totals before these days."""
        rows = np.tri(self.size, self.size)[np.asarray(ends) - 1]
        return _solver(self).weights(rows)

    def rounded_noise(self, day: int, noise: Integers, grid: int) -> list[int]:
        """Return round(W_day·z/grid) of each key: `noise` has a column of numbers for each key.

        Guarantee: exactly rounded, halves up; floats decide only where they are certain.
        """
        sums, own = self._whole_weights(day)
        first = own / self.own
        days = noise[: self.size]
        others = noise[self.size :]
        scale = _STEPS * grid
        values = (first @ days + sums @ others) / scale
        sizes = (np.abs(first) @ np.abs(days) + np.abs(sums) @ np.abs(others)) / scale
        margins = (sizes + 1.0) * _MARGIN
        floors = np.floor(values + 0.5)
        # The distance to the nearest half, at which rounding changes.
        distances = np.abs(values + 0.5 - np.rint(values + 0.5))
        found = [int(floor) for floor in floors]
        for key in np.flatnonzero(distances <= margins):
            exact = Fraction()
            for factor, divisor, drawn in zip(own, self.own, days[:, key], strict=True):
                exact += Fraction(int(factor) * int(drawn), int(divisor))
            for factor, drawn in zip(sums, others[:, key], strict=True):
                exact += int(factor) * int(drawn)
            found[key] = int((exact / scale + Fraction(1, 2)) // 1)
        return found

    def _whole_weights(self, day: int) -> tuple[Integers, Integers]:
        """Return 2^20·W₂ and 2^20·own·W₁ of a day, whole numbers with W·M = A exactly."""
        weights = self.weights([day + 1])[0, self.size :]
        sums = np.rint(weights * _STEPS).astype(np.int64)
        own = -(sums @ self.sums)
        own[: day + 1] += _STEPS
        return sums, own

    def to_json(self) -> dict[str, Any]:
        """Return the strategy as text, packed."""
        sizes = {"name": self.name, "size": self.size, "sums": len(self.sums)}
        return sizes | {"own": packed(self.own), "weights": packed(self.sums)}


def sealed_line(size: int) -> SealedLine:
    """Return the strategy of least error for running totals under geometric noise."""
    found = line_strategies(RunningTotals(size), laplace=True)[-1]
    if not isinstance(found, SumsStrategy):
        raise InvalidArgument("running totals under pure ε are measured by days and sums")
    return SealedLine(found.own, found.sums)


def sealed_from_json(data: dict[str, Any]) -> SealedLine:
    """Read what `to_json` wrote; others raise ValueError, KeyError, TypeError or zlib.error."""
    size = int(data["size"])
    count = int(data["sums"])
    sums = unpacked(data["weights"], count * size).reshape(count, size)
    own = unpacked(data["own"], size)
    if int(own.min()) < 1 or int(sums.min(initial=0)) < 0:
        raise ValueError
    return SealedLine(own, sums)


@lru_cache(maxsize=4)
def _solver(line: SealedLine) -> SumsStrategy:
    """Return the least-squares strategy of the same matrix."""
    scaled = line.sums / line.own
    outer = np.eye(len(line.sums)) + scaled @ scaled.T
    inner = np.asarray(np.linalg.inv(outer), dtype=np.float64)
    factors = np.ones(1)
    return SumsStrategy(
        RunningTotals(line.size), line.name, line.own, line.sums, scaled, inner, factors
    )
