"""QUANTILE, MEDIAN, MIN, MAX: values chosen by the exponential mechanism, by their rank error.

All quantiles of one column are one release: see `releases/quantile_release.py`. Errors are in rows,
and are those of the value that is shown. Rows in its own cell count as no error (a cell is one step
of the declared grid, or at most a small public part of the value: `QuantileGrid.grain`). They are
predicted for values of four usual shapes (`laws/quantile_shapes.py`), in rows and in the unit of
the column; those of MIN and MAX in rows alone, for any data. An `error=` is met for the worst data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen, replace
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Quantile
from ..query.algebra.tally import Tally
from ..query.bounds.quantile_grid import QuantileGrid, quantile_grid_of
from ..query.bounds.sensitivity import vote_influence
from ..query.domains.domain import Scalar
from ..query.meaning.post_processing import Value
from .recipe import SHAPED_DATA, Draws, Need, NoiseModel, NoisyValue, Recipe, StatisticMethod
from .releases.basis import Basis
from .releases.choice import rows_by
from .releases.quantile_release import PlaceNeed
from .releases.total import StoredForm

MAX_CELLS = 1 << 18
"""Approximate limit on keys times cells of a quantile, which a store may have to count."""
_UNKNOWN_KEYS = 64
"""Number of keys that is supposed where it is not public."""


def cells_for(keys: int | None) -> int:
    """Return into about how many cells the range of a quantile is cut; fewer for many keys.

    >>> from discreet.statistics.quantile import cells_for
    >>> cells_for(1), cells_for(64), cells_for(None)
    (262144, 4096, 4096)
    """
    if keys is None:
        keys = _UNKNOWN_KEYS
    return MAX_CELLS // max(1, keys)


@frozen
class QuantileRecipe:
    """Recipe of the quantile `at` of an expression.

    Refuses: expressions without an order (`UnsupportedQuery`).
    Law: tests/answer/test_quantile_intervals.py::test_they_hold_on_any_data
    """

    expression: Expression
    at: Fraction

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one release, whose budget allocation is fixed."""
        # MIN and MAX have public weights of their own: their error is that of any data.
        if self.at in {0, 1}:
            return NoiseModel()
        return NoiseModel(supposes=SHAPED_DATA, quantile=self.at)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one release of all quantiles of the expression."""
        ladder = quantile_grid_of(self.expression, basis.columns, cells_for(basis.key_count))
        tally = place_tally(ladder, basis)
        # Quantiles of one expression have equal needs, so that they are released and paid once.
        asked = {at for of, at in basis.quantiles if of == self.expression}
        ats = tuple(sorted({self.at, *asked}))
        unit = vote_influence(tally)
        alone = basis.key_count == 1
        return [PlaceNeed(tally, ladder, ats, unit, alone, basis.intervals)]

    def estimate(self, draws: Draws) -> NoisyValue:
        """Return the value that was chosen for this quantile, with its interval if one was drawn."""
        [chosen] = draws.places
        own = chosen.ats.index(self.at)
        value = chosen.values[own]
        if chosen.reaches is None:
            return QuantilePoint(value)
        return QuantileEstimate((value, value), chosen.reaches[own], chosen.range, draws.level)


def place_tally(ladder: QuantileGrid, basis: Basis) -> Tally:
    """Count rows by key and cell; a row whose value is NULL is in no cell.

    Contribution bounding limits the rows of a person over all keys and cells together, and the rows
    in none: a row weighs the same whatever is asked about it (docs/explanation/meaning.md, M3).
    """
    tally = rows_by((*basis.keys, *ladder.expressions), basis.rows, basis)
    if len(ladder.expressions) > 1:
        return tally
    return replace(tally, cells=(ladder.first, ladder.last))


@frozen
class QuantileEstimate:
    """Released quantile: the middle of a cell, and its confidence interval `reach` at one `level`.

    Release 0.1.0 chose cells; now both ends of the cell are the value. At a higher confidence level
    than that of the draw only the public range is known.

    Guarantee: the interval contains the exact quantile with probability at least 1 − β.
    Law: tests/answer/test_quantile_intervals.py::test_they_hold_on_any_data

    >>> from discreet.statistics.quantile import QuantileEstimate
    >>> from fractions import Fraction
    >>> cell, reach, range = ((Fraction(a), Fraction(b)) for a, b in ((40, 41), (38, 43), (0, 120)))
    >>> age = QuantileEstimate(cell, reach, range, 0.95)
    >>> age.value, age.interval(0.05), age.interval(0.01)
    (40.5, (38.0, 43.0), (0.0, 120.0))
    """

    cell: tuple[Scalar, Scalar]
    reach: tuple[Scalar, Scalar]
    range: tuple[Scalar, Scalar]
    level: float

    stored: ClassVar[StoredForm] = StoredForm.of(
        "place", cell="scalars", reach="scalars", range="scalars", level="float"
    )

    @property
    def value(self) -> Value:
        """The middle of the chosen cell; of days and seconds, a whole one."""
        low, high = self.cell
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            return float((low + high) / 2)
        return (int(low) + int(high)) // 2  # type: ignore[arg-type]

    def interval(self, beta: float) -> tuple[Value, Value]:
        """Bound the exact quantile."""
        # The slack is for the rounding of 1 − level, not for a higher confidence level.
        drawn = beta >= 1 - self.level - 1e-12
        low, high = self.reach if drawn else self.range
        return _plain(low), _plain(high)


@frozen
class QuantilePoint:
    """Released quantile without interval: all of the budget was spent on the value.

    >>> from discreet.statistics.quantile import QuantilePoint
    >>> from fractions import Fraction
    >>> QuantilePoint(Fraction(81, 2)).value
    40.5
    """

    chosen: Scalar

    stored: ClassVar[StoredForm] = StoredForm.of("point", chosen="scalar")

    @property
    def value(self) -> Value:
        """The chosen value."""
        return _plain(self.chosen)

    def interval(self, beta: float) -> None:
        """Return None: there is no interval."""


def _plain(value: Scalar) -> Value:
    """Return a number as a float, days and seconds as they are."""
    return float(value) if isinstance(value, Fraction) else value


def _recipe(statistic: Quantile, _basis: Basis) -> Recipe:
    return QuantileRecipe(statistic.of, statistic.at)


METHOD = StatisticMethod(_recipe, (QuantileEstimate, QuantilePoint))
