"""Neighbour relations (adjacency): which two data sets must be indistinguishable."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..errors import InvalidArgument

Neighbours: TypeAlias = Literal["add-remove", "replace"]

ADD_REMOVE: Neighbours = "add-remove"
"""D' is D with one unit more or one unit less."""
REPLACE: Neighbours = "replace"
"""D' is D with one unit exchanged for another; the size is public."""


def read_neighbours(value: object) -> Neighbours:
    """Return a neighbour relation, checked.

    >>> from discreet.privacy.neighbours import read_neighbours
    >>> read_neighbours("replace")
    'replace'
    >>> read_neighbours("swap")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: neighbours must be 'add-remove' or 'replace', got 'swap'

    Refuses: InvalidArgument for every other value.
    """
    if value not in (ADD_REMOVE, REPLACE):
        raise InvalidArgument(f"neighbours must be 'add-remove' or 'replace', got {value!r}")
    return value
