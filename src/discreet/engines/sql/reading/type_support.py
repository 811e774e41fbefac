"""Which stored types a declared column can read at all: what would be NULL in every row is refused, not charged for."""

from __future__ import annotations

from ....data.columns.column import Category, Column, Date, Text, Timestamp
from ..dialect import Stored

_TIMES: frozenset[Stored] = frozenset({"date", "timestamp", "zoned", "text"})
_WORDS: frozenset[Stored] = frozenset({"text", "integer", "wide", "boolean"})
_NUMBERS: frozenset[Stored] = _WORDS | {"float", "decimal"}


def is_readable(column: Column, stored: Stored) -> bool:
    """Return whether some cell of a stored type can be read as a column's value.

    >>> from discreet.engines.sql.reading.type_support import is_readable
    >>> from discreet.data import Integer
    >>> is_readable(Integer(0, 9), "decimal"), is_readable(Integer(0, 9), "date"), is_readable(Integer(0, 9), "other")
    (True, False, False)
    """
    match column:
        case Date() | Timestamp():
            return stored in _TIMES
        case Text():
            return stored in _WORDS
        case Category(of="text"):
            return stored in _WORDS
        case _:
            return stored in _NUMBERS
