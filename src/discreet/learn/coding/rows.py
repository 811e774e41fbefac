"""Rows as a model sees them, and the few sums over them that training needs, all exact.

A row is a vector x of whole numbers: `numbers` scaled columns, and UNIT in the column that each entry of `codes` names.
Sums run on doubles that hold whole numbers below 2^53, so that they are exact in every order: a fast library may add
them up as it likes, and one row more or less never changes what another row adds (a float sum would: its last bit
depends on the company a row keeps). `CHUNK` bounds how many rows are added before they are kept as 64-bit integers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .feature import UNIT

Whole64 = NDArray[np.int64]

CHUNK = 1 << 14


@frozen(eq=False)
class CodedRows:
    """Rows, each counted `weights` times."""

    numbers: NDArray[np.float64]
    codes: Whole64
    weights: Whole64
    width: int

    def __len__(self) -> int:
        return len(self.weights)

    def parts(self) -> Iterator[slice]:
        """Cut the rows into chunks over which doubles stay exact."""
        return (slice(start, start + CHUNK) for start in range(0, len(self), CHUNK))

    def margins(self, vector: Whole64) -> Whole64:
        """Return x·v for every row, exactly; entries of v are below 2^31."""
        narrow = self.numbers.shape[1]
        found = UNIT * vector[self.codes].sum(axis=1)
        return np.asarray(
            found + (self.numbers @ vector[:narrow].astype(np.float64)).astype(np.int64)
        )

    def push(self, factors: Whole64) -> Whole64:
        """Return Σ factor·x over the rows, exactly; factors, weights included, are below 2^24."""
        total = np.zeros(self.width, dtype=np.int64)
        narrow = self.numbers.shape[1]
        for part in self.parts():
            values = factors[part].astype(np.float64)
            total[:narrow] += (values @ self.numbers[part]).astype(np.int64)
            for place in self.codes[part].T:
                total += UNIT * np.bincount(place, values, self.width).astype(np.int64)
        return total

    def squares(self, matrix: Whole64) -> Whole64:
        """Return ‖Mx‖² for every row, exactly; the caller sees to it that it stays below 2^60."""
        found = np.empty(len(self), dtype=np.int64)
        narrow, columns = self.numbers.shape[1], np.ascontiguousarray(matrix.T, dtype=np.float64)
        for part in self.parts():
            images = self.numbers[part] @ columns[:narrow]
            for place in self.codes[part].T:
                images += UNIT * columns[place]
            whole = images.astype(np.int64)
            found[part] = (whole * whole).sum(axis=1)
        return found

    def dense(self) -> NDArray[np.float64]:
        """Return the rows with all columns written out, in units of 1."""
        rows = np.zeros((len(self), self.width))
        rows[:, : self.numbers.shape[1]] = self.numbers / UNIT
        np.put_along_axis(rows, self.codes, 1.0, axis=1)
        return rows

    def gram(self, labels: Whole64) -> tuple[Whole64, Whole64, Whole64]:
        """Return Σ x xᵀ, Σ x yᵀ and Σ y² over the rows, exactly; `labels` has one row for each row, below 2^18."""
        square = np.zeros((self.width, self.width), dtype=np.int64)
        for part in self.parts():
            square += self._square(part)
        cross = np.zeros((self.width, labels.shape[1]), dtype=np.int64)
        for place, label in enumerate(labels.T):
            cross[:, place] = self.push(label * self.weights)
        return square, cross, self.weights @ labels**2

    def _square(self, part: slice) -> Whole64:
        """Return Σ x xᵀ over a chunk: numbers by one product, values of lists by counting pairs."""
        numbers, codes, weights = (
            self.numbers[part],
            self.codes[part].T,
            self.weights[part].astype(np.float64),
        )
        narrow, width = numbers.shape[1], self.width
        weighted = numbers * weights[:, None]
        found = np.zeros((width, width))
        found[:narrow, :narrow] = weighted.T @ numbers
        for place in codes:
            for column, values in enumerate(weighted.T):
                sums = UNIT * np.bincount(place, values, width)
                found[column] += sums
                found[:, column] += sums
        pairs = [(a, b) for a in codes for b in codes]
        for a, b in pairs:
            found += UNIT**2 * np.bincount(a * width + b, weights, width**2).reshape(width, width)
        return found.astype(np.int64)
