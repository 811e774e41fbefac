"""What a statistic wants released, with its sensitivity."""

from __future__ import annotations

from ..query.algebra.expression import Constant
from ..query.algebra.tally import Free, GroupShare, RowShare, Share, Tally, Term
from ..query.algebra.tree import CountDistinct, Quantile, Question, Statistic
from ..query.bounds.cells import Cells
from ..query.bounds.keys import PublicValues
from ..query.bounds.needs import Part, Sums, needs
from ..query.bounds.sensitivity import distinct_influence, influence, rank_influence, vote_influence
from ..query.bounds.shares import people_share, weight_of
from .release import Choice, Distinct, Total, Want

__all__ = ["MOST_CELLS", "cells_for", "wants_of"]

MOST_CELLS = 20_000
"""Keys times cells of a quantile, at most: what a store is asked to count."""


def cells_for(keys: int | None) -> int:
    """Say how fine the lattice of a quantile is: 1,024 cells, fewer if there are many keys.

    >>> cells_for(1), cells_for(100), cells_for(None), cells_for(10**6)
    (1024, 200, 256, 64)
    """
    return 256 if keys is None else max(64, min(1024, MOST_CELLS // max(1, keys)))


def wants_of(
    statistic: Statistic, question: Question, share: Share, keys: int | None, public_values: PublicValues | None
) -> list[Want]:
    """List what a statistic wants; a quantile: the answer, then the two ends of its interval."""
    need = needs(statistic, question.rows, most_cells=cells_for(keys), public_values=public_values)
    if isinstance(need, Sums):
        return [_total(part, need.people, question, share, keys) for part in need.parts]
    if isinstance(statistic, CountDistinct):
        return [_distinct(need, question, keys)]
    tally = _cell_tally(need, question, share)
    if not isinstance(statistic, Quantile):
        return [Choice(tally, need, vote_influence(tally), None)]
    moved = 2 * rank_influence(tally, statistic.at, keys)  # ranks are scored in halves
    return [Choice(tally, need, moved, statistic.at, side) for side in (0, -1, 1)]


def _total(part: Part, people: bool, question: Question, share: Share, keys: int | None) -> Total:
    if people:
        share = people_share(question.rows, keyed=bool(question.keys))
    weight = weight_of(max(1, -part.low, part.high), share)
    term = Term(part.expression, weight, part.low * weight, part.high * weight)
    tally = Tally(question.rows, tuple(key.expression for key in question.keys), (term,), share, people=people)
    return Total(tally, part.step / weight, influence(tally, 0, keys))


def _cell_tally(cells: Cells, question: Question, share: Share) -> Tally:
    """Count rows per key and cell; a person counts as so many rows, over all cells together."""
    by_rows = RowShare(share.groups * share.rows) if isinstance(share, GroupShare) else share
    weight = weight_of(1, by_rows)
    keys = (*(key.expression for key in question.keys), *cells.expressions)
    return Tally(question.rows, keys, (Term(Constant(True), weight, 0, weight),), by_rows)


def _distinct(cells: Cells, question: Question, keys: int | None) -> Distinct:
    """Count whole people, or rows, per key and value: who has more values than `max_groups` counts nowhere."""
    share = people_share(question.rows, keyed=True)
    expressions = (*(key.expression for key in question.keys), *cells.expressions)
    tally = Tally(
        question.rows, expressions, (Term(Constant(True), 1, 0, 1),), share, people=not isinstance(share, Free)
    )
    return Distinct(tally, cells, distinct_influence(tally, keys))
