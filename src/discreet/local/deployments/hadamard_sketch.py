"""Hadamard count-mean sketch: one bit a report, as for Apple's Safari domains.

See Learning with Privacy at Scale (Apple 2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

import numpy as np

from ...arithmetic.arrays import AnyArray, Integers
from ...errors import InvalidArgument
from ...noise import Bits, uniform
from ..designs.design import read_array
from ..designs.hadamard import has_odd_ones, walsh
from ..estimates.estimate import Estimate
from .flip import flips
from .hashing import fingerprints
from .mean_sketch import MeanSketch
from .sketch_estimate import SketchCells, estimate_cells

_Reports = Integers


class HadamardCountMeanSketch(MeanSketch):
    """Send a random row, a random column, and one bit: a Hadamard coefficient of the value's cell.

    Row j and column l are drawn evenly, without looking at the value. The bit is H[h_j(value), l] =
    (−1)^(popcount of the two and-ed), flipped with probability 1/(1 + e^ε). Beside that bit a
    report holds only the row and the column, which are chance. Per person the variance of a count
    is ((e^ε + 1)/(e^ε − 1))², plus shared cells as in `CountMeanSketch`.

    >>> from discreet.local import HadamardCountMeanSketch
    >>> from discreet.privacy import PureDP
    >>> safari = HadamardCountMeanSketch(PureDP(4), rows=64, width=256, key="safari")
    >>> row, column, bit = safari.randomize("example.org")
    >>> visits = ["example.org"] * 900 + ["example.com"] * 100
    >>> found = safari.estimate(safari.randomize(visits), ["example.org"])
    >>> abs(found["example.org"] - 0.9) < 0.5
    True

    Guarantee: a report is ε-private, by exact coins.
    Refuses: `InvalidArgument` for a width that is no power of two, values that are no text, and
    reports no device could have sent.
    Law: `tests/local/test_sketches.py::TestEstimates`
    """

    __slots__ = ()
    name = "hadamard-count-mean-sketch"

    @property
    def coin_variance(self) -> float:
        """The variance that flips and columns add to a count, at most: ((e^ε + 1)/(e^ε − 1))².

        For each person.
        """
        return 1 / math.tanh(float(self.epsilon) / 2) ** 2

    @property
    def worth(self) -> float:
        """The largest change that one report makes to a cell's count: 2(e^ε + 1)/(e^ε − 1)."""
        return 2 / math.tanh(float(self.epsilon) / 2)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> tuple[int, int, int]: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(
        self, value: Sequence[str] | AnyArray, *, bits: Bits | None = None
    ) -> _Reports: ...
    def randomize(
        self, value: str | Sequence[str] | AnyArray, *, bits: Bits | None = None
    ) -> tuple[int, int, int] | _Reports:
        """Draw the report (row, column, bit) of one value, or rows of them for a list of values."""
        values = [value] if isinstance(value, str) else value
        prints = fingerprints(values, self.key)
        rows = uniform(self.rows, prints.size, bits=bits)
        columns = uniform(self.width, prints.size, bits=bits)
        cells = self.hashes.place(rows, prints)
        sent = has_odd_ones(cells & columns) ^ flips(self.epsilon, prints.size, bits)
        reports = np.stack([rows, columns, sent.astype(np.int64)], axis=1)
        if isinstance(value, str):
            row, column, bit = reports[0].tolist()
            return row, column, bit
        return reports

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate the frequency of each candidate among those who reported.

        See `CountMeanSketch.estimate`.
        """
        read = self.read(reports)
        row = read[:, 0]
        flat_cell = row * self.width + read[:, 1]
        signs = 1.0 - 2.0 * read[:, 2]
        sums = np.bincount(flat_cell, weights=signs, minlength=self.rows * self.width)
        table = np.asarray(sums, dtype=np.float64).reshape(self.rows, self.width)
        # Divides by p − q of the flip, which makes the counts unbiased.
        scale = 1 / math.tanh(float(self.epsilon) / 2)
        people = np.bincount(row, minlength=self.rows)
        cells = SketchCells(scale * walsh(table), people, self.coin_variance)
        return estimate_cells(self.hashes, cells, candidates, level)

    def read(self, reports: object) -> _Reports:
        """Read reports.

        Refuses: `InvalidArgument` for reports no device could have sent.
        """
        array = read_array(reports, axes=2)
        is_table = array.ndim == 2 and array.shape[1:] == (3,)
        if not is_table or array.dtype.kind not in "iu" or array.shape[0] == 0:
            raise InvalidArgument("reports must be a list of at least one (row, column, bit)")
        if array.min() < 0 or (array.max(axis=0) >= [self.rows, self.width, 2]).any():
            raise InvalidArgument(
                "a report names a row, a column or a bit that these parameters do not have"
            )
        return array.astype(np.int64)
