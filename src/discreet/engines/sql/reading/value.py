"""Stored value read in SQL: each column's rule for the value of a cell, the same as `Column.read`.

Reading has two steps, so that no SQL text is repeated. `prepare` turns the stored value into a
double or trimmed text, or leaves it. `read` gives whole steps, truth or text, NULL for a cell that
cannot be read, and then the column's default.

Text in a declared format is first written plainly: 1,688.80 as 1688.80, 31/12/2024 as 2024-12-31.
A column that a store took in before holds the result of its declaration for each cell, defaults
included. It is read by the same declaration or by a narrower one: nothing is parsed or cast but a
code to its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ....data.columns.cell import FALSE, TRUE, round_half_even
from ....data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ....data.columns.declared import SteppedColumn
from ....data.columns.keys import KeyValue
from ....data.columns.text_format import iso_pieces, numeral_pattern
from ..dialect import Dialect, StoredColumn, bigint, case_sql, cast_sql, null, truth_sql
from .constant import constant_sql, constants_sql
from .number import INTEGER_PATTERN, double_sql, is_numeral, steps_sql
from .time import moment_sql


def prepare(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write the first step: a double for numbers, trimmed text where spaces do not matter.

    A double is made for a Real column and for every stored decimal.
    """
    if x.kept is not None:
        return x
    x = _plain_format(column, x, dialect)
    by_double = isinstance(column, Real) or x.stored in ("float", "decimal")
    if by_double and not isinstance(column, Text):
        double = double_sql(x, dialect)
        if double is None:
            return replace(x, stored="other")
        return StoredColumn(double, "DOUBLE", "float")
    if x.type in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        # These types reach beyond the times that DuckDB compares and counts.
        return replace(x, sql=f"TRY_CAST({x.sql} AS TIMESTAMP)", type="TIMESTAMP")
    if x.stored != "text":
        return x
    text = dialect.as_text(x.sql)
    key_type = column.of if isinstance(column, Category) else None
    if isinstance(column, Text) or key_type == "text":
        return replace(x, sql=text)
    trimmed = dialect.trim(text)
    if isinstance(column, Boolean) or key_type == "boolean":
        trimmed = f"lower({trimmed})"
    return replace(x, sql=trimmed)


def read(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write the second step, of a prepared value.

    Guarantee: the SQL gives what `Column.read` gives, and cannot fail on any stored value.

    Law: tests/engines/test_reading.py::TestEveryEngineReadsAsTheSchemaSays
    """
    if x.kept is not None:
        return _kept(column, x, dialect)
    default: KeyValue | None = None
    match column:
        case Category():
            return _category(column, x, dialect)
        case Integer() | Real():
            if column.default is not None:
                default = round_half_even(Fraction(column.default) / column.step)
            return _or_default(steps_sql(column, x, dialect), default, dialect)
        case Date() | Timestamp():
            if column.default is not None:
                default = column.steps(column.default)
            return _or_default(moment_sql(column, x, dialect), default, dialect)
        case Boolean():
            return _or_default(_truth(x), column.default, dialect)
        case Text():
            text = _text(x, dialect)
            # "false" has five letters: a longer limit cuts nothing of a stored truth.
            if x.stored != "boolean" or column.max_length < 5:
                text = f"left({text}, {column.max_length})"
            return _or_default(text, column.default, dialect)


def _or_default(sql: str, default: KeyValue | None, dialect: Dialect) -> str:
    if default is None:
        return sql
    return f"COALESCE({sql}, {constant_sql(default, dialect)})"


def _list(values: Iterable[KeyValue], dialect: Dialect) -> str:
    """List keys; integers without the cast that `constant_sql` writes."""
    return ", ".join(_plain_constant(value, dialect) for value in values)


def _plain_constant(value: KeyValue, dialect: Dialect) -> str:
    if isinstance(value, int):
        return str(value)
    return dialect.literal(value)


def _truth(x: StoredColumn) -> str:
    match x.stored:
        case "boolean":
            return x.sql
        case "integer" | "wide" | "float":
            return f"CASE WHEN {x.sql} = 1 THEN TRUE WHEN {x.sql} = 0 THEN FALSE END"
        case "text":
            true_texts = _quoted(TRUE)
            false_texts = _quoted(FALSE)
            return (
                f"CASE WHEN {x.sql} IN ({true_texts}) THEN TRUE "
                f"WHEN {x.sql} IN ({false_texts}) THEN FALSE END"
            )
        case _:
            return null("BOOLEAN")


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in sorted(texts))


def _text(x: StoredColumn, dialect: Dialect) -> str:
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


def _category(column: Category, x: StoredColumn, dialect: Dialect) -> str:
    """Write the key of a value: itself if listed; else the other key, if any; else the default."""
    is_packed_text = x.packed and x.stored == "text" and column.of == "text"
    if dialect.listed is not None and is_packed_text:
        labels = list(map(str, column.values))
        return _look_up(column, x, dialect.listed(x.sql, labels), dialect)
    match column.of:
        case "text":
            key = _text(x, dialect)
            key_type = dialect.text_type
            listed = _list(column.values, dialect)
        case "integer":
            key = _integer_key(x, dialect)
            key_type = "BIGINT"
            listed = _list(column.values, dialect)
        case "boolean":
            key = _truth(x)
            key_type = "BOOLEAN"
            listed = constants_sql(map(bool, column.values), dialect)
    other = ""
    if column.other is not None:
        other = f"WHEN {_present(x, dialect)} THEN {constant_sql(column.other, dialect)} "
    default = null(key_type)
    if column.default is not None:
        default = constant_sql(column.default, dialect)
    return _listed_key(key, listed, other, default)


def _listed_key(key: str, listed: str, other: str, default: str) -> str:
    """Write a key if it is in a list; else by the tests of `other`, if any; else the default."""
    return f"CASE WHEN {key} IN ({listed}) THEN {key} {other}ELSE {default} END"


def _look_up(column: Category, x: StoredColumn, key: str, dialect: Dialect) -> str:
    """Write the key of a value by a look-up in the list, which is NULL for an unlisted value."""
    text = cast_sql(key, dialect.text_type)
    if column.other is None:
        return _or_default(text, column.default, dialect)
    other = constant_sql(column.other, dialect)
    default = constant_sql(column.default, dialect)
    unlisted = case_sql(f"{x.sql} IS NOT NULL", other, default)
    return f"COALESCE({text}, {unlisted})"


def _present(x: StoredColumn, dialect: Dialect) -> str:
    match x.stored:
        case "other":
            return "FALSE"
        case "float":
            return f"{x.sql} IS NOT NULL AND NOT {dialect.is_nan(x.sql)}"
        case _:
            return f"{x.sql} IS NOT NULL"


def _integer_key(x: StoredColumn, dialect: Dialect) -> str:
    match x.stored:
        case "integer":
            return cast_sql(x.sql, "BIGINT")
        case "wide":
            return dialect.integer_of(x.sql)
        case "boolean":
            return truth_sql(x.sql, bigint(1), bigint(0))
        case "float":
            return _integer_of_double(x.sql, dialect)
        case "text":
            double = _integer_of_double(dialect.double_of(x.sql), dialect)
            return (
                f"CASE WHEN {dialect.matches(x.sql, INTEGER_PATTERN)} THEN {dialect.integer_of(x.sql)} "
                f"WHEN {is_numeral(x.sql, dialect)} THEN {double} END"
            )
        case _:
            return null("BIGINT")


def _integer_of_double(x: str, dialect: Dialect) -> str:
    """Write a double as an integer, NULL if it is none or beyond 64 bits.

    NaN is greater than all numbers, so the test of the range excludes it.
    """
    low = dialect.double(-(2.0**63))
    high = dialect.double(2.0**63)
    integer = case_sql(f"{x} = floor({x})", cast_sql(x, "BIGINT"))
    return case_sql(f"{x} >= {low} AND {x} < {high}", integer)


def _plain_format(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write stored text as a plain numeral or ISO time, by the column's declaration.

    Text that is not in the declared format becomes empty. Every other stored value is left as it
    is.
    """
    if x.stored != "text":
        return x
    text = dialect.trim(dialect.as_text(x.sql))
    match column:
        case Integer(thousands=thousands, unit=unit) if thousands or unit:
            return _plain_number(x, text, (thousands, None, unit), dialect)
        case Real(thousands=thousands, decimal=decimal, unit=unit) if thousands or decimal or unit:
            return _plain_number(x, text, (thousands, decimal, unit), dialect)
        case Date(format=str(given)) | Timestamp(format=str(given)):
            pattern, pieces = iso_pieces(given)
            parts = []
            for before, start, width in pieces:
                parts.append(f"'{before}' || substr({text}, {start}, {width})")
            return _if_matches(x, text, pattern, f"({' || '.join(parts)})", dialect)
        case _:
            return x


def _plain_number(
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


def _kept(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write a kept column as whole steps, truth or text, by an equal or narrower declaration."""
    match column, x.kept:
        case Category(), Category():
            return _kept_category(column, x.kept, x, dialect)
        case SteppedColumn(), SteppedColumn():
            return _clip_kept(x.sql, column.ends, x.kept.ends)
        case Text(), Text() if column.max_length < x.kept.max_length:
            return f"left({x.sql}, {column.max_length})"
        case _:
            return x.sql


def _clip_kept(x: str, ends: tuple[int, int], kept: tuple[int, int]) -> str:
    """Write steps between narrower ends, as 64-bit integers: later arithmetic needs that width."""
    low, high = ends
    wide = cast_sql(x, "BIGINT")
    tests = []
    if low > kept[0]:
        tests.append(f"WHEN {x} < {low} THEN {bigint(low)}")
    if high < kept[1]:
        tests.append(f"WHEN {x} > {high} THEN {bigint(high)}")
    if not tests:
        return wide
    return f"CASE {' '.join(tests)} ELSE {wide} END"


def _kept_category(column: Category, kept: Category, x: StoredColumn, dialect: Dialect) -> str:
    types = {"text": dialect.text_type, "integer": "BIGINT", "boolean": "BOOLEAN"}
    key_type = types[column.of]
    key = cast_sql(x.sql, key_type)
    if set(column.values) == set(kept.values) and column.other == kept.other:
        return key
    listed = constants_sql(column.values, dialect)
    other = ""
    if column.other is not None:
        other = f"WHEN {x.sql} IS NOT NULL THEN {constant_sql(column.other, dialect)} "
    default = cast_sql(constant_sql(column.default, dialect), key_type)
    return _listed_key(key, listed, other, default)
