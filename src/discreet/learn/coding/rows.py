"""Coded rows of a model, and the few exact sums over them that training needs.

A row is a vector x of integers: `numbers` are scaled columns, and each entry of `codes` is the
index of a column that holds UNIT.

Guarantee: all sums are exact in every order of the rows. They run on doubles that hold integers
    below 2^53. A float sum would not do: its last bit depends on the other rows, so that one row
    could change what another adds.
Law: tests/learn/test_rows.py::TestSumsAreExact
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .feature import UNIT

Whole64 = NDArray[np.int64]

CHUNK = 1 << 14
"""Rows that are summed in doubles before the sum is kept as a 64-bit integer."""


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
        """Cut the rows into chunks over which doubles stay exact."""
        for start in range(0, len(self), CHUNK):
            yield slice(start, start + CHUNK)

    def margins(self, vector: Whole64) -> Whole64:
        """Return x·v for every row, exactly; entries of v are below 2^31."""
        by_code = UNIT * vector[self.codes].sum(axis=1)
        by_number = self.numbers @ vector[: self._narrow].astype(np.float64)
        return np.asarray(by_code + by_number.astype(np.int64))

    def push(self, factors: Whole64) -> Whole64:
        """Return Σ factor·x over the rows, exactly; factors, weights included, are below 2^24."""
        total = np.zeros(self.width, dtype=np.int64)
        for part in self.parts():
            values = factors[part].astype(np.float64)
            total[: self._narrow] += (values @ self.numbers[part]).astype(np.int64)
            for column in self.codes[part].T:
                total += UNIT * np.bincount(column, values, self.width).astype(np.int64)
        return total

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

    def gram(self, labels: Whole64) -> tuple[Whole64, Whole64, Whole64]:
        """Return Σ x xᵀ, Σ x yᵀ and Σ y² over the rows, exactly.

        `labels` has a row of entries below 2^18 for each row.
        """
        square = np.zeros((self.width, self.width), dtype=np.int64)
        for part in self.parts():
            square += self._square(part)
        cross = np.zeros((self.width, labels.shape[1]), dtype=np.int64)
        for index, label in enumerate(labels.T):
            cross[:, index] = self.push(label * self.weights)
        return square, cross, self.weights @ labels**2

    def _square(self, part: slice) -> Whole64:
        """Return Σ x xᵀ over a chunk: numbers by one product, codes by counting pairs."""
        numbers = self.numbers[part]
        codes = self.codes[part].T
        weights = self.weights[part].astype(np.float64)
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
