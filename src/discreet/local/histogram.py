"""Histogram: the distribution of a bounded number in the local model, for bins and bin ranges.

The bins are the leaves of a tree. Each device reports with ε-DP about one random level of it, and
the server combines all levels into an unbiased estimate of any range of bins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from ..arithmetic.arrays import Flags
from ..arithmetic.rational import Number as Amount
from ..arithmetic.rational import whole
from ..arithmetic.rounding import up
from ..errors import InvalidArgument
from ..frozen import fill, frozen
from ..mechanisms.laws.error_bound import hoeffding
from ..noise import Bits, uniform
from ..privacy.events import Promise
from ..privacy.measures import Measure, PureDP
from .choose import Candidate, candidate_of
from .deployments.flip import epsilon_of, promise
from .designs.design import Integers, check_possible, read_array, read_numbers
from .estimates.calibration import roughly_least_epsilon
from .estimates.estimate import Array, Estimate, read_level
from .reports.parameters import fields_of
from .shuffle import Shuffle, shuffle_pure
from .spend import read_epsilon, read_forged, read_range
from .tree import Tree, grow, level_sizes, make_tree

# The tree inverts a matrix of bins × bins.
_MAX_BINS = 2048


@frozen(init=False, eq=False, repr=False)
class Histogram:
    """Report in which of `bins` even parts of a public range a number lies.

    Every range of bins can be estimated. A value outside the range falls into the first or the last
    bin. The bins are the leaves of a tree. Each person reports on one level of it, drawn evenly: in
    which node of that level the value lies. The estimate of a range combines all levels by
    generalised least squares.

    >>> import numpy as np
    >>> from discreet.local import Histogram
    >>> from discreet.privacy import PureDP
    >>> ages = Histogram(0, 120, 12, PureDP(8))
    >>> reports = ages.randomize(np.full(20_000, 35))
    >>> abs(ages.estimate(reports)["30 … 40"] - 1) < 0.1
    True

    Guarantee: every report is ε-DP, since the level is drawn without looking at the value.
    Refuses: `InvalidArgument` for fewer than 2 or more than 2,048 bins, an empty range, and ε not
    above 0; `randomize` refuses NaN.
    Law: `tests/local/test_histogram.py::TestHistogram`
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    tree: Tree

    def __init__(self, low: Amount, high: Amount, bins: int, spend: Measure) -> None:
        count = whole(bins, "bins", least=2, most=_MAX_BINS)
        epsilon = epsilon_of(spend)
        _fill(self, low, high, epsilon, grow(count, epsilon))

    @classmethod
    def for_error(
        cls,
        error: Amount,
        *,
        n: int,
        low: Amount,
        high: Amount,
        bins: int,
        first: int,
        last: int,
        beta: Amount = 0.05,
    ) -> Histogram:
        """Make the histogram with the least ε (to about 2 %) whose n reports keep a range's error.

        The range is that of bins `first` to `last` − 1. The error is kept with probability at least
        1 − β.

        Refuses: `InvalidArgument` for an error that no ε up to 64 reaches.
        """

        def error_at(epsilon: Fraction) -> float:
            made = cls(low, high, bins, PureDP(epsilon))
            return made.error(n=n, first=first, last=last, beta=beta)

        epsilon = roughly_least_epsilon(
            error_at,
            error,
            least=Fraction(1, 100),
            most=Fraction(64),
            close=Fraction(102, 100),
        )
        return cls(low, high, bins, PureDP(epsilon))

    def __repr__(self) -> str:
        return f"Histogram({self.low}, {self.high}, {self.tree.bins}, epsilon={self.epsilon})"

    @property
    def event(self) -> Promise:
        """Privacy event of one report, for the person who sends it (neighbours: replace value)."""
        return promise(self.epsilon)

    @property
    def starts(self) -> list[int]:
        """First report of each level, and one past the last report."""
        sizes = (family.design.facts.outputs for family in self.tree.families)
        return list(accumulate(sizes, initial=0))

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | Integers:
        """Draw the report of one number, or an array of reports: level and output in one number.

        A report is drawn on every level for everyone, so that the work does not depend on the
        level.
        """
        bins = self._bins(value)
        drawn_level = uniform(len(self.tree.families), bins.size, bits=bits)
        reports = np.zeros(bins.size, dtype=np.int64)
        for level, family in enumerate(self.tree.families):
            nodes = bins // self.tree.nodes(level)
            on_level = self.starts[level] + family.draw(nodes, bits=bits)
            reports = np.where(drawn_level == level, on_level, reports)
        if isinstance(value, np.ndarray | list | tuple):
            return reports
        return int(reports[0])

    def _bins(self, value: object) -> Integers:
        """Return the bin of each number; no refusal carries a value."""
        array = np.atleast_1d(read_array(value))
        if array.dtype.kind not in "iuf" or np.isnan(array).any():
            raise InvalidArgument(
                "a value must be a number, or a list of numbers, none of them NaN"
            )
        low = float(self.low)
        high = float(self.high)
        count = self.tree.bins
        # A warning that one value causes would tell about it.
        with np.errstate(all="ignore"):
            clipped = np.clip(array.astype(np.float64), low, high)
        fraction = (clipped - low) / (high - low)
        bins = np.floor(fraction * count)
        # The upper end of the range belongs to the last bin.
        return np.clip(bins, 0, count - 1).astype(np.int64)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the frequency of every bin, each with a confidence interval."""
        single_bins = [(i, i + 1) for i in range(self.tree.bins)]
        return self.ranges(reports, single_bins, level=level)

    def cumulative(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the frequency of all bins up to each one."""
        prefixes = [(0, i + 1) for i in range(self.tree.bins)]
        return self.ranges(reports, prefixes, level=level)

    def ranges(
        self, reports: object, wanted: Iterable[tuple[int, int]], *, level: float = 0.95
    ) -> Estimate:
        """Estimate the frequency of ranges of bins (first, one past the last), with intervals.

        Guarantee: a report adds one of finitely many scores, independently of all others. The mean
        of the scores is unbiased and within the empirical Bernstein bound (Maurer, Pontil 2009,
        Theorem 11).
        Refuses: `InvalidArgument` for fewer than two reports, reports that no device could have
        sent, and ranges beyond the bins.
        Law: `tests/local/test_histogram.py::test_unbiased`
        """
        array = read_array(reports)
        # The sample variance needs two reports.
        check_possible(self.valid(array), least=2)
        counts = np.bincount(array, minlength=self.starts[-1])
        bin_ranges = [self._range(first, last) for first, last in wanted]
        beta = 1 - read_level(level)
        rows = []
        for bin_range in bin_ranges:
            constant, scores = self._scores(bin_range)
            rows.append(_summary(constant, scores, counts, beta))
        names = tuple(self._name(bin_range) for bin_range in bin_ranges)
        value, error, margin = np.array(rows).T
        low = np.clip(value - margin, 0, 1)
        high = np.clip(value + margin, 0, 1)
        n = int(array.size)
        note = "empirical Bernstein bound"
        return Estimate("frequency", names, value, error, low, high, float(level), n, note=note)

    def _range(self, first: int, last: int) -> tuple[int, int]:
        """Read a range of bins: the first, and one past the last."""
        start = whole(first, "first", most=self.tree.bins - 1)
        stop = whole(last, "last", least=start + 1, most=self.tree.bins)
        return start, stop

    def _weights(self, bin_range: tuple[int, int]) -> Array:
        """Return 1 for the bins of a range, 0 elsewhere."""
        weights = np.zeros(self.tree.bins)
        weights[slice(*bin_range)] = 1.0
        return weights

    def _scores(self, bin_range: tuple[int, int]) -> tuple[float, Array]:
        """Return a constant, and the score that each report adds to the estimate of a range."""
        constant, scores = self.tree.scores(self._weights(bin_range))
        return constant, np.concatenate(scores)

    def _name(self, bin_range: tuple[int, int]) -> str:
        """Return the ends of a range of bins as text."""
        width = self.high - self.low
        ends = []
        for index in bin_range:
            end = self.low + width * Fraction(index, self.tree.bins)
            ends.append(f"{float(end):g}")
        return " … ".join(ends)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return read_numbers(read_array(reports), self.starts[-1])

    def variance(self, *, n: int, first: int, last: int) -> float:
        """Return the largest variance of an estimated range, of bins `first` to `last` − 1.

        Law: `tests/local/test_histogram.py::test_the_variance_is_the_worst_over_the_data`
        """
        weights = self._weights(self._range(first, last))
        return float(self.tree.variances(weights).max()) / whole(n, "n", least=1)

    def error(self, *, n: int, first: int, last: int, beta: Amount = 0.05) -> float:
        """Bound |estimate − frequency| of the bins `first` to `last` − 1 (Hoeffding 1963).

        The bound holds with probability at least 1 − β.
        """
        spread = self._spread(first, last)
        # Rounded up: a promise of accuracy is never too small.
        return up(spread * hoeffding(n, beta))

    def influence(self, *, n: int, first: int, last: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move a range: bins `first` to `last` − 1."""
        people, forged_count = read_forged(n, forged)
        spread = self._spread(first, last)
        return up(forged_count * spread / people)

    def _spread(self, first: int, last: int) -> float:
        """Return the difference between the largest and the smallest score of a report."""
        _, scores = self._scores(self._range(first, last))
        return float(np.ptp(scores))

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by clones (`shuffle_pure`)."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        levels = []
        for candidate in self.tree.taken:
            member = candidate.facts.member
            levels.append({"member": member, "parameter": candidate.parameter})
        return {
            "mechanism": "histogram",
            "version": 1,
            "low": str(self.low),
            "high": str(self.high),
            "bins": self.tree.bins,
            "epsilon": str(self.epsilon),
            "branch": self.tree.branch,
            "levels": levels,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Histogram:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, other versions, and levels that
        make no tree.
        """
        data = fields_of(given, "histogram", ("low", "high", "bins", "epsilon", "branch", "levels"))
        bins = whole(data["bins"], "bins", least=2, most=_MAX_BINS)
        epsilon = read_epsilon(data["epsilon"])
        branch = whole(data["branch"], "branch", least=2, most=bins)
        taken = _read_levels(data["levels"], level_sizes(bins, branch), epsilon)
        made = cls.__new__(cls)
        tree = make_tree(bins, branch, epsilon, taken)
        _fill(made, data["low"], data["high"], epsilon, tree)
        return made


def _read_levels(levels: object, sizes: list[int], epsilon: Fraction) -> list[Candidate]:
    """Read the member and the parameter of every level of a tree."""
    listed = levels if isinstance(levels, list) else []
    fields = [set(level) if isinstance(level, dict) else None for level in listed]
    if fields != [{"member", "parameter"}] * len(sizes):
        raise InvalidArgument(
            "the parameters of a histogram name a member and its parameter for every level"
        )
    taken = []
    for level, size in zip(listed, sizes, strict=True):
        taken.append(candidate_of(level["member"], size, level["parameter"], epsilon))
    return taken


def _fill(made: Histogram, low: Amount, high: Amount, epsilon: Fraction, tree: Tree) -> None:
    bottom, top = read_range(low, high)
    fill(made, low=bottom, high=top, epsilon=epsilon, tree=tree)


def _summary(
    constant: float, scores: Array, counts: Integers, beta: float
) -> tuple[float, float, float]:
    """Return the estimate, its standard error, and a margin it keeps with probability 1 − β.

    The margin is the empirical Bernstein bound, both sides: hence 4/β in the logarithm.
    """
    n = int(counts.sum())
    mean = float(counts @ scores) / n
    spread = float(np.ptp(scores))
    sample_variance = float(counts @ (scores - mean) ** 2) / (n - 1)
    log = math.log(4 / beta)
    of_variance = math.sqrt(2 * sample_variance * log / n)
    of_range = 7 * spread * log / (3 * (n - 1))
    margin = of_variance + of_range
    # Rounded up: an interval is never too narrow.
    error = math.sqrt(sample_variance / n)
    return constant + mean, error, up(margin)
