"""Text in a declared format, as SQL: 1,688.80 as 1688.80, 31/12/2024 as 2024-12-31.

Text that is not in the declared format becomes empty.
"""

from __future__ import annotations

from dataclasses import replace

from ....data.columns.column import Column, Date, Integer, Real, Timestamp
from ....data.columns.text_format import iso_pieces, numeral_pattern
from ..dialect import Dialect, StoredColumn


def write_plainly(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write stored text as a plain numeral or ISO time, by the column's declaration.

    Every other stored value is left as it is.
    """
    if x.stored != "text":
        return x
    text = dialect.trim(dialect.as_text(x.sql))
    match column:
        case Integer(thousands=thousands, unit=unit) if thousands or unit:
            return _number(x, text, (thousands, None, unit), dialect)
        case Real(thousands=thousands, decimal=decimal, unit=unit) if thousands or decimal or unit:
            return _number(x, text, (thousands, decimal, unit), dialect)
        case Date(format=str(given)) | Timestamp(format=str(given)):
            pattern, pieces = iso_pieces(given)
            parts = []
            for before, start, width in pieces:
                parts.append(f"'{before}' || substr({text}, {start}, {width})")
            return _if_matches(x, text, pattern, f"({' || '.join(parts)})", dialect)
        case _:
            return x


def _number(
    x: StoredColumn, text: str, marks: tuple[str | None, str | None, str | None], dialect: Dialect
) -> StoredColumn:
    thousands, decimal, unit = marks
    removed = [thousands]
    if unit:
        # A blank may separate the unit from the number.
        removed += [unit, " "]
    plain = text
    for mark in removed:
        if mark:
            plain = f"replace({plain}, {dialect.literal(mark)}, '')"
    if decimal:
        plain = f"replace({plain}, {dialect.literal(decimal)}, '.')"
    return _if_matches(x, text, numeral_pattern(*marks), plain, dialect)


def _if_matches(
    x: StoredColumn, text: str, pattern: str, plain: str, dialect: Dialect
) -> StoredColumn:
    test = dialect.matches(text, pattern)
    return replace(x, sql=f"(CASE WHEN {test} THEN {plain} ELSE '' END)")
