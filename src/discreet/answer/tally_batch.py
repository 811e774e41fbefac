"""Asking the store: tallies that differ in their terms only are one question to it."""

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
"""What one need's `exact` takes: for the keys that occur a number, or those of a partition."""


class TallyBatch(Protocol):
    """What an answer needs of an engine: exact totals."""

    def tally(self, tally: Tally, /) -> Totals:
        """Return the exact totals of every key that occurs."""
        ...


def frame_of(need: Need | CellsNeed, keys: Sequence[KeyValues]) -> Tally:
    """Return the tally of something needed for some keys, and for all its cells, without its term."""
    if not need.tally.keys:
        return replace(need.tally, terms=())
    if isinstance(need, PlaceNeed) or (
        isinstance(need, DistinctNeed) and need.cells.open
    ):  # by its key alone: which cells have rows is what is asked
        return replace(need.tally, terms=(), only=tuple(keys) if any(keys) else None)
    if (
        isinstance(need, CellsNeed) and need.tally.only is not None
    ):  # more cells than are read: what else a row can be
        return replace(need.tally, terms=())
    only = (
        keys
        if isinstance(need, TotalNeed | PartitionNeed)
        else [(*key, *place) for key, place in product(keys, need.cells.places)]
    )
    return replace(need.tally, terms=(), only=tuple(only))


def gather(
    needs: Sequence[Need | CellsNeed], keys: Sequence[KeyValues], store: TallyBatch
) -> list[GatheredTotals]:
    """Ask the store for everything that is needed, in as few questions as possible."""
    frames = [frame_of(need, keys) for need in needs]
    asked: dict[Tally, dict[Term, int]] = {}
    for need, frame in zip(needs, frames, strict=True):
        terms = asked.setdefault(frame, {})
        for term in need.tally.terms:
            terms.setdefault(term, len(terms))
    found = {
        frame: store.tally(replace(frame, terms=tuple(terms))) for frame, terms in asked.items()
    }
    return [
        _totals_of(need, found[frame], asked[frame])
        for need, frame in zip(needs, frames, strict=True)
    ]


def _totals_of(need: Need | CellsNeed, totals: Totals, terms: Mapping[Term, int]) -> GatheredTotals:
    """Pick the totals of one need: a number for each key, or several that are released together."""
    places = [terms[term] for term in need.tally.terms]
    if isinstance(need, PartitionNeed):
        return {key: tuple(each[place] for place in places) for key, each in totals.items()}
    found = {key: each[places[0]] for key, each in totals.items()}
    return need.occurring(found) if isinstance(need, DistinctNeed) and need.cells.open else found
