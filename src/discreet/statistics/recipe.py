"""Interface between statistics and the code that plans and answers questions.

The file of a statistic gives its `Recipe`, and declares the ways to make it in a
`StatisticMethod`. A release is an exact total (or choice) with noise; a need describes one before
its noise is chosen.

    member of Recipe    meaning

    needs               releases that the statistic requires, with the sensitivity of each
    noise_model         how noise in the released totals propagates to the error, and for which data
    estimate            value and confidence interval, by post-processing of the released totals

Guarantee: predictions are conservative. An error is within its prediction at least as often as
stated, on any data that the prediction supposes.
Law: tests/statistics/test_predict.py::TestMeasured
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

from ..frozen import frozen
from ..query.meaning.post_processing import Value
from .laws.noise_sum import IntegerNoise
from .releases.basis import Basis
from .releases.choice import ChoiceNeed, ChosenCell, ChosenRelease
from .releases.partition import JointRelease, PartitionNeed
from .releases.quantile_release import ChosenPlaces, PlaceNeed, PlaceRelease
from .releases.set_totals import SetsRelease
from .releases.total import DistinctNeed, NoisyRelease, NoisyTotal, StoredForm, TotalNeed

Need: TypeAlias = TotalNeed | DistinctNeed | PartitionNeed | ChoiceNeed | PlaceNeed
PlannedRelease: TypeAlias = NoisyRelease | JointRelease | ChosenRelease | PlaceRelease | SetsRelease
Drawn: TypeAlias = NoisyTotal | tuple[NoisyTotal, ...] | ChosenCell | ChosenPlaces
"""Released values of one need, for one key."""
ANY_DATA = "any data"
ROUNDED_DATA = "any data, as they are rounded"
SIZED_DATA = "any data of so many rows"
EVEN_DATA = "so many rows, spread evenly over their range"
WIDE_DATA = "any data of so many rows with a deviation of at least a twelfth of their range"
SHAPED_DATA = (
    "so many rows, spread evenly, as a bell or skewed, as wide as a twelfth of their range"
)
WIDE = 1 / 144
"""The least variance of `WIDE_DATA` in a range of width 1: a deviation of a twelfth, squared."""
Law: TypeAlias = Callable[[Sequence[IntegerNoise], int, float], float]
"""Bound on an error with probability at least 1 − β, from the noises, the number of rows and β."""


def within_range(error: Law, most: float, rounding: float) -> Law:
    """Return the law of a moment's error: `error` plus `rounding`, together at most `most`."""

    def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
        # One row has no sample moment: only the public range is known.
        if size <= 1:
            return most
        return min(most, error(noises, size, beta) + rounding)

    return law


@frozen
class NoiseModel:
    """Propagation of noise in the released totals to the error of a statistic.

    Labels, coefficients and fixed fractions are in the order of the statistic's needs.

    labels         names of the needs, as a plan shows them
    coefficients   worst-case derivative of the statistic by each noise, up to a common factor
    fixed          given fractions of the statistic's budget for its needs; None (for all statistics
                   today) if the planner finds them
    most           greatest possible error: the width of the public range that estimates are clipped to
    least          error without any noise, from the rounding of products
    counts         the statistic counts rows or people, so a relative error is meaningful
    law            error by the noises, for data that it `supposes`; None for a single total or choice,
                   whose release knows its error
    elsewhere      laws for other data, which are named
    best           law for the most favourable data that are supposed; None if `law` is near it
    compared       law by which plans are compared, where `law` is too often the public range
    quantile       the quantile that is estimated; its release knows its error
    joint          the totals are released together
    """

    labels: tuple[str, ...] = ("",)
    coefficients: tuple[float, ...] = (1.0,)
    fixed: tuple[float, ...] | None = None
    most: float = math.inf
    least: float = 0.0
    counts: bool = False
    law: Law | None = None
    joint: bool = False
    supposes: str = ANY_DATA
    elsewhere: tuple[tuple[str, Law], ...] = ()
    best: Law | None = None
    compared: Law | None = None
    quantile: Fraction | None = None


@frozen
class Draws:
    """Released values of one statistic in one key, in the order of its needs.

    | field | meaning |
    |---|---|
    | `totals` | noisy totals |
    | `cells` | privately chosen values of a public list (`releases.choice`) |
    | `places` | privately chosen quantiles (`releases.quantile_release`) |
    | `level` | confidence level of intervals that are fixed when they are drawn |
    | `nonnegative` | whether counts are clipped at 0 |
    """

    totals: tuple[NoisyTotal, ...]
    cells: tuple[ChosenCell, ...]
    places: tuple[ChosenPlaces, ...]
    level: float
    nonnegative: bool

    @classmethod
    def of(cls, drawn: Sequence[Drawn], *, level: float, nonnegative: bool) -> Draws:
        """Sort released values into totals, cells and places; joint totals stay in their order."""
        totals: list[NoisyTotal] = []
        cells: list[ChosenCell] = []
        places: list[ChosenPlaces] = []
        for released in drawn:
            match released:
                case NoisyTotal():
                    totals.append(released)
                case ChosenCell():
                    cells.append(released)
                case ChosenPlaces():
                    places.append(released)
                case _:
                    totals.extend(released)
        return cls(tuple(totals), tuple(cells), tuple(places), level, nonnegative)


class NoisyValue(Protocol):
    """Released statistic of one key; `stored` is the permanent form in which a ledger keeps it."""

    stored: ClassVar[StoredForm]

    @property
    def value(self) -> Value:
        """The value that is shown; None if there seem to be too few rows."""

    def interval(self, beta: float) -> tuple[Value, Value] | None:
        """Bound the exact value with probability at least 1 − β; None where no bound is known."""


class RowsEstimate(NoisyValue, Protocol):
    """Released mean or variance, which knows from how many rows it was made."""

    def rows_interval(self, beta: float) -> tuple[float, float]:
        """Bound the number of rows with a value, with probability at least 1 − β."""


class Recipe(Protocol):
    """Derivation of a statistic of certain columns; a frozen value, equal for equal questions."""

    @property
    def noise_model(self) -> NoiseModel:
        """The propagation of noise to the error of this statistic."""

    def needs(self, basis: Basis) -> list[Need]:
        """List the releases that the statistic requires; refuse expressions without a bound."""

    def estimate(self, draws: Draws) -> NoisyValue:
        """Compute the statistic from released values alone (post-processing, free of charge)."""


@frozen
class StatisticMethod:
    """Ways to make the statistics of one file, which declares them as `METHOD`.

    | field | meaning |
    |---|---|
    | recipe | recipe from releases of its own, by the statistic and the basis |
    | estimates | classes of its estimates; ledgers keep them, so they are only added |
    | joint | recipe from the totals of a shared partition, by the statistic and its columns there |
    | degree | degree of its columns in that partition: 2 where squares are needed |
    | centred | recipe from totals of centred values and rows, by the statistic and the basis |
    """

    recipe: Callable[..., Recipe]
    estimates: tuple[type[NoisyValue], ...]
    joint: Callable[..., Recipe | None] | None = None
    degree: int = 1
    centred: Callable[..., Recipe | None] | None = None
