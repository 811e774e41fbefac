"""Batching of tallies: needs that differ in their terms only become one query to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Protocol, TypeAlias

from ..query.algebra.tally import Tally, Term, Totals
from ..statistics.recipe import Need
from ..statistics.releases.partition import PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed
from ..statistics.releases.set_totals import CellsNeed
from ..statistics.releases.total import DistinctNeed, KeyValues, TotalNeed

GatheredTotals: TypeAlias = dict[KeyValues, Any]
"""Totals of one need by key: a number, or a tuple of numbers for a partition. Absent keys are 0."""


class TallyBatch(Protocol):
    """Interface of an engine that an answer uses: exact totals."""

    def tally(self, tally: Tally, /) -> Totals:
        """Return the exact totals of every key that occurs."""
        ...


def frame_of(need: Need | CellsNeed, keys: Sequence[KeyValues]) -> Tally:
    """Return the tally of a need for some keys and all its cells, without its terms.

    Needs with equal frames are asked for in one query.
    """
    frame = replace(need.tally, terms=())
    if not need.tally.keys:
        return frame
    open_cells = isinstance(need, DistinctNeed) and need.cells.open
    if isinstance(need, PlaceNeed) or open_cells:
        # Restricted by key alone: which cells have rows is the question itself.
        only = tuple(keys) if any(keys) else None
        return replace(frame, only=only)
    if isinstance(need, CellsNeed) and need.tally.only is not None:
        # The need restricts its cells itself; the others are never read.
        return frame
    if isinstance(need, TotalNeed | PartitionNeed):
        return replace(frame, only=tuple(keys))
    cells = tuple((*key, *place) for key, place in product(keys, need.cells.places))
    return replace(frame, only=cells)


def gather(
    needs: Sequence[Need | CellsNeed], keys: Sequence[KeyValues], store: TallyBatch
) -> list[GatheredTotals]:
    """Ask the store for the totals of all needs, in as few queries as possible."""
    frames = [frame_of(need, keys) for need in needs]
    # For each frame its terms, and the position of each term in the totals; equal terms are asked once.
    positions: dict[Tally, dict[Term, int]] = {}
    for need, frame in zip(needs, frames, strict=True):
        terms = positions.setdefault(frame, {})
        for term in need.tally.terms:
            terms.setdefault(term, len(terms))
    answered: dict[Tally, Totals] = {}
    for frame, terms in positions.items():
        answered[frame] = store.tally(replace(frame, terms=tuple(terms)))
    gathered = []
    for need, frame in zip(needs, frames, strict=True):
        gathered.append(_totals_of(need, answered[frame], positions[frame]))
    return gathered


def _totals_of(
    need: Need | CellsNeed, totals: Totals, positions: Mapping[Term, int]
) -> GatheredTotals:
    """Pick the totals of one need: a number for each key, or several that are released together."""
    own = [positions[term] for term in need.tally.terms]
    if isinstance(need, PartitionNeed):
        together = {}
        for key, values in totals.items():
            together[key] = tuple(values[at] for at in own)
        return together
    first = own[0]
    by_key = {key: values[first] for key, values in totals.items()}
    if isinstance(need, DistinctNeed) and need.cells.open:
        return need.occurring(by_key)
    return by_key
