"""Declared spellings of text in SQL: the steps of `data.columns.spelling`, written for every store.

Guarantee: the SQL gives what `Spelling.normal`, `is_missing` and the declared aliases give, and
cannot fail on any stored value. It uses only functions of characters, no collation and no locale.

Law: tests/engines/test_spelled.py::TestEveryStoreReadsAsTheOracle
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....data.columns.categorical import Category, Text
from ....data.columns.column import Column
from ....data.columns.fold_table import LETTERS, MARKS
from ....data.columns.keys import KeyValue
from ....data.columns.spelling import BLANKS, Spelling, spellings_of
from ..dialect import Dialect, Stored, StoredColumn, case_sql, null, truth_sql

_TEXT_TYPES: frozenset[Stored] = frozenset({"text", "integer", "wide", "boolean"})
"""Classes of stored types with a text: the others are compared with no list."""


def text_sql(x: StoredColumn, dialect: Dialect) -> str:
    """Write a stored value as text: integers as digits, truths as true and false, others as NULL."""
    match x.stored:
        case "text":
            return x.sql
        case "integer" | "wide":
            return dialect.as_text(x.sql)
        case "boolean":
            true_text = dialect.literal("true")
            false_text = dialect.literal("false")
            return truth_sql(x.sql, true_text, false_text)
        case _:
            return null(dialect.text_type)


def spelled(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write a stored value after the declared steps: NULL for missing marks, text as they write it.

    Aliases of free text are written here; those of listed keys when the key is looked up.
    """
    if x.stored not in _TEXT_TYPES:
        return x
    missing = missing_sql(column, x, dialect)
    if not isinstance(column, Category | Text) or not _is_respelled(column):
        if missing is None:
            return x
        # NULL stays NULL: it is in no list, and its test is not true either way.
        return replace(x, sql=f"({case_sql(f'NOT ({missing})', x.sql)})")
    text = _normal_sql(_compared(x, dialect), column.spelling, dialect)
    if isinstance(column, Text) and column.aliases:
        text = _meant_sql(text, spellings_of(column.spelling, ()), dialect)
    if missing is not None:
        text = case_sql(f"NOT ({missing})", text)
    return StoredColumn(f"({text})", dialect.text_type, "text")


def is_respelled_key(column: Category, x: StoredColumn) -> bool:
    """Return whether a prepared value is text to be looked up in a list of declared spellings."""
    return column.of == "text" and x.stored == "text" and _is_respelled(column)


def _is_respelled(column: Category | Text) -> bool:
    return column.strip or column.fold or column.aliases is not None


def respelled_key(column: Category, x: str, other: str, default: str, dialect: Dialect) -> str:
    """Write the key of the text x after strip and fold, by the list of its spellings.

    `other` is SQL for "WHEN … THEN the other key", "" without one; `default` is the key of the
    rest.
    """
    meanings = spellings_of(column.spelling, column.values)
    same = [written for written, meant in meanings if written == meant]
    by_key: dict[KeyValue, list[str]] = {}
    for written, meant in meanings:
        if written != meant:
            by_key.setdefault(meant, []).append(written)
    tests = []
    if same:
        tests.append(f"WHEN {x} IN ({_list(same, dialect)}) THEN {x}")
    for meant, texts in by_key.items():
        tests.append(f"WHEN {x} IN ({_list(texts, dialect)}) THEN {dialect.literal(str(meant))}")
    return f"CASE {' '.join(tests)} {other}ELSE {default} END"


def missing_sql(column: Column, x: StoredColumn, dialect: Dialect) -> str | None:
    """Write the test that a stored value is declared to mean NULL; None if no text does."""
    if column.null is None or x.stored not in _TEXT_TYPES:
        return None
    text = _compared(x, dialect)
    if isinstance(column, Text) or (isinstance(column, Category) and column.of == "text"):
        spelling = column.spelling
        marks = sorted(spelling.nulls)
        return f"{_normal_sql(text, spelling, dialect)} IN ({_list(marks, dialect)})"
    marks = sorted({mark.strip(" ") for mark in column.null})
    return f"{dialect.trim(text)} IN ({_list(marks, dialect)})"


def _compared(x: StoredColumn, dialect: Dialect) -> str:
    """Write a stored value as text that is compared letter by letter, whatever its collation."""
    text = text_sql(x, dialect)
    return dialect.as_text(text) if x.stored == "text" else text


def _list(texts: Iterable[str], dialect: Dialect) -> str:
    return ", ".join(map(dialect.literal, texts))


def _meant_sql(text: str, meanings: tuple[tuple[str, KeyValue], ...], dialect: Dialect) -> str:
    tests = []
    for written, meant in meanings:
        tests.append(f"WHEN {dialect.literal(written)} THEN {dialect.literal(str(meant))}")
    return f"CASE {text} {' '.join(tests)} ELSE {text} END"


def _normal_sql(text: str, spelling: Spelling, dialect: Dialect) -> str:
    """Write text after the steps `strip` and `fold`, where these are declared."""
    if spelling.strip:
        text = dialect.strip(text, dialect.literal(BLANKS))
    if spelling.fold:
        folded = _fold_sql(text, dialect)
        if dialect.is_ascii is not None:
            # Of ASCII text `lower` means the same as the table, and is much faster.
            return f"({case_sql(dialect.is_ascii(text), f'lower({text})', folded)})"
        return folded
    return text


def _fold_sql(text: str, dialect: Dialect) -> str:
    """Write text with every letter folded, and without combining accents."""
    written = ""
    folded = ""
    for letter, meant in LETTERS.items():
        if len(meant) == 1:
            written += letter
            folded += meant
        else:
            text = f"replace({text}, {dialect.literal(letter)}, '{meant}')"
    # Characters beyond the end of the second list are left out.
    return f"translate({text}, {dialect.literal(written + MARKS)}, {dialect.literal(folded)})"
