"""Join conditions in Python: names of both sides, or pairs (expression here, column there)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .aggregate import Of

On: TypeAlias = str | Sequence[str | tuple[Of, str]]
"""Columns that a join matches: "ward", ["ward", "year"], or [(col("zip") // 100, "area")]."""


def join_pairs(on: On) -> list[tuple[Of, str]]:
    """Return pairs of the expression on this side and the column on the other."""
    if isinstance(on, str):
        return [(on, on)]
    pairs: list[tuple[Of, str]] = []
    for item in on:
        # A name alone is the same on both sides, as in USING.
        pairs.append((item, item) if isinstance(item, str) else item)
    return pairs
