"""Public values as SQL."""

from __future__ import annotations

from ....data.columns.keys import KeyValue
from ..dialect import Dialect, bigint


def constant_sql(value: KeyValue | None, dialect: Dialect) -> str:
    """Write a public value: a truth, whole steps or text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return bigint(value) if isinstance(value, int) else dialect.literal(value)
