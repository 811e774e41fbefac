"""How a column that a store took in before is read, in SQL: as it is, or narrower than it was declared then.

It holds what its declaration made of each cell, defaults included; nothing is parsed or cast but a code to its text.
"""

from __future__ import annotations

from ....data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ..dialect import Dialect, StoredColumn
from .constant import constant_sql


def kept_sql(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write a kept column as whole steps, truth or text, by a declaration that is the same or narrower."""
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
    """Write steps between narrower ends; as 64-bit integers, since what is computed of them needs the room."""
    wide = f"CAST({x} AS BIGINT)"
    tests = [f"WHEN {x} < {ends[0]} THEN CAST({ends[0]} AS BIGINT)"] if ends[0] > kept[0] else []
    tests += [f"WHEN {x} > {ends[1]} THEN CAST({ends[1]} AS BIGINT)"] if ends[1] < kept[1] else []
    return f"CASE {' '.join(tests)} ELSE {wide} END" if tests else wide


def _category(column: Category, kept: Category, x: StoredColumn, dialect: Dialect) -> str:
    cast = {"text": dialect.words, "integer": "BIGINT", "boolean": "BOOLEAN"}[column.of]
    key = f"CAST({x.sql} AS {cast})"
    if set(column.values) == set(kept.values) and column.other == kept.other:
        return key
    listed = ", ".join(constant_sql(value, dialect) for value in column.values)
    other = (
        ""
        if column.other is None
        else f"WHEN {x.sql} IS NOT NULL THEN {constant_sql(column.other, dialect)} "
    )
    last = f"CAST({constant_sql(column.default, dialect)} AS {cast})"
    return f"CASE WHEN {key} IN ({listed}) THEN {key} {other}ELSE {last} END"
