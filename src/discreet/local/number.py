"""A mean, asked without trusting anybody: the table with the least worst-case variance for ε."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
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
from .deployments.flip import epsilon_of
from .designs.design import Flags, Integers, read_array, read_numbers
from .estimates.calibration import near_epsilon
from .estimates.chernoff import reach
from .estimates.estimate import Estimate, read_level
from .reports.parameters import fields_of
from .shuffle import Shuffle, shuffle_pure
from .spend import read_epsilon, read_range
from .table import SCALE, MeanTable, check_table, make_table

_FINE = 1 << 52  # places between two inputs
_CHUNK = 1 << 16
_LARGEST = 10  # ε beyond which the table of ε = 10 is used: a report is then within a thousandth of the range


@frozen(init=False, eq=False, repr=False)
class Number:
    """Report a number from a public range under ε-DP for the person who reports, so that the mean can be told.

    A value outside the range is clipped to it. It is rounded at random to one of the table's inputs, without bias, and
    the output is drawn by whole weights: the law is exact, and each of its ratios was checked to be at most e^ε.

    >>> import numpy as np
    >>> from discreet.local import Number
    >>> from discreet.privacy import PureDP
    >>> minutes = Number(0, 100, PureDP(8))
    >>> found = minutes.estimate(minutes.randomize(np.full(10_000, 40.0)))
    >>> abs(found["mean"] - 40) < 2
    True

    Refuses a range without room, and ε below 1/100; `randomize` refuses NaN.
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    table: MeanTable

    def __init__(self, low: Amount, high: Amount, spend: Measure) -> None:
        epsilon = epsilon_of(spend)
        _fill(self, low, high, epsilon, make_table(min(_checked(epsilon), Fraction(_LARGEST))))

    @classmethod
    def for_error(
        cls, error: Amount, *, n: int, low: Amount, high: Amount, beta: Amount = 0.05
    ) -> Number:
        """Take the least ε (to about 2 %) at which n reports tell the mean to within `error`, with probability at least
        1 − β.

        Refuses an error that no ε up to 10 reaches.
        """
        found = near_epsilon(
            lambda epsilon: cls(low, high, PureDP(epsilon)).error(n=n, beta=beta),
            error,
            least=Fraction(1, 100),
            most=Fraction(_LARGEST),
            close=Fraction(102, 100),
        )
        return cls(low, high, PureDP(found))

    def __repr__(self) -> str:
        return f"Number({self.low}, {self.high}, epsilon={self.epsilon})"

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it (neighbours: replace the value)."""
        return Promise(PureDP(self.epsilon), neighbours=REPLACE)

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | NDArray[np.int64]:
        """Draw the report of one number, or an array of reports; what is drawn does not depend on the value."""
        places = self._places(value)
        rows = places // _FINE + (uniform(_FINE, places.size, bits=bits) < places % _FINE)
        words = uniform(SCALE, places.size, bits=bits)
        ends = np.cumsum(self.table.weights, axis=1)
        found = [
            (ends[rows[s : s + _CHUNK]] <= words[s : s + _CHUNK, None]).sum(axis=1)
            for s in range(0, places.size, _CHUNK)
        ]
        reports = np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)
        return reports if isinstance(value, np.ndarray | list | tuple) else int(reports[0])

    def _places(self, value: object) -> Integers:
        """Read numbers as places on the inputs' grid, in 2^-52 of a step; the refusal carries no value."""
        array = np.atleast_1d(read_array(value))
        if array.dtype.kind not in "iuf":
            raise InvalidArgument("a value must be a number, or a list of numbers")
        if np.isnan(array).any():
            raise InvalidArgument(
                "a value must not be NaN; decide on the device what is sent for a missing value"
            )
        share = (
            np.clip(array.astype(np.float64), float(self.low), float(self.high)) - float(self.low)
        ) / self._span
        steps = len(self.table.weights) - 1
        return np.minimum(np.clip(share, 0, 1) * (steps * _FINE), steps * _FINE).astype(np.int64)

    @property
    def _span(self) -> float:
        return float(self.high - self.low)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the mean of those who reported, without bias; the interval is Chernoff's bound at the exact laws.

        Refuses no reports, and reports that no device could have sent.
        """
        array = read_array(reports)
        strange = int((~self.valid(array)).sum())
        if strange or array.size == 0:
            raise InvalidArgument(
                f"{strange} of {array.size} reports could not come from a device; keep reports[valid(reports)] only"
            )
        chance = 1 - read_level(level)
        counts = np.bincount(array, minlength=self.table.values.size)
        total = sum(c * v for c, v in zip(counts.tolist(), self.table.values.tolist(), strict=True))
        mean = self._at(total / array.size)
        off = reach(self.table, array.size, chance) * self._span / 2
        ends = np.clip([mean - off, mean + off], float(self.low), float(self.high))
        error = math.sqrt(self.variance(n=array.size))
        value, width, low, high = (np.array([x]) for x in (mean, error, *ends))
        note = "by Chernoff's bound at the exact laws of the reports"
        return Estimate(
            "mean", ("mean",), value, width, low, high, float(level), int(array.size), note=note
        )

    def _at(self, value: float) -> float:
        """Return where a value in units of 2^-40 on [−1, 1] lies in the range."""
        return float(self.low) + (value / SCALE + 1) / 2 * self._span

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return read_numbers(read_array(reports), self.table.values.size)

    def variance(self, *, n: int) -> float:
        """Return the largest variance of the mean of n reports, whatever the values are."""
        return self.table.worst * (self._span / 2) ** 2 / whole(n, "n", least=1)

    def error(self, *, n: int, beta: Amount = 0.05) -> float:
        """Bound |estimate − mean| with probability at least 1 − β, by Chernoff's bound at the laws of the reports."""
        return up(reach(self.table, whole(n, "n", least=1), read_beta(beta)) * self._span / 2)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the mean, whatever they say."""
        people = whole(n, "n", least=1)
        reach_of_one = float(np.ptp(self.table.values)) / SCALE * self._span / 2
        return up(whole(forged, "forged", most=people) * reach_of_one / people)

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people, by clones."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs: the weights of each row sum to 2^40, values are in 2^-40."""
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

        Refuses unknown or missing fields, other versions, and a table that does not keep ε or is biased.
        """
        data = fields_of(given, "number", ("low", "high", "epsilon", "weights", "values"))
        epsilon = _checked(read_epsilon(data["epsilon"]))
        try:
            table = MeanTable(
                np.array(data["weights"], dtype=np.int64), np.array(data["values"], dtype=np.int64)
            )
        except (ValueError, TypeError, OverflowError):
            raise InvalidArgument(
                "the table of a number must be whole numbers in rows of one length"
            ) from None
        made = cls.__new__(cls)
        _fill(made, data["low"], data["high"], epsilon, check_table(table, epsilon))
        return made


def _checked(epsilon: Fraction) -> Fraction:
    if epsilon < Fraction(1, 100):
        raise InvalidArgument(
            "epsilon must be at least 1/100 for a mean; with less, a report tells nothing"
        )
    return epsilon


def _fill(made: Number, low: Amount, high: Amount, epsilon: Fraction, table: MeanTable) -> None:
    bottom, top = read_range(low, high)
    fill(made, low=bottom, high=top, epsilon=epsilon, table=table)
