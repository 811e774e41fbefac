"""How a stored value is read, in SQL: each column's rule for what its values count as, the same as `Column.read`.

In two steps, so that no text is repeated: `prepare` turns what is stored into a double, trimmed text, or leaves it;
`read` gives whole steps, truth or text, NULL for what cannot be read, and then the column's default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ....data.columns.cell import FALSE, TRUE, nearest
from ....data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ....data.columns.keys import KeyValue
from ..dialect import Dialect, StoredColumn, bigint, null
from .constant import constant_sql
from .number import WHOLE, double_sql, is_numeral, steps_sql
from .prepared_column import kept_sql
from .text_format import write_plainly
from .time import moment_sql


def prepare(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write the first step: a double for a Real column or a stored decimal, trimmed text where spaces do not matter."""
    if x.kept is not None:
        return x
    x = write_plainly(column, x, dialect)
    doubles = isinstance(column, Real) or x.stored in ("float", "decimal")
    if doubles and not isinstance(column, Text):
        double = double_sql(x, dialect)
        return (
            replace(x, stored="other")
            if double is None
            else StoredColumn(double, "DOUBLE", "float")
        )
    if x.type in (
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
    ):  # these reach beyond what DuckDB compares and counts
        return replace(x, sql=f"TRY_CAST({x.sql} AS TIMESTAMP)", type="TIMESTAMP")
    if x.stored != "text":
        return x
    word = dialect.as_text(x.sql)
    if isinstance(column, Text) or (isinstance(column, Category) and column.of == "text"):
        return replace(x, sql=word)
    trimmed = dialect.trim(word)
    truth = isinstance(column, Boolean) or (isinstance(column, Category) and column.of == "boolean")
    return replace(x, sql=f"lower({trimmed})" if truth else trimmed)


def read(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write the second step, of a prepared value."""
    if x.kept is not None:
        return kept_sql(column, x, dialect)
    match column:
        case Category():
            return _category(column, x, dialect)
        case Integer() | Real():
            default = (
                None if column.default is None else nearest(Fraction(column.default) / column.step)
            )
            return _or(steps_sql(column, x, dialect), default, dialect)
        case Date() | Timestamp():
            default = None if column.default is None else column.steps(column.default)
            return _or(moment_sql(column, x, dialect), default, dialect)
        case Boolean():
            return _or(_truth(x), column.default, dialect)
        case Text():
            text = _text(x, dialect)
            cut = (
                f"left({text}, {column.max_length})"
                if x.stored != "boolean" or column.max_length < 5
                else text
            )
            return _or(cut, column.default, dialect)


def _or(sql: str, default: KeyValue | None, dialect: Dialect) -> str:
    return sql if default is None else f"COALESCE({sql}, {constant_sql(default, dialect)})"


def _list(values: Iterable[KeyValue], dialect: Dialect) -> str:
    return ", ".join(str(v) if isinstance(v, int) else dialect.literal(v) for v in values)


def _truth(x: StoredColumn) -> str:
    match x.stored:
        case "boolean":
            return x.sql
        case "integer" | "wide" | "float":
            return f"CASE WHEN {x.sql} = 1 THEN TRUE WHEN {x.sql} = 0 THEN FALSE END"
        case "text":
            yes, no = (", ".join(f"'{word}'" for word in sorted(words)) for words in (TRUE, FALSE))
            return f"CASE WHEN {x.sql} IN ({yes}) THEN TRUE WHEN {x.sql} IN ({no}) THEN FALSE END"
        case _:
            return null("BOOLEAN")


def _text(x: StoredColumn, dialect: Dialect) -> str:
    match x.stored:
        case "text":
            return x.sql
        case "integer" | "wide":
            return dialect.as_text(x.sql)
        case "boolean":
            yes, no = dialect.literal("true"), dialect.literal("false")
            return f"CASE WHEN {x.sql} THEN {yes} WHEN NOT {x.sql} THEN {no} END"
        case _:
            return null(dialect.words)


def _category(column: Category, x: StoredColumn, dialect: Dialect) -> str:
    """Write the key a value counts as: itself if listed; else the other key if it is there at all; else the default."""
    if dialect.listed is not None and x.packed and x.stored == "text" and column.of == "text":
        return _look_up(
            column, x, dialect.listed(x.sql, [str(value) for value in column.values]), dialect
        )
    match column.of:
        case "text":
            key, sql_type = _text(x, dialect), dialect.words
        case "integer":
            key, sql_type = _key_number(x, dialect), "BIGINT"
        case "boolean":
            key, sql_type = _truth(x), "BOOLEAN"
    values = column.values if column.of != "boolean" else ()
    listed = f"{key} IN ({_list(values, dialect)})" if values else f"{key} IN ({_flags(column)})"
    other = (
        ""
        if column.other is None
        else f"WHEN {_present(x, dialect)} THEN {constant_sql(column.other, dialect)} "
    )
    last = null(sql_type) if column.default is None else constant_sql(column.default, dialect)
    return f"CASE WHEN {listed} THEN {key} {other}ELSE {last} END"


def _look_up(column: Category, x: StoredColumn, key: str, dialect: Dialect) -> str:
    """The same by a look-up in the list, which is NULL for what is not listed."""
    word = f"CAST({key} AS {dialect.words})"
    if column.other is None:
        return _or(word, column.default, dialect)
    last = constant_sql(column.default, dialect)
    return f"COALESCE({word}, CASE WHEN {x.sql} IS NOT NULL THEN {constant_sql(column.other, dialect)} ELSE {last} END)"


def _flags(column: Category) -> str:
    return ", ".join("TRUE" if value else "FALSE" for value in column.values)


def _present(x: StoredColumn, dialect: Dialect) -> str:
    match x.stored:
        case "other":
            return "FALSE"
        case "float":
            return f"{x.sql} IS NOT NULL AND NOT {dialect.is_nan(x.sql)}"
        case _:
            return f"{x.sql} IS NOT NULL"


def _key_number(x: StoredColumn, dialect: Dialect) -> str:
    match x.stored:
        case "integer":
            return f"CAST({x.sql} AS BIGINT)"
        case "wide":
            return dialect.integer_of(x.sql)
        case "boolean":
            return f"CASE WHEN {x.sql} THEN {bigint(1)} WHEN NOT {x.sql} THEN {bigint(0)} END"
        case "float":
            return _whole_double(x.sql, dialect)
        case "text":
            double = _whole_double(dialect.double_of(x.sql), dialect)
            return (
                f"CASE WHEN {dialect.matches(x.sql, WHOLE)} THEN {dialect.integer_of(x.sql)} "
                f"WHEN {is_numeral(x.sql, dialect)} THEN {double} END"
            )
        case _:
            return null("BIGINT")


def _whole_double(x: str, dialect: Dialect) -> str:
    """A double as a whole number, NULL if it is none or beyond 64 bits; NaN is greater than all numbers."""
    low, high = dialect.double(-(2.0**63)), dialect.double(2.0**63)
    whole = f"CASE WHEN {x} = floor({x}) THEN CAST({x} AS BIGINT) END"
    return f"CASE WHEN {x} >= {low} AND {x} < {high} THEN {whole} END"
