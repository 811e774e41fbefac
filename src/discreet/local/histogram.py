"""How a number is distributed, asked without trusting anybody: bins, and every range of bins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number as Amount
from ..arithmetic.rational import whole
from ..arithmetic.rounding import up
from ..errors import InvalidArgument
from ..frozen import fill, frozen
from ..mechanisms.laws.error_bound import read_beta
from ..noise import Bits, uniform
from ..privacy.events import Promise
from ..privacy.measures import Measure, PureDP
from ..privacy.neighbours import REPLACE
from .choose import candidate_of
from .deployments.flip import epsilon_of
from .designs.design import Flags, Integers, read_array, read_numbers
from .estimates.calibration import near_epsilon
from .estimates.estimate import Array, Estimate, read_level
from .reports.parameters import fields_of
from .shuffle import Shuffle, shuffle_pure
from .spend import read_epsilon, read_range
from .tree import Tree, grow, level_sizes, make_tree

_MOST = 2048


@frozen(init=False, eq=False, repr=False)
class Histogram:
    """Report in which of `bins` even parts of a public range a number lies, so that every range of bins can be
    told.

    A value outside the range falls into the first or the last bin. Each person reports on one level of a tree, drawn
    evenly; ranges are put together from all levels by generalised least squares.

    >>> import numpy as np
    >>> from discreet.local import Histogram
    >>> from discreet.privacy import PureDP
    >>> ages = Histogram(0, 120, 12, PureDP(8))
    >>> reports = ages.randomize(np.full(20_000, 35))
    >>> abs(ages.estimate(reports)["30 … 40"] - 1) < 0.1
    True

    Refuses fewer than 2 or more than 2,048 bins, a range without room, and ε not above 0; `randomize` refuses NaN.
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    tree: Tree

    def __init__(self, low: Amount, high: Amount, bins: int, spend: Measure) -> None:
        count = whole(bins, "bins", least=2, most=_MOST)
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
        """Take the least ε (to about 2 %) at which n reports tell one range of bins to within `error`.

        It holds with probability at least 1 − β. Refuses an error that no ε up to 64 reaches.
        """
        found = near_epsilon(
            lambda epsilon: cls(low, high, bins, PureDP(epsilon)).error(
                n=n, first=first, last=last, beta=beta
            ),
            error,
            least=Fraction(1, 100),
            most=Fraction(64),
            close=Fraction(102, 100),
        )
        return cls(low, high, bins, PureDP(found))

    def __repr__(self) -> str:
        return f"Histogram({self.low}, {self.high}, {self.tree.bins}, epsilon={self.epsilon})"

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it (neighbours: replace the value)."""
        return Promise(PureDP(self.epsilon), neighbours=REPLACE)

    @property
    def starts(self) -> list[int]:
        """Where the outputs of each level begin among the reports, and where the last one ends."""
        return list(accumulate((f.design.facts.outputs for f in self.tree.families), initial=0))

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | NDArray[np.int64]:
        """Draw the report of one number, or an array of reports: a level, and a report on it, in one number.

        Every level is drawn for everyone, so that the work tells nothing of the level.
        """
        bins = self._bins(value)
        level = uniform(len(self.tree.families), bins.size, bits=bits)
        reports = np.zeros(bins.size, dtype=np.int64)
        for at, family in enumerate(self.tree.families):
            drawn = family.draw(bins // self.tree.nodes(at), bits=bits)
            reports = np.where(level == at, self.starts[at] + drawn, reports)
        return reports if isinstance(value, np.ndarray | list | tuple) else int(reports[0])

    def _bins(self, value: object) -> Integers:
        array = np.atleast_1d(read_array(value))
        if array.dtype.kind not in "iuf" or np.isnan(array).any():
            raise InvalidArgument(
                "a value must be a number, or a list of numbers, none of them NaN"
            )
        low, high, count = float(self.low), float(self.high), self.tree.bins
        share = (np.clip(array.astype(np.float64), low, high) - low) / (high - low)
        return np.clip(np.floor(share * count), 0, count - 1).astype(np.int64)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the frequency of every bin, each with an interval."""
        return self.ranges(reports, [(i, i + 1) for i in range(self.tree.bins)], level=level)

    def cumulative(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the frequency of all bins up to each one."""
        return self.ranges(reports, [(0, i + 1) for i in range(self.tree.bins)], level=level)

    def ranges(
        self, reports: object, wanted: Iterable[tuple[int, int]], *, level: float = 0.95
    ) -> Estimate:
        """Estimate the frequency of ranges of bins (first, one past the last), each with an interval.

        A report adds one of finitely many scores, independently of all others, so the mean of the scores is unbiased
        and within the empirical Bernstein bound (Maurer, Pontil 2009, Theorem 11).

        Refuses fewer than two reports, reports that no device could have sent, and ranges beyond the bins.
        """
        array = read_array(reports)
        strange = int((~self.valid(array)).sum())
        if strange or array.size < 2:
            raise InvalidArgument(
                f"{strange} of {array.size} reports could not come from a device; keep reports[valid(reports)] only"
            )
        counts = np.bincount(array, minlength=self.starts[-1])
        asked = [self._range(first, last) for first, last in wanted]
        chance = 1 - read_level(level)
        rows = np.array([_summary(*self._scores(r), counts, chance) for r in asked])
        names = tuple(self._name(r) for r in asked)
        value, error, off = rows.T
        low, high = np.clip(value - off, 0, 1), np.clip(value + off, 0, 1)
        note = "empirical Bernstein bound"
        return Estimate(
            "frequency", names, value, error, low, high, float(level), int(array.size), note=note
        )

    def _range(self, first: int, last: int) -> tuple[int, int]:
        start = whole(first, "first", most=self.tree.bins - 1)
        return start, whole(last, "last", least=start + 1, most=self.tree.bins)

    def _scores(self, wanted: tuple[int, int]) -> tuple[float, Array]:
        weights = np.zeros(self.tree.bins)
        weights[slice(*wanted)] = 1.0
        constant, scores = self.tree.scores(weights)
        return constant, np.concatenate(scores)

    def _name(self, wanted: tuple[int, int]) -> str:
        ends = (self.low + (self.high - self.low) * Fraction(i, self.tree.bins) for i in wanted)
        return " … ".join(f"{float(end):g}" for end in ends)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return read_numbers(read_array(reports), self.starts[-1])

    def variance(self, *, n: int, first: int, last: int) -> float:
        """Return the largest variance of an estimated range, wherever the values lie."""
        weights = np.zeros(self.tree.bins)
        weights[slice(*self._range(first, last))] = 1.0
        return float(self.tree.variances(weights).max()) / whole(n, "n", least=1)

    def error(self, *, n: int, first: int, last: int, beta: Amount = 0.05) -> float:
        """Bound |estimate − frequency| of one range, with probability at least 1 − β (Hoeffding 1963)."""
        spread = float(np.ptp(self._scores(self._range(first, last))[1]))
        return up(spread * math.sqrt(math.log(2 / read_beta(beta)) / (2 * whole(n, "n", least=1))))

    def influence(self, *, n: int, first: int, last: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the estimate of a range, whatever they say."""
        people = whole(n, "n", least=1)
        spread = float(np.ptp(self._scores(self._range(first, last))[1]))
        return up(whole(forged, "forged", most=people) * spread / people)

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people, by clones."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        levels = [
            {"member": taken.facts.member, "parameter": taken.parameter}
            for taken in self.tree.taken
        ]
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

        Refuses unknown or missing fields, other versions, and levels that make no tree.
        """
        data = fields_of(given, "histogram", ("low", "high", "bins", "epsilon", "branch", "levels"))
        bins, epsilon = (
            whole(data["bins"], "bins", least=2, most=_MOST),
            read_epsilon(data["epsilon"]),
        )
        branch = whole(data["branch"], "branch", least=2, most=bins)
        sizes = level_sizes(bins, branch)
        levels = data["levels"] if isinstance(data["levels"], list) else []
        if [isinstance(x, dict) and set(x) for x in levels] != [{"member", "parameter"}] * len(
            sizes
        ):
            raise InvalidArgument(
                "the parameters of a histogram name a member and its parameter for every level"
            )
        named = zip(levels, sizes, strict=True)
        taken = [
            candidate_of(level["member"], size, level["parameter"], epsilon)
            for level, size in named
        ]
        made = cls.__new__(cls)
        _fill(made, data["low"], data["high"], epsilon, make_tree(bins, branch, epsilon, taken))
        return made


def _fill(made: Histogram, low: Amount, high: Amount, epsilon: Fraction, tree: Tree) -> None:
    bottom, top = read_range(low, high)
    fill(made, low=bottom, high=top, epsilon=epsilon, tree=tree)


def _summary(
    constant: float, scores: Array, counts: Integers, beta: float
) -> tuple[float, float, float]:
    """Return the estimate, its standard error, and its reach with probability at least 1 − β."""
    n = int(counts.sum())
    mean = float(counts @ scores) / n
    spread = float(np.ptp(scores))
    sample = float(counts @ (scores - mean) ** 2) / (n - 1)
    log = math.log(4 / beta)
    off = math.sqrt(2 * sample * log / n) + 7 * spread * log / (3 * (n - 1))
    return constant + mean, math.sqrt(sample / n), up(off)
