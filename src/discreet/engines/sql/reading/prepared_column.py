"""Column that a store took in before, read in SQL by the same declaration or by a narrower one.

The column holds the result of its declaration for each cell, defaults included. Nothing is parsed
or cast but a code to its text.
"""

from __future__ import annotations

from ....data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ..dialect import Dialect, StoredColumn, bigint
from .constant import constant_sql


def kept_sql(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write a kept column as whole steps, truth or text, by an equal or narrower declaration."""
    match column, x.kept:
        case Category(), Category():
            return _category(column, x.kept, x, dialect)
        case (
            (Integer() | Real() | Date() | Timestamp()),
            (Integer() | Real() | Date() | Timestamp()),
        ):
            return _clip(x.sql, column.ends, x.kept.ends)
        case Text(), Text() if column.max_length < x.kept.max_length:
            return f"left({x.sql}, {column.max_length})"
        case _:
            return x.sql


def _clip(x: str, ends: tuple[int, int], kept: tuple[int, int]) -> str:
    """Write steps between narrower ends, as 64-bit integers: later arithmetic needs that width."""
    low, high = ends
    wide = f"CAST({x} AS BIGINT)"
    tests = []
    if low > kept[0]:
        tests.append(f"WHEN {x} < {low} THEN {bigint(low)}")
    if high < kept[1]:
        tests.append(f"WHEN {x} > {high} THEN {bigint(high)}")
    if not tests:
        return wide
    return f"CASE {' '.join(tests)} ELSE {wide} END"


def _category(column: Category, kept: Category, x: StoredColumn, dialect: Dialect) -> str:
    types = {"text": dialect.text_type, "integer": "BIGINT", "boolean": "BOOLEAN"}
    key_type = types[column.of]
    key = f"CAST({x.sql} AS {key_type})"
    if set(column.values) == set(kept.values) and column.other == kept.other:
        return key
    listed = ", ".join(constant_sql(value, dialect) for value in column.values)
    other = ""
    if column.other is not None:
        other = f"WHEN {x.sql} IS NOT NULL THEN {constant_sql(column.other, dialect)} "
    default = f"CAST({constant_sql(column.default, dialect)} AS {key_type})"
    return f"CASE WHEN {key} IN ({listed}) THEN {key} {other}ELSE {default} END"
