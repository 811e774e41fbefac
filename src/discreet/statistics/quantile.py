"""QUANTILE, MEDIAN, MIN, MAX: places chosen privately, by how many ranks they are beside the quantile.

All quantiles of one column are one release: see `releases/quantile_release.py`. Errors are in rows, for the worst
data, and speak of the value that is shown; rows in its own cell count as none (a cell is one step of the declared
grid, or at most a small public part of the value: `QuantileGrid.grain`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen
from ..query.algebra.expression import Constant, Expression
from ..query.algebra.tally import Tally
from ..query.algebra.tree import Where
from ..query.bounds.quantile_grid import QuantileGrid, quantile_grid_of
from ..query.bounds.sensitivity import vote_influence
from ..query.domains.domain import Scalar
from ..query.meaning.post_processing import Value
from .recipe import Draws, Need, NoiseModel, NoisyValue
from .releases.addend import present
from .releases.basis import Basis
from .releases.choice import rows_by
from .releases.quantile_release import PlaceNeed
from .releases.stored import StoredForm

MOST_CELLS = 1 << 18
"""Keys times cells of a quantile, about: what a store may be asked to count, if so many cells have rows."""


def cells_for(keys: int | None) -> int:
    """Return how many cells a quantile is given, before the least fineness: fewer if there are many keys.

    >>> from discreet.statistics.quantile import cells_for
    >>> cells_for(1), cells_for(64), cells_for(None)
    (262144, 4096, 4096)
    """
    return MOST_CELLS // max(1, 64 if keys is None else keys)


@frozen
class QuantileRecipe:
    """The quantile `at` of an expression."""

    expression: Expression
    at: Fraction

    @property
    def noise_model(self) -> NoiseModel:
        """One release, whose parts of the budget no search changes."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """List the one release of all quantiles of the expression; refuses what has no order."""
        ladder = quantile_grid_of(self.expression, basis.columns, cells_for(basis.key_count))
        tally = place_tally(self.expression, ladder, basis)
        ats = tuple(sorted({self.at, *(at for of, at in basis.quantiles if of == self.expression)}))
        return [
            PlaceNeed(
                tally, ladder, ats, vote_influence(tally), basis.key_count == 1, basis.intervals
            )
        ]

    def estimate(self, draws: Draws) -> NoisyValue:
        """Return the place that was chosen for this quantile, with its interval if one was drawn."""
        [chosen] = draws.places
        own = chosen.ats.index(self.at)
        value = chosen.values[own]
        if chosen.reaches is None:
            return QuantilePoint(value)
        return QuantileEstimate((value, value), chosen.reaches[own], chosen.range, draws.level)


def place_tally(of: Expression, ladder: QuantileGrid, basis: Basis) -> Tally:
    """Count the rows whose value is not NULL, by key and cell; a person counts as so many rows, over all of them."""
    condition = present(of, basis.rows)
    rows = basis.rows if condition == Constant(True) else Where(basis.rows, condition)
    return rows_by((*basis.keys, *ladder.expressions), rows, basis)


@frozen
class QuantileEstimate:
    """A quantile: the middle of a cell (release 0.1.0 chose cells; now both ends are the value), and its reach, which
    holds it with probability `level`. At a higher level only the public range is known.

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
        ends = self.reach if beta >= 1 - self.level - 1e-12 else self.range
        return _plain(ends[0]), _plain(ends[1])


@frozen
class QuantilePoint:
    """A quantile that all of its budget was spent on: it has no interval.

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
