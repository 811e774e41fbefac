"""Text whose way of writing is declared, as SQL: 1,688.80 as 1688.80, 31/12/2024 as 2024-12-31; other text as none."""

from __future__ import annotations

from dataclasses import replace

from ....data.columns.column import Column, Date, Integer, Real, Timestamp
from ....data.columns.written import iso_pieces, numeral_pattern
from ..dialect import Dialect, StoredColumn

__all__ = ["written"]


def written(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write stored text as a plain numeral or ISO time, by the column's declaration; all else as it is."""
    if x.stored != "text":
        return x
    word = dialect.trim(dialect.as_text(x.sql))
    match column:
        case Integer(thousands=str(mark)):
            return _if(x, word, numeral_pattern(mark, None), _without(word, mark, dialect), dialect)
        case Real(thousands=thousands, decimal=decimal) if thousands or decimal:
            plain = word if thousands is None else _without(word, thousands, dialect)
            pointed = plain if decimal is None else f"replace({plain}, {dialect.literal(decimal)}, '.')"
            return _if(x, word, numeral_pattern(thousands, decimal), pointed, dialect)
        case Date(format=str(given)) | Timestamp(format=str(given)):
            pattern, pieces = iso_pieces(given)
            parts = [f"'{before}' || substr({word}, {place}, {width})" for before, place, width in pieces]
            return _if(x, word, pattern, f"({' || '.join(parts)})", dialect)
        case _:
            return x


def _without(word: str, mark: str, dialect: Dialect) -> str:
    return f"replace({word}, {dialect.literal(mark)}, '')"


def _if(x: StoredColumn, word: str, pattern: str, plain: str, dialect: Dialect) -> StoredColumn:
    return replace(x, sql=f"(CASE WHEN {dialect.matches(word, pattern)} THEN {plain} ELSE '' END)")
