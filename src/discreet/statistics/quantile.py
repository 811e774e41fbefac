"""QUANTILE, MEDIAN, MIN, MAX: a cell of a public lattice, chosen by how many ranks it is beside the quantile.

Three choices: the answer, and the two ends of its interval. Errors are in rows, for the worst data: the exact bound of
the exponential mechanism. Half of the budget goes to the answer and a quarter to each end, always: the ends are there
for the interval, not the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..query.algebra.expression import Expression
from ..query.bounds.cells import lattice
from ..query.bounds.sensitivity import rank_influence
from ..query.domains.domain import Scalar
from ..query.meaning.finish import Value
from .recipe import Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.choice import ChoiceNeed, cell_tally
from .releases.stored import StoredForm

__all__ = ["MOST_CELLS", "QuantileEstimate", "QuantileRecipe", "cells_for"]

MOST_CELLS = 20_000
"""Keys times cells of a quantile, at most: what a store is asked to count."""


def cells_for(keys: int | None) -> int:
    """Return how fine the lattice of a quantile is: 1,024 cells, fewer if there are many keys.

    >>> from discreet.statistics.quantile import cells_for
    >>> cells_for(1), cells_for(100), cells_for(None), cells_for(10**6)
    (1024, 200, 256, 64)
    """
    return 256 if keys is None else max(64, min(1024, MOST_CELLS // max(1, keys)))


@dataclass(frozen=True, slots=True)
class QuantileRecipe:
    """The quantile `at` of an expression."""

    expression: Expression
    at: Fraction

    @property
    def noise_model(self) -> NoiseModel:
        """Three choices, whose parts of the budget no search changes."""
        return NoiseModel(("answer", "low end", "high end"), (1.0, 1.0, 1.0), fixed=(0.5, 0.25, 0.25))

    def needs(self, basis: Basis) -> list[Need]:
        """List the answer, then the two ends of its interval; refuses what has no order."""
        cells = lattice(self.expression, basis.columns, cells_for(basis.key_count))
        tally = cell_tally(cells, basis)
        moved = 2 * rank_influence(tally, self.at, basis.key_count)  # ranks are scored in halves
        return [ChoiceNeed(tally, cells, moved, self.at, side) for side in (0, -1, 1)]

    def estimate(self, draws: Draws) -> QuantileEstimate:
        """Return the chosen cell, and from the low end of the one below it to the high end of the one above it."""
        middle, below, above = (chosen.place for chosen in draws.cells)
        ends = draws.cells[0].cells.ends
        first, last = min(below, above), max(below, above)  # the two are drawn apart and may cross; then both ends hold
        return QuantileEstimate(ends[middle], (ends[first][0], ends[last][1]), (ends[0][0], ends[-1][1]), draws.level)


@dataclass(frozen=True, slots=True)
class QuantileEstimate:
    """A quantile: the middle of the chosen cell; from the low end of the cell chosen below it to the high end of the
    one chosen above it, which holds with probability `level`. At a higher level only the public range is known.

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


def _plain(value: Scalar) -> Value:
    """Return a number as a float, days and seconds as they are."""
    return float(value) if isinstance(value, Fraction) else value
