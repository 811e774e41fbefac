"""Asking the store: tallies that differ in their terms only are one question to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol

from ..query.algebra.tally import Tally, Term, Totals
from ..statistics.recipe import Need
from ..statistics.releases.sets import CellsNeed
from ..statistics.releases.total import ExactTotals, KeyValues, TotalNeed

__all__ = ["Tallier", "frame_of", "gather"]


class Tallier(Protocol):
    """What an answer needs of an engine: exact totals."""

    def tally(self, tally: Tally, /) -> Totals:
        """Return the exact totals of every key that occurs."""
        ...


def frame_of(need: Need | CellsNeed, keys: Sequence[KeyValues]) -> Tally:
    """Return the tally of something needed for some keys, and for all its cells, without its term."""
    if not need.tally.keys:
        return replace(need.tally, terms=())
    only = keys if isinstance(need, TotalNeed) else [(*key, *place) for key, place in product(keys, need.cells.places)]
    return replace(need.tally, terms=(), only=tuple(only))


def gather(needs: Sequence[Need | CellsNeed], keys: Sequence[KeyValues], store: Tallier) -> list[ExactTotals]:
    """Ask the store for everything that is needed, in as few questions as possible."""
    frames = [frame_of(need, keys) for need in needs]
    asked: dict[Tally, dict[Term, int]] = {}
    for need, frame in zip(needs, frames, strict=True):
        terms = asked.setdefault(frame, {})
        terms.setdefault(need.tally.terms[0], len(terms))
    found = {frame: store.tally(replace(frame, terms=tuple(terms))) for frame, terms in asked.items()}
    places = [asked[frame][need.tally.terms[0]] for need, frame in zip(needs, frames, strict=True)]
    return [_column(found[frame], place) for frame, place in zip(frames, places, strict=True)]


def _column(totals: Totals, place: int) -> ExactTotals:
    return {key: each[place] for key, each in totals.items()}
