"""The count-mean sketch: Apple's emoji and health types (Learning with Privacy at Scale, 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...noise import Bits, uniform
from ..estimates.estimate import Estimate
from .bit_reports import BitReport, BitReports, column_counts, pack_bits, read_bit_reports
from .flip import flips
from .hashing import fingerprints
from .mean_sketch import MeanSketch
from .sketch_estimate import SketchCells, estimate_cells


class CountMeanSketch(MeanSketch):
    """Send a random row of a sketch and `width` bits: the one-hot cell of the value, every bit flipped now and then.

    A row j is drawn evenly; the cell h_j(value) is marked +1, all others −1; each coordinate is flipped with
    probability 1/(1 + e^(ε/2)). Two values differ in at most two coordinates of any row, and the row is drawn without
    looking at the value: the report is ε-private. Per person the variance of a count is e^(ε/2)/(e^(ε/2) − 1)², plus
    what values that share cells add, about Σ n_v²/(rows·width) for a count (Apple 2017, Theorem 4.2).

    >>> from discreet.local import CountMeanSketch
    >>> from discreet.privacy import PureDP
    >>> emoji = CountMeanSketch(PureDP(4), rows=64, width=256, key="emoji")
    >>> row, bits = emoji.randomize("😂")
    >>> found = emoji.estimate(emoji.randomize(["😂"] * 900 + ["🐢"] * 100), ["😂", "🐢", "🚀"])
    >>> found.names[0], abs(found["😂"] - 0.9) < 0.3
    ('😂', True)

    Refuses a width that is no power of two, values that are no text, and reports no device could have sent.
    """

    __slots__ = ()
    name = "count-mean-sketch"

    @property
    def coin_variance(self) -> float:
        """The variance that the flips add to a count, for each person: e^(ε/2)/(e^(ε/2) − 1)²."""
        return 1 / (4 * math.sinh(float(self.epsilon) / 4) ** 2)

    @property
    def worth(self) -> float:
        """How far one report can move the count of a cell: c = (e^(ε/2) + 1)/(e^(ε/2) − 1)."""
        return 1 / math.tanh(float(self.epsilon) / 4)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> BitReport: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(
        self, value: Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> BitReports: ...
    def randomize(
        self, value: str | Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> BitReport | BitReports:
        """Draw the report of one value, or of a list of values of different people."""
        prints = fingerprints([value] if isinstance(value, str) else value, self.key)
        rows = uniform(self.rows, prints.size, bits=bits)
        marks = np.zeros((prints.size, self.width), dtype=np.bool_)
        marks[np.arange(prints.size), self.hashes.place(rows, prints)] = True
        marks ^= flips(self.epsilon / 2, marks.size, bits).reshape(marks.shape)
        reports = pack_bits(rows, marks)
        return reports[0] if isinstance(value, str) else reports

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate how frequent each candidate is among those who reported.

        f = m/(m − 1)·(Σ z/n − 1/m), z = ½ + ½·c·v at the candidate's cell of each report's row, c = (e^(ε/2) + 1)/
        (e^(ε/2) − 1). The interval is normal, with the coins' variance and that of shared cells, for which Σ n_v² is
        estimated from the sketch, from above.

        Refuses no reports, and reports no device could have sent.
        """
        read = self.read(reports)
        ones, people = column_counts(read, self.rows), np.bincount(read.rows, minlength=self.rows)
        sums = (self.worth * (2 * ones - people[:, None]) + people[:, None]) / 2
        return estimate_cells(
            self.hashes, SketchCells(sums, people, self.coin_variance), candidates, level
        )

    def read(self, reports: object) -> BitReports:
        """Read reports; refuses those no device could have sent."""
        return read_bit_reports(reports, rows=self.rows, width=self.width)
