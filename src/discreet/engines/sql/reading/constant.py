"""Listed keys, and defaults of columns, as SQL constants: truths, whole steps or text."""

from __future__ import annotations

from collections.abc import Iterable

from ....data.columns.keys import KeyValue
from ..dialect import Dialect, bigint


def constants_sql(values: Iterable[KeyValue | None], dialect: Dialect) -> str:
    """List public values."""
    return ", ".join(constant_sql(value, dialect) for value in values)


def constant_sql(value: KeyValue | None, dialect: Dialect) -> str:
    """Write a public value: a truth, whole steps or text."""
    match value:
        case None:
            return "NULL"
        # Before integers: in Python a truth is an integer too.
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return bigint(value)
        case _:
            return dialect.literal(value)
