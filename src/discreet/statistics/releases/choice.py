"""Cells chosen privately, one per key: how every cell is scored, and the mechanism that chooses by it.

One event for all keys together: a choice in every key is one choice among all combinations, by the sum of the scores.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...mechanisms.selection.exponential import Exponential
from ...mechanisms.selection.permute_and_flip import PermuteAndFlip
from ...privacy.events import Event
from ...privacy.neighbours import ADD_REMOVE, Neighbours
from ...query.algebra.expression import Constant, Expression
from ...query.algebra.tally import Tally, Term
from ...query.algebra.tree import Relation
from ...query.bounds.contribution_bounds import weight_of
from ...query.bounds.keys import public_keys
from ...query.bounds.public_cells import Cells, list_cells
from ...query.bounds.relation_facts import neighbours_of
from ..laws.interval_arithmetic import at_least
from .basis import Basis
from .total import ExactTotals, KeyValues

_DEEP = -(1 << 62)


@frozen
class ChoiceNeed:
    """One cell per key: the quantile `at`, or the most frequent one if `at` is None.

    `sensitivity` is that of the sum of the scores over all keys, in whole steps of the scores; `alone` says that there
    is one key only.
    """

    tally: Tally
    cells: Cells
    sensitivity: int
    at: Fraction | None
    alone: bool = False

    @property
    def options(self) -> int:
        """How many outcomes there are in one key: the cells."""
        return len(self.cells.places)

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that the promise is about."""
        return neighbours_of(self.tally.rows)

    @property
    def monotone(self) -> bool:
        """Whether one unit raises all scores or lowers all of them: votes do, if units are added or removed."""
        return self.at is None and self.neighbours == ADD_REMOVE

    @property
    def steps_per_row(self) -> int:
        """How many steps of its scores one row is worth: the weight; for a rank, in halves of 1/denominator."""
        return self.tally.terms[0].weight * (1 if self.at is None else 2 * self.at.denominator)

    def scores(self, counts: ExactTotals, key: KeyValues) -> list[int]:
        """Score every outcome of one key: −(how many ranks it is off), or how often a value occurs.

        The aim is the rank q(n − 1) + 1/2, between the rows that SQL interpolates: the least value for q = 0, the
        greatest for q = 1. So ranks are counted in halves of 1/denominator. Depths beyond 2^62 are cut off: that moves
        no two scores further apart.
        """
        each = [counts.get((*key, *place), 0) for place in self.cells.places]
        if self.at is None:
            return each
        top, bottom, weight = self.at.numerator, self.at.denominator, self.tally.terms[0].weight
        up_to = [0, *accumulate(2 * bottom * count for count in each)]
        aim = 2 * top * sum(each) + weight * (bottom - 2 * top)
        inner = [-max(0, aim - after, before - aim) for before, after in pairwise(up_to)]
        return [max(_DEEP, score) for score in inner]


@frozen
class ChosenRelease:
    """Cells or values, and the mechanism that chooses one per key."""

    need: ChoiceNeed
    mechanism: Exponential | PermuteAndFlip

    @property
    def event(self) -> Event:
        """What is done, to be priced: one choice among all combinations over the keys."""
        return self.mechanism.event

    @property
    def scale(self) -> float:
        """How many rows worse a choice must be to be e times less likely."""
        return at_least(1 / (self.mechanism.rate * self.need.steps_per_row))

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in one key with probability at least 1 − β, in rows."""
        return self.mechanism.error(self.need.options, beta) / self.need.steps_per_row


@frozen
class ChosenCell:
    """A cell that was chosen, and how many ranks or rows the choice misses at most, with probability at least 0.95."""

    cells: Cells
    place: int
    miss: float


def cell_tally(cells: Cells, basis: Basis) -> Tally:
    """Count rows per key and cell; a person counts as so many rows, over all cells together."""
    return rows_by((*basis.keys, *cells.expressions), basis.rows, basis)


def rows_by(keys: tuple[Expression, ...], rows: Relation, basis: Basis) -> Tally:
    """Count rows by some expressions; a person counts as so many rows, over all of them together."""
    weight = weight_of(1, basis.share)
    return Tally(rows, keys, (Term(Constant(True), weight, 0, weight),), basis.share)


def any_cells(of: Expression, basis: Basis) -> Cells:
    """Return one cell for every public value of an expression, or, where they are not public, for every value."""
    values = public_keys(of, basis.rows, public_values=basis.public_values)
    return Cells((of,), (), (), open=True) if values is None else public_cells(of, basis)


def public_cells(of: Expression, basis: Basis) -> Cells:
    """Return one cell for every public value of an expression; refuses values that are not a short public list."""
    values = public_keys(of, basis.rows, public_values=basis.public_values)
    if values is None:
        raise UnsupportedQuery("MODE needs a short public list of values; use a Category")
    return list_cells(of, [value for value in values if value is not None])
