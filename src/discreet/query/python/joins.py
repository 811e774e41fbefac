"""What a join in Python matches: names that both sides have, or pairs of an expression here and a column there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .aggregate import Of

On: TypeAlias = str | Sequence[str | tuple[Of, str]]


def join_pairs(on: On) -> list[tuple[Of, str]]:
    """Return what is matched on this side and on the other."""
    listed = [on] if isinstance(on, str) else list(on)
    return [(pair, pair) if isinstance(pair, str) else pair for pair in listed]
