"""Stored types that a declared column can read at all.

A column that would be NULL in every row is refused before anything is charged for.
"""

from __future__ import annotations

from ....data.columns.column import Category, Column, Date, Text, Timestamp
from ..dialect import Stored

_TIME_TYPES: frozenset[Stored] = frozenset({"date", "timestamp", "zoned", "text"})
_TEXT_TYPES: frozenset[Stored] = frozenset({"text", "integer", "wide", "boolean"})
_NUMBER_TYPES: frozenset[Stored] = _TEXT_TYPES | {"float", "decimal"}


def is_readable(column: Column, stored: Stored) -> bool:
    """Return whether some cell of a stored type can be read as a column's value.

    >>> from discreet.engines.sql.reading.type_support import is_readable
    >>> from discreet.data import Integer
    >>> is_readable(Integer(0, 9), "decimal"), is_readable(Integer(0, 9), "date"), is_readable(Integer(0, 9), "other")
    (True, False, False)
    """
    match column:
        case Date() | Timestamp():
            return stored in _TIME_TYPES
        case Text():
            return stored in _TEXT_TYPES
        case Category(of="text"):
            return stored in _TEXT_TYPES
        case _:
            return stored in _NUMBER_TYPES
