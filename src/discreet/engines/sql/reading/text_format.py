"""Text whose way of writing is declared, as SQL: 1,688.80 as 1688.80, 31/12/2024 as 2024-12-31; other text as none."""

from __future__ import annotations

from dataclasses import replace

from ....data.columns.column import Column, Date, Integer, Real, Timestamp
from ....data.columns.text_format import iso_pieces, numeral_pattern
from ..dialect import Dialect, StoredColumn


def write_plainly(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write stored text as a plain numeral or ISO time, by the column's declaration; all else as it is."""
    if x.stored != "text":
        return x
    word = dialect.trim(dialect.as_text(x.sql))
    match column:
        case Integer(thousands=thousands, unit=unit) if thousands or unit:
            return _number(x, word, (thousands, None, unit), dialect)
        case Real(thousands=thousands, decimal=decimal, unit=unit) if thousands or decimal or unit:
            return _number(x, word, (thousands, decimal, unit), dialect)
        case Date(format=str(given)) | Timestamp(format=str(given)):
            pattern, pieces = iso_pieces(given)
            parts = [
                f"'{before}' || substr({word}, {place}, {width})" for before, place, width in pieces
            ]
            return _if(x, word, pattern, f"({' || '.join(parts)})", dialect)
        case _:
            return x


def _number(
    x: StoredColumn, word: str, marks: tuple[str | None, str | None, str | None], dialect: Dialect
) -> StoredColumn:
    thousands, decimal, unit = marks
    plain = word
    for mark in (thousands, unit, unit and " "):
        plain = f"replace({plain}, {dialect.literal(mark)}, '')" if mark else plain
    pointed = f"replace({plain}, {dialect.literal(decimal)}, '.')" if decimal else plain
    return _if(x, word, numeral_pattern(*marks), pointed, dialect)


def _if(x: StoredColumn, word: str, pattern: str, plain: str, dialect: Dialect) -> StoredColumn:
    return replace(x, sql=f"(CASE WHEN {dialect.matches(word, pattern)} THEN {plain} ELSE '' END)")
