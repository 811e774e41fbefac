"""The Hadamard count-mean sketch: one bit a report; Apple's Safari domains (Learning with Privacy at Scale, 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...noise import Bits, uniform
from ..designs.design import read_array
from ..estimates.estimate import Estimate
from .flip import flips
from .hashing import fingerprints
from .mean_sketch import MeanSketch
from .sketch_estimate import SketchCells, estimate_cells

_Reports = NDArray[np.int64]


class HadamardCountMeanSketch(MeanSketch):
    """Send a random row, a random column and one bit: the Hadamard coefficient of the value's cell, or not it.

    Row j and column l are drawn evenly, without looking at the value; the bit is H[h_j(value), l] = (−1)^(popcount of
    the two and-ed), flipped with probability 1/(1 + e^ε). So the report is ε-private, and it is one bit beside public
    chance. Per person the variance of a count is ((e^ε + 1)/(e^ε − 1))², plus shared cells as in `CountMeanSketch`.

    >>> from discreet.local import HadamardCountMeanSketch
    >>> from discreet.privacy import PureDP
    >>> safari = HadamardCountMeanSketch(PureDP(4), rows=64, width=256, key="safari")
    >>> row, column, bit = safari.randomize("example.org")
    >>> found = safari.estimate(safari.randomize(["example.org"] * 900 + ["example.com"] * 100), ["example.org"])
    >>> abs(found["example.org"] - 0.9) < 0.5
    True

    Refuses a width that is no power of two, values that are no text, and reports no device could have sent.
    """

    __slots__ = ()
    name = "hadamard-count-mean-sketch"

    @property
    def coin_variance(self) -> float:
        """The variance that flips and columns add to a count, for each person, at most: ((e^ε + 1)/(e^ε − 1))²."""
        return 1 / math.tanh(float(self.epsilon) / 2) ** 2

    @property
    def worth(self) -> float:
        """How far one report can move the count of a cell: 2(e^ε + 1)/(e^ε − 1)."""
        return 2 / math.tanh(float(self.epsilon) / 2)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> tuple[int, int, int]: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(
        self, value: Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> _Reports: ...
    def randomize(
        self, value: str | Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> tuple[int, int, int] | _Reports:
        """Draw the report (row, column, bit) of one value, or rows of them for a list of values of different people."""
        prints = fingerprints([value] if isinstance(value, str) else value, self.key)
        rows = uniform(self.rows, prints.size, bits=bits)
        columns = uniform(self.width, prints.size, bits=bits)
        cells = self.hashes.place(rows, prints)
        sent = _parity(cells & columns) ^ flips(self.epsilon, prints.size, bits)
        found = np.stack([rows, columns, sent.astype(np.int64)], axis=1)
        return (
            (int(found[0, 0]), int(found[0, 1]), int(found[0, 2]))
            if isinstance(value, str)
            else found
        )

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate how frequent each candidate is among those who reported; see `CountMeanSketch.estimate`."""
        read = self.read(reports)
        scale = 1 / math.tanh(float(self.epsilon) / 2)
        flat = np.bincount(
            read[:, 0] * self.width + read[:, 1],
            weights=1.0 - 2.0 * read[:, 2],
            minlength=self.rows * self.width,
        )
        sums = scale * _transform(np.asarray(flat, dtype=np.float64).reshape(self.rows, self.width))
        people = np.bincount(read[:, 0], minlength=self.rows)
        return estimate_cells(
            self.hashes, SketchCells(sums, people, self.coin_variance), candidates, level
        )

    def read(self, reports: object) -> _Reports:
        """Read reports; refuses those no device could have sent."""
        array = read_array(reports, axes=2)
        if (
            array.ndim != 2
            or array.shape[1:] != (3,)
            or array.dtype.kind not in "iu"
            or array.shape[0] == 0
        ):
            raise InvalidArgument("reports must be a list of at least one (row, column, bit)")
        if array.min() < 0 or (array.max(axis=0) >= [self.rows, self.width, 2]).any():
            raise InvalidArgument(
                "a report names a row, a column or a bit that these parameters do not have"
            )
        return array.astype(np.int64)


def _parity(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (np.bitwise_count(numbers) & 1).astype(np.bool_)


def _transform(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return table·H, row by row: the fast Walsh–Hadamard transform."""
    found, half = table.copy(), 1
    while half < found.shape[1]:
        pairs = found.reshape(found.shape[0], -1, 2, half)
        found = np.stack(
            [pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2
        ).reshape(table.shape)
        half *= 2
    return found
