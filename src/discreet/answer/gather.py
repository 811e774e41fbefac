"""Asking the store: tallies that differ in their terms only are one question to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol

from ..plan.release import Total, Want
from ..query.algebra.tally import Tally, Term, Totals
from ..query.domains.domain import Scalar

__all__ = ["Counts", "Store", "frame_of", "gather"]

Key = tuple[Scalar, ...]
Counts = dict[Key, int]
"""The exact totals of one term, for the keys that occur."""


class Store(Protocol):
    """What an answer needs of an engine: exact totals."""

    def tally(self, tally: Tally, /) -> Totals:
        """Give the exact totals of every key that occurs."""
        ...


def frame_of(want: Want, keys: Sequence[Key]) -> Tally:
    """Give the tally of something wanted for some keys, and for all its cells, without its term."""
    if not want.tally.keys:
        return replace(want.tally, terms=())
    only = keys if isinstance(want, Total) else [(*key, *place) for key, place in product(keys, want.cells.places)]
    return replace(want.tally, terms=(), only=tuple(only))


def gather(wants: Sequence[Want], keys: Sequence[Key], store: Store) -> list[Counts]:
    """Ask the store for everything that is wanted, in as few questions as possible."""
    frames = [frame_of(want, keys) for want in wants]
    asked: dict[Tally, dict[Term, int]] = {}
    for want, frame in zip(wants, frames, strict=True):
        terms = asked.setdefault(frame, {})
        terms.setdefault(want.tally.terms[0], len(terms))
    found = {frame: store.tally(replace(frame, terms=tuple(terms))) for frame, terms in asked.items()}
    places = [asked[frame][want.tally.terms[0]] for want, frame in zip(wants, frames, strict=True)]
    return [_column(found[frame], place) for frame, place in zip(frames, places, strict=True)]


def _column(totals: Totals, place: int) -> Counts:
    return {key: each[place] for key, each in totals.items()}
