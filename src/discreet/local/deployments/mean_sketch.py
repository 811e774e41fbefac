"""Base of both count-mean sketches: parameters, price and errors.

A count-mean sketch hashes text into the cells of a random row and sends noisy bits about its cell.
`CountMeanSketch` and `HadamardCountMeanSketch` add how a report is drawn and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import up
from ...frozen import fill, frozen
from ...mechanisms.laws.error_bound import parameter_repr
from ...privacy.events import Promise
from ...privacy.measures import Measure, PureDP
from ..estimates.calibration import reach_error
from ..reports.parameters import fields_of, parameters_of
from ..shuffle import Shuffle, shuffle_pure
from ..spend import read_forged
from .flip import epsilon_of, promise
from .hashing import RowHashes, read_key, read_width
from .sketch_estimate import sketch_error, sketch_variance

_FIELDS = ("epsilon", "rows", "width", "key")


@frozen(init=False)
class MeanSketch:
    """Sketch with ε, rows, width and the key of the hashes.

    A subclass adds the drawing and the reading of a report.
    """

    name: ClassVar[str]
    epsilon: Fraction
    rows: int
    width: int
    key: str

    __repr__ = parameter_repr

    def __init__(self, spend: Measure, *, rows: int, width: int, key: str) -> None:
        epsilon = epsilon_of(spend)
        row_count = whole(rows, "rows", least=1, most=1 << 20)
        cells = read_width(width, "width")
        fill(self, epsilon=epsilon, rows=row_count, width=cells, key=read_key(key))

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, rows: int, width: int, key: str, beta: Number = 0.05
    ) -> Self:
        """Make the sketch with the least ε whose n reports keep a frequency's error.

        The error is kept with probability 1 − β.
        """
        return reach_error(
            lambda spend: cls(spend, rows=rows, width=width, key=key), error, n=n, beta=beta
        )

    @property
    def event(self) -> Promise:
        """Privacy event of one report, for the person who sends it."""
        return promise(self.epsilon)

    @property
    def hashes(self) -> RowHashes:
        """The hash function of every row."""
        return RowHashes(self.rows, self.width, self.key)

    @property
    def coin_variance(self) -> float:
        """The variance that the coins add to a count, for each person."""
        raise NotImplementedError

    @property
    def worth(self) -> float:
        """The largest change that one report makes to the count of a cell."""
        raise NotImplementedError

    def variance(self, *, n: int, frequency: float = 0.0, others: float | None = None) -> float:
        """Return the variance of an estimated frequency, over the coins and the choice of the key.

        `others` is Σ f² over the frequencies f of the other values.

        By default one other value is held by everybody else, which is the worst case.

        >>> from discreet.local import CountMeanSketch, HadamardCountMeanSketch
        >>> from discreet.privacy import PureDP
        >>> emoji = CountMeanSketch(PureDP(4), rows=1024, width=1024, key="emoji")
        >>> safari = HadamardCountMeanSketch(PureDP(4), rows=1024, width=1024, key="safari")
        >>> [round(10**6 * s.variance(n=10**6, others=0.0777), 2) for s in (emoji, safari)]
        [0.26, 1.15]

        Law: `tests/local/test_sketches.py::TestEstimates`
        """
        return sketch_variance(
            self.coin_variance, self.rows, self.width, n=n, frequency=frequency, others=others
        )

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move a frequency: forged/n·`worth`·m/(m − 1).

        m is the width.
        """
        people, forged_count = read_forged(n, forged)
        one_report = self.width / (self.width - 1) * self.worth
        return up(one_report * forged_count / people)

    def error(self, *, n: int, beta: Number = 0.05, others: float | None = None) -> float:
        """Bound |estimate − frequency| with probability 1 − β, by the normal law.

        The variance at frequency 0 is used.
        """
        return sketch_error(self.variance(n=n, others=others), beta)

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by clones (`shuffle_pure`)."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        return parameters_of(self, self.name, _FIELDS)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, and other versions.
        """
        read = fields_of(given, cls.name, _FIELDS)
        return cls(PureDP(read.pop("epsilon")), **read)
