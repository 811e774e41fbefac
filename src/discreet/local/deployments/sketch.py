"""The count-mean sketch: Apple's emoji and health types (Learning with Privacy at Scale, 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import up
from ...frozen import frozen
from ...mechanisms.laws.quantile import named
from ...noise import Bits, uniform
from ...privacy.events import Promise
from ...privacy.measures import Measure
from ..estimates.estimate import Estimate
from ..shuffle import Shuffle, shuffle_pure
from .bit_reports import BitReport, BitReports, column_counts, pack_bits, read_bit_reports
from .flip import flips, promise
from .hashing import RowHashes, fingerprints
from .sketch_estimate import SketchCells, estimate_cells, sketch_error, sketch_variance
from .sketch_shape import fill_shape, reach_error, read_shape, write_shape

_NAME = "count-mean-sketch"


@frozen(init=False)
class CountMeanSketch:
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

    epsilon: Fraction
    rows: int
    width: int
    key: str

    __repr__ = named

    def __init__(self, spend: Measure, *, rows: int, width: int, key: str) -> None:
        fill_shape(self, spend, rows=rows, width=width, key=key)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, rows: int, width: int, key: str, beta: Number = 0.05
    ) -> CountMeanSketch:
        """Take the least ε at which n reports give a frequency to within `error`, with probability 1 − β."""
        return reach_error(lambda spend: cls(spend, rows=rows, width=width, key=key), error, n=n, beta=beta)

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it."""
        return promise(self.epsilon)

    @property
    def coin_variance(self) -> float:
        """The variance that the flips add to a count, for each person: e^(ε/2)/(e^(ε/2) − 1)²."""
        return 1 / (4 * math.sinh(float(self.epsilon) / 4) ** 2)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> BitReport: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(self, value: Sequence[str] | NDArray[Any], *, bits: Bits | None = None) -> BitReports: ...
    def randomize(
        self, value: str | Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> BitReport | BitReports:
        """Draw the report of one value, or of a list of values of different people."""
        prints = fingerprints([value] if isinstance(value, str) else value, self.key)
        rows = uniform(self.rows, prints.size, bits=bits)
        marks = np.zeros((prints.size, self.width), dtype=np.bool_)
        marks[np.arange(prints.size), RowHashes(self.rows, self.width, self.key).place(rows, prints)] = True
        marks ^= flips(self.epsilon / 2, marks.size, bits).reshape(marks.shape)
        reports = pack_bits(rows, marks)
        return reports[0] if isinstance(value, str) else reports

    def estimate(self, reports: object, candidates: Sequence[str], *, level: float = 0.95) -> Estimate:
        """Estimate how frequent each candidate is among those who reported.

        f = m/(m − 1)·(Σ z/n − 1/m), z = ½ + ½·c·v at the candidate's cell of each report's row, c = (e^(ε/2) + 1)/
        (e^(ε/2) − 1). The interval is normal, with the coins' variance and that of shared cells, for which Σ n_v² is
        estimated from the sketch, from above.

        Refuses no reports, and reports no device could have sent.
        """
        read = self.read(reports)
        ones, people = column_counts(read, self.rows), np.bincount(read.rows, minlength=self.rows)
        scale = 1 / math.tanh(float(self.epsilon) / 4)
        sums = (scale * (2 * ones - people[:, None]) + people[:, None]) / 2
        return estimate_cells(self, SketchCells(sums, people, self.coin_variance), candidates, level)

    def read(self, reports: object) -> BitReports:
        """Read reports; refuses those no device could have sent."""
        return read_bit_reports(reports, rows=self.rows, width=self.width)

    def variance(self, *, n: int, frequency: float = 0.0, others: float | None = None) -> float:
        """Return the variance of an estimated frequency; `others` is Σ f² over the other values.

        By default one other value holds all the rest, the worst there is.

        >>> from discreet.local import CountMeanSketch
        >>> from discreet.privacy import PureDP
        >>> emoji = CountMeanSketch(PureDP(4), rows=1024, width=1024, key="emoji")
        >>> round(10**6 * emoji.variance(n=10**6, others=0.0777), 3)
        0.257
        """
        return sketch_variance(self.coin_variance, self.rows, self.width, n=n, frequency=frequency, others=others)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move an estimate, whatever they say: c·m/(m − 1) a report."""
        people = whole(n, "n", least=1)
        reach = self.width / (self.width - 1) / math.tanh(float(self.epsilon) / 4)
        return up(reach * whole(forged, "forged", most=people) / people)

    def error(self, *, n: int, beta: Number = 0.05, others: float | None = None) -> float:
        """Bound |estimate − frequency| with probability 1 − β, by the normal law with the variance at frequency 0."""
        return sketch_error(self.variance(n=n, others=others), beta)

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people, by clones."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        return write_shape(_NAME, self.epsilon, rows=self.rows, width=self.width, key=self.key)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> CountMeanSketch:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        spend, shape = read_shape(_NAME, given)
        return cls(spend, **shape)
