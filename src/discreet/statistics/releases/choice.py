"""Private choice of one cell (public value) per key: its scores, and the selection mechanism.

One event for all keys together: a choice in every key is one choice among all combinations, by the sum
of the scores.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

from ...arithmetic.rounding import at_least
from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...mechanisms.selection.exponential import Exponential
from ...mechanisms.selection.permute_and_flip import PermuteAndFlip
from ...privacy.events import Event
from ...privacy.measures import ADD_REMOVE, Neighbours
from ...query.algebra.expression import Constant, Expression
from ...query.algebra.tally import Tally, Term
from ...query.algebra.tree import Relation
from ...query.bounds.contribution_bounds import weight_of
from ...query.bounds.keys import public_keys
from ...query.bounds.public_cells import Cells, list_cells
from ...query.bounds.relation_facts import neighbours_of
from .basis import Basis
from .total import ExactTotals, KeyValues

_LEAST_SCORE = -(1 << 62)
"""Scores below this are cut off, so that they fit in 64 bits."""


@frozen
class ChoiceNeed:
    """Need for one cell (public value) per key: the quantile `at`, or if None the most frequent.

    `sensitivity` is that of the sum of the scores over all keys, in whole steps of the scores;
    `alone` says that there is one key only.
    """

    tally: Tally
    cells: Cells
    sensitivity: int
    at: Fraction | None
    alone: bool = False

    @property
    def options(self) -> int:
        """The number of outcomes in one key: the cells."""
        return len(self.cells.places)

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the privacy guarantee."""
        return neighbours_of(self.tally.rows)

    @property
    def monotone(self) -> bool:
        """True if one unit raises all scores or lowers all: votes of added or removed units do."""
        return self.at is None and self.neighbours == ADD_REMOVE

    @property
    def steps_per_row(self) -> int:
        """The steps of the scores that one row is worth; ranks count in halves of 1/denominator."""
        weight = self.tally.terms[0].weight
        if self.at is None:
            return weight
        return weight * 2 * self.at.denominator

    def scores(self, counts: ExactTotals, key: KeyValues) -> list[int]:
        """Score every outcome (cell) of one key from exact counts.

        Of a mode the score is how often the value occurs. Of a quantile q it is minus the distance
        of the cell's ranks from the rank aimed at, q(n − 1) + 1/2. That lies between the rows that
        SQL interpolates: at the least value for q = 0, at the greatest for q = 1. Ranks are counted
        in halves of 1/denominator of q.
        """
        occurrences = [counts.get((*key, *place), 0) for place in self.cells.places]
        if self.at is None:
            return occurrences
        numerator = self.at.numerator
        denominator = self.at.denominator
        weight = self.tally.terms[0].weight
        ranks = [0, *accumulate(2 * denominator * count for count in occurrences)]
        aim = 2 * numerator * sum(occurrences) + weight * (denominator - 2 * numerator)
        scores = []
        for before, after in pairwise(ranks):
            rank_error = max(0, aim - after, before - aim)
            # The cut moves no two scores further apart, so the sensitivity holds.
            scores.append(max(_LEAST_SCORE, -rank_error))
        return scores


@frozen
class ChosenRelease:
    """Planned choice of one cell per key, and its selection mechanism."""

    need: ChoiceNeed
    mechanism: Exponential | PermuteAndFlip

    @property
    def event(self) -> Event:
        """The event that accountants price: one choice among all combinations over the keys."""
        return self.mechanism.event

    @property
    def scale(self) -> float:
        """The rows by which a choice must be worse to be e times less likely."""
        return at_least(1 / (self.mechanism.rate * self.need.steps_per_row))

    def error(self, beta: float = 0.05) -> float:
        """Bound the error in one key with probability at least 1 − β, in rows."""
        return self.mechanism.error(self.need.options, beta) / self.need.steps_per_row


@frozen
class ChosenCell:
    """Chosen cell, number `place` of `cells`, and a bound on its error.

    The bound is in rows, of ranks or of votes, and holds with probability at least 0.95.
    """

    cells: Cells
    place: int
    miss: float


def cell_tally(cells: Cells, basis: Basis) -> Tally:
    """Count rows per key and cell; contribution bounding is over all cells together."""
    return rows_by((*basis.keys, *cells.expressions), basis.rows, basis)


def rows_by(keys: tuple[Expression, ...], rows: Relation, basis: Basis) -> Tally:
    """Count rows by some expressions; contribution bounding is over all groups together."""
    weight = weight_of(1, basis.share)
    term = Term(Constant(True), weight, 0, weight)
    return Tally(rows, keys, (term,), basis.share, joined=basis.joined)


def any_cells(of: Expression, basis: Basis) -> Cells:
    """Return one cell for every public value of an expression; without a list, for every value."""
    values = public_keys(of, basis.rows, public_values=basis.public_values)
    if values is None:
        return Cells((of,), (), (), open=True)
    return public_cells(of, basis)


def public_cells(of: Expression, basis: Basis) -> Cells:
    """Return one cell for every public value of an expression.

    Refuses: values that are not a short public list (`UnsupportedQuery`).
    """
    values = public_keys(of, basis.rows, public_values=basis.public_values)
    if values is None:
        raise UnsupportedQuery("MODE needs a short public list of values; use a Category")
    # NULL is no value: it is neither a mode nor counted as distinct.
    listed = [value for value in values if value is not None]
    return list_cells(of, listed)
