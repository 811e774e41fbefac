"""Count-mean sketch, as for Apple's emoji and health types.

See Learning with Privacy at Scale (Apple 2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

import numpy as np

from ...arithmetic.arrays import AnyArray
from ...noise import Bits, uniform
from ..estimates.estimate import Estimate
from .bit_reports import BitReport, BitReports, column_counts, pack_bits, read_bit_reports
from .flip import flips
from .hashing import fingerprints
from .mean_sketch import MeanSketch
from .sketch_estimate import SketchCells, estimate_cells


class CountMeanSketch(MeanSketch):
    """Send a random row of a sketch and `width` noisy bits: the one-hot cell of the value.

    A row j is drawn evenly. The cell h_j(value) is marked +1, all others −1. Each coordinate is
    flipped with probability 1/(1 + e^(ε/2)). Per person the variance of a count is
    e^(ε/2)/(e^(ε/2) − 1)². Values that share cells add about Σ n_v²/(rows·width) to a count's
    variance (Apple 2017, Theorem 4.2).

    >>> from discreet.local import CountMeanSketch
    >>> from discreet.privacy import PureDP
    >>> emoji = CountMeanSketch(PureDP(4), rows=64, width=256, key="emoji")
    >>> row, bits = emoji.randomize("😂")
    >>> found = emoji.estimate(emoji.randomize(["😂"] * 900 + ["🐢"] * 100), ["😂", "🐢", "🚀"])
    >>> found.names[0], abs(found["😂"] - 0.9) < 0.3
    ('😂', True)

    Guarantee: a report is ε-private. Two values differ in at most two coordinates of any row, and
    the row is drawn without looking at the value.
    Refuses: `InvalidArgument` for a width that is no power of two, values that are no text, and
    reports no device could have sent.
    Law: `tests/local/test_sketches.py::TestExactLaws`
    """

    __slots__ = ()
    name = "count-mean-sketch"

    @property
    def coin_variance(self) -> float:
        """The variance that the flips add to a count, for each person: e^(ε/2)/(e^(ε/2) − 1)²."""
        return 1 / (4 * math.sinh(float(self.epsilon) / 4) ** 2)

    @property
    def worth(self) -> float:
        """The largest change of a cell's count by one report: c = (e^(ε/2) + 1)/(e^(ε/2) − 1)."""
        return 1 / math.tanh(float(self.epsilon) / 4)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> BitReport: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(
        self, value: Sequence[str] | AnyArray, *, bits: Bits | None = None
    ) -> BitReports: ...
    def randomize(
        self, value: str | Sequence[str] | AnyArray, *, bits: Bits | None = None
    ) -> BitReport | BitReports:
        """Draw the report of one value, or of a list of values of different people."""
        values = [value] if isinstance(value, str) else value
        prints = fingerprints(values, self.key)
        rows = uniform(self.rows, prints.size, bits=bits)
        marks = np.zeros((prints.size, self.width), dtype=np.bool_)
        cells = self.hashes.place(rows, prints)
        marks[np.arange(prints.size), cells] = True
        # ε/2 for a coordinate, since two values differ in two of them.
        flipped = flips(self.epsilon / 2, marks.size, bits)
        marks ^= flipped.reshape(marks.shape)
        reports = pack_bits(rows, marks)
        if isinstance(value, str):
            return reports[0]
        return reports

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate the frequency of each candidate among those who reported.

        f = m/(m − 1)·(Σ z/n − 1/m), where z = ½ + ½·c·v at the candidate's cell of each report's
        row, and c = (e^(ε/2) + 1)/(e^(ε/2) − 1). The interval is normal, with the coins' variance
        and that of shared cells, for which Σ n_v² is estimated from the sketch, from above.

        Refuses: `InvalidArgument` for no reports, and reports no device could have sent.
        Law: `tests/local/test_sketches.py::TestEstimates`
        """
        read = self.read(reports)
        ones = column_counts(read, self.rows)
        people = np.bincount(read.rows, minlength=self.rows)
        reporters = people[:, None]
        # +1 for every one and −1 for every zero.
        balance = 2 * ones - reporters
        sums = (self.worth * balance + reporters) / 2
        cells = SketchCells(sums, people, self.coin_variance)
        return estimate_cells(self.hashes, cells, candidates, level)

    def read(self, reports: object) -> BitReports:
        """Read reports.

        Refuses: `InvalidArgument` for reports no device could have sent.
        """
        return read_bit_reports(reports, rows=self.rows, width=self.width)
