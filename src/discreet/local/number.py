"""Number: the mean of a bounded number in the local model, without trust in anybody.

The table of probabilities with the least worst-case variance for ε is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..arithmetic.arrays import Flags
from ..arithmetic.rational import Number as Amount
from ..arithmetic.rational import whole
from ..arithmetic.rounding import up
from ..errors import InvalidArgument
from ..frozen import fill, frozen
from ..mechanisms.laws.error_bound import read_beta
from ..noise import Bits, uniform
from ..privacy.events import Promise
from ..privacy.measures import Measure, PureDP
from .deployments.flip import epsilon_of, promise
from .designs.design import Integers, check_possible, read_array, read_numbers
from .estimates.calibration import roughly_least_epsilon
from .estimates.chernoff import chernoff_margin
from .estimates.estimate import Estimate, read_level
from .reports.parameters import fields_of
from .shuffle import Shuffle, shuffle_pure
from .spend import read_epsilon, read_forged, read_range
from .table import SCALE, MeanTable, check_table, make_table

# Positions between two inputs: a float has 53 bits, so scaling by 2^52 loses none of them.
_POSITIONS = 1 << 52
# Reports drawn at a time, since each needs a row of the table.
_CHUNK = 1 << 16
# Beyond this ε its own table is used: a report is then within a thousandth of the range.
_MAX_TABLE_EPSILON = 10


@frozen(init=False, eq=False, repr=False)
class Number:
    """Report a number from a public range under ε-DP for the person who reports.

    A value outside the range is clipped to it. The value is rounded at random to one of the table's
    inputs, without bias, and the output is drawn by whole weights.

    >>> import numpy as np
    >>> from discreet.local import Number
    >>> from discreet.privacy import PureDP
    >>> minutes = Number(0, 100, PureDP(8))
    >>> found = minutes.estimate(minutes.randomize(np.full(10_000, 40.0)))
    >>> abs(found["mean"] - 40) < 2
    True

    Guarantee: the law of a report is exact, and each of its ratios was checked to be at most e^ε.
    Refuses: `InvalidArgument` for an empty range and ε below 1/100; `randomize` refuses NaN.
    Law: `tests/local/test_number.py::TestTable`
    Law: `tests/local/test_number.py::TestReports`
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    table: MeanTable

    def __init__(self, low: Amount, high: Amount, spend: Measure) -> None:
        epsilon = epsilon_of(spend)
        table_epsilon = min(_checked(epsilon), Fraction(_MAX_TABLE_EPSILON))
        _fill(self, low, high, epsilon, make_table(table_epsilon))

    @classmethod
    def for_error(
        cls, error: Amount, *, n: int, low: Amount, high: Amount, beta: Amount = 0.05
    ) -> Number:
        """Make the mechanism with the least ε (to about 2 %) whose n reports keep the mean's error.

        The error is kept with probability at least 1 − β.

        Refuses: `InvalidArgument` for an error that no ε up to 10 reaches.
        """

        def error_at(epsilon: Fraction) -> float:
            return cls(low, high, PureDP(epsilon)).error(n=n, beta=beta)

        epsilon = roughly_least_epsilon(
            error_at,
            error,
            least=Fraction(1, 100),
            most=Fraction(_MAX_TABLE_EPSILON),
            close=Fraction(102, 100),
        )
        return cls(low, high, PureDP(epsilon))

    def __repr__(self) -> str:
        return f"Number({self.low}, {self.high}, epsilon={self.epsilon})"

    @property
    def event(self) -> Promise:
        """Privacy event of one report, for the person who sends it (neighbours: replace value)."""
        return promise(self.epsilon)

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | Integers:
        """Draw the report of one number, or an array of reports.

        The number of bits drawn does not depend on the value.
        """
        positions = self._positions(value)
        # Randomized rounding to one of the two neighbouring inputs; unbiased, in integers.
        coin = uniform(_POSITIONS, positions.size, bits=bits)
        rounds_up = coin < positions % _POSITIONS
        rows = positions // _POSITIONS + rounds_up
        drawn = uniform(SCALE, positions.size, bits=bits)
        ends = np.cumsum(self.table.weights, axis=1)
        reports = np.zeros(positions.size, dtype=np.int64)
        for start in range(0, positions.size, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            # The output whose interval of the cumulative weights holds the number drawn.
            passed = ends[rows[chunk]] <= drawn[chunk, None]
            reports[chunk] = passed.sum(axis=1)
        if isinstance(value, np.ndarray | list | tuple):
            return reports
        return int(reports[0])

    def _positions(self, value: object) -> Integers:
        """Read numbers as positions on the inputs' grid, in 2^-52 of a step.

        No refusal carries a value.
        """
        array = np.atleast_1d(read_array(value))
        if array.dtype.kind not in "iuf":
            raise InvalidArgument("a value must be a number, or a list of numbers")
        if np.isnan(array).any():
            raise InvalidArgument(
                "a value must not be NaN; decide on the device what is sent for a missing value"
            )
        low = float(self.low)
        # A warning that one value causes would tell about it.
        with np.errstate(all="ignore"):
            clipped = np.clip(array.astype(np.float64), low, float(self.high))
        fraction = (clipped - low) / self._span
        last = (len(self.table.weights) - 1) * _POSITIONS
        # Clipped again: rounding of the division may leave the range by one unit.
        positions = np.minimum(np.clip(fraction, 0, 1) * last, last)
        return positions.astype(np.int64)

    @property
    def _span(self) -> float:
        return float(self.high - self.low)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the mean of those who reported, without bias, with a confidence interval.

        The interval is Chernoff's bound at the exact laws of the reports.

        Refuses: `InvalidArgument` for no reports, and reports that no device could have sent.
        Law: `tests/local/test_number.py::TestReports`
        """
        array = read_array(reports)
        check_possible(self.valid(array), least=1)
        beta = 1 - read_level(level)
        counts = np.bincount(array, minlength=self.table.values.size)
        # Python's integers: the sum may exceed 64 bits.
        pairs = zip(counts.tolist(), self.table.values.tolist(), strict=True)
        total = sum(count * value for count, value in pairs)
        mean = self._in_range(total / array.size)
        margin = chernoff_margin(self.table, array.size, beta) * self._span / 2
        unclipped = [mean - margin, mean + margin]
        ends = np.clip(unclipped, float(self.low), float(self.high))
        error = math.sqrt(self.variance(n=array.size))
        return Estimate(
            "mean",
            ("mean",),
            np.array([mean]),
            np.array([error]),
            ends[:1],
            ends[1:],
            float(level),
            int(array.size),
            note="by Chernoff's bound at the exact laws of the reports",
        )

    def _in_range(self, value: float) -> float:
        """Map a value in units of 2^-40 on [−1, 1] into the range."""
        fraction = (value / SCALE + 1) / 2
        return float(self.low) + fraction * self._span

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return read_numbers(read_array(reports), self.table.values.size)

    def variance(self, *, n: int) -> float:
        """Return the largest variance of the mean of n reports, whatever the values are."""
        one_report = self.table.worst * (self._span / 2) ** 2
        return one_report / whole(n, "n", least=1)

    def error(self, *, n: int, beta: Amount = 0.05) -> float:
        """Bound |estimate − mean| with probability at least 1 − β, by Chernoff's bound."""
        people = whole(n, "n", least=1)
        margin = chernoff_margin(self.table, people, read_beta(beta))
        # Rounded up: a promise of accuracy is never too small.
        return up(margin * self._span / 2)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the mean, whatever they contain."""
        people, forged_count = read_forged(n, forged)
        spread = float(np.ptp(self.table.values)) / SCALE
        one_report = spread * self._span / 2
        return up(forged_count * one_report / people)

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by clones (`shuffle_pure`)."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs.

        The weights of each row sum to 2^40, and values are in units of 2^-40.
        """
        return {
            "mechanism": "number",
            "version": 1,
            "low": str(self.low),
            "high": str(self.high),
            "epsilon": str(self.epsilon),
            "weights": self.table.weights.tolist(),
            "values": self.table.values.tolist(),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Number:
        """Read parameters written by `to_json`; the table is checked against ε again.

        Refuses: `InvalidArgument` for unknown or missing fields, other versions, and a table that
        does not keep ε or is biased.
        Law: `tests/local/test_limits.py::test_a_table_that_is_biased_is_refused`
        """
        data = fields_of(given, "number", ("low", "high", "epsilon", "weights", "values"))
        epsilon = _checked(read_epsilon(data["epsilon"]))
        try:
            weights = np.array(data["weights"], dtype=np.int64)
            values = np.array(data["values"], dtype=np.int64)
        except (ValueError, TypeError, OverflowError):
            raise InvalidArgument(
                "the table of a number must be whole numbers in rows of one length"
            ) from None
        table = check_table(MeanTable(weights, values), epsilon)
        made = cls.__new__(cls)
        _fill(made, data["low"], data["high"], epsilon, table)
        return made


def _checked(epsilon: Fraction) -> Fraction:
    """Refuse an ε for which no table can be made."""
    if epsilon < Fraction(1, 100):
        raise InvalidArgument(
            "epsilon must be at least 1/100 for a mean; with less, a report tells nothing"
        )
    return epsilon


def _fill(made: Number, low: Amount, high: Amount, epsilon: Fraction, table: MeanTable) -> None:
    bottom, top = read_range(low, high)
    fill(made, low=bottom, high=top, epsilon=epsilon, table=table)
