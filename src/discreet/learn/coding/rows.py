"""Coded rows of a model, and the few exact sums over them that training needs.

A row is a vector x of integers: `numbers` are scaled columns, and each entry of `codes` is the
index of a column that holds UNIT.

Guarantee: all sums are exact in every order of the rows. They run on doubles that hold integers
    below 2^53. A float sum would not do: its last bit depends on the other rows, so that one row
    could change what another adds.
Law: tests/learn/test_rows.py::TestSumsAreExact
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .feature import UNIT

Whole64 = NDArray[np.int64]

Exact: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""Exact sums: 64-bit integers, or Python's where these might wrap around."""

CHUNK = 1 << 14
"""Rows that are summed in doubles before the sum is kept as an integer."""
DIGIT = 1 << 10
"""Base of the digits in which weights are summed: a distinct row may stand for 10^18 people."""
_FITS = 1 << 61
"""Bound on 64-bit sums, so that noise and factors of 2 still fit."""


def narrow(exact: Exact) -> Exact:
    """Return sums as 64-bit integers if all are below 2^61, else as Python's integers.

    >>> import numpy as np
    >>> from discreet.learn.coding.rows import narrow
    >>> narrow(np.array([3], dtype=object)).dtype, narrow(np.array([2**70], dtype=object)).dtype
    (dtype('int64'), dtype('O'))
    """
    fits = all(-_FITS < value < _FITS for value in exact.ravel().tolist())
    return exact.astype(np.int64 if fits else object)


@frozen(eq=False)
class CodedRows:
    """Rows, each counted `weights` times."""

    numbers: NDArray[np.float64]
    codes: Whole64
    weights: Whole64
    width: int

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def _narrow(self) -> int:
        """The number of columns that are numbers; they come first."""
        return int(self.numbers.shape[1])

    def parts(self) -> Iterator[slice]:
        """Cut the rows into chunks over which doubles stay exact; no rows are one empty chunk."""
        for start in range(0, max(1, len(self)), CHUNK):
            yield slice(start, start + CHUNK)

    @property
    def people(self) -> int:
        """The sum of all weights, as Python's integer: it may exceed 64 bits."""
        return sum(self.weights.tolist())

    def _total(self, sum_part: Callable[[slice, Whole64], Whole64]) -> Exact:
        """Return an exact weighted sum of any size, from the sums over chunks and digits.

        `sum_part` gets a chunk and weights below 2^10; its sums stay below 2^63.
        """
        total: Any = 0
        for part in self.parts():
            weights = self.weights[part]
            place = 1
            # At least once, so that empty chunks give zeros of the right shape.
            while place == 1 or weights.any():
                exact = sum_part(part, weights % DIGIT)
                total = total + place * exact.astype(object)
                weights = weights // DIGIT
                place *= DIGIT
        return narrow(total)

    def margins(self, vector: Whole64) -> Whole64:
        """Return x·v for every row, exactly; entries of v are below 2^31."""
        by_code = UNIT * vector[self.codes].sum(axis=1)
        by_number = self.numbers @ vector[: self._narrow].astype(np.float64)
        return np.asarray(by_code + by_number.astype(np.int64))

    def push(self, factors: Whole64) -> Exact:
        """Return Σ weight·factor·x over the rows, exactly; factors are below 2^18."""

        def sum_part(part: slice, weights: Whole64) -> Whole64:
            values = (factors[part] * weights).astype(np.float64)
            sums = np.zeros(self.width, dtype=np.int64)
            sums[: self._narrow] = (values @ self.numbers[part]).astype(np.int64)
            for column in self.codes[part].T:
                sums += UNIT * np.bincount(column, values, self.width).astype(np.int64)
            return sums

        return self._total(sum_part)

    def add_up(self, values: Whole64) -> Exact:
        """Return Σ weight·v over the rows v of a matrix, exactly; entries are below 2^36."""
        return self._total(lambda part, weights: np.asarray(weights @ values[part]))

    def squares(self, matrix: Whole64) -> Whole64:
        """Return ‖Mx‖² for every row, exactly; the caller ensures that it is below 2^60."""
        found = np.empty(len(self), dtype=np.int64)
        columns = np.ascontiguousarray(matrix.T, dtype=np.float64)
        for part in self.parts():
            images = self.numbers[part] @ columns[: self._narrow]
            for column in self.codes[part].T:
                images += UNIT * columns[column]
            # Squared as integers: squares may exceed 2^53.
            exact = images.astype(np.int64)
            found[part] = (exact * exact).sum(axis=1)
        return found

    def dense(self) -> NDArray[np.float64]:
        """Return the rows with all columns written out, in units of 1."""
        rows = np.zeros((len(self), self.width))
        rows[:, : self._narrow] = self.numbers / UNIT
        np.put_along_axis(rows, self.codes, 1.0, axis=1)
        return rows

    def gram(self, labels: Whole64) -> tuple[Exact, Exact, Exact]:
        """Return Σ x xᵀ, Σ x yᵀ and Σ y² over the rows, exactly.

        `labels` has a row of entries below 2^18 for each row.
        """
        square = self._total(self._square)
        columns = [self.push(label) for label in labels.T]
        cross = np.array(columns, dtype=object).reshape(labels.shape[1], self.width).T
        return square, narrow(cross), self.add_up(labels**2)

    def _square(self, part: slice, given: Whole64) -> Whole64:
        """Return Σ x xᵀ over a chunk: numbers by one product, codes by counting pairs."""
        numbers = self.numbers[part]
        codes = self.codes[part].T
        weights = given.astype(np.float64)
        weighted = numbers * weights[:, None]
        width = self.width
        found = np.zeros((width, width))
        found[: self._narrow, : self._narrow] = weighted.T @ numbers
        for code in codes:
            for column, values in enumerate(weighted.T):
                sums = UNIT * np.bincount(code, values, width)
                found[column] += sums
                found[:, column] += sums
        for first in codes:
            for second in codes:
                # A pair of columns as one number: the counts of all pairs in one pass.
                pairs = np.bincount(first * width + second, weights, width**2)
                found += UNIT**2 * pairs.reshape(width, width)
        return found.astype(np.int64)
