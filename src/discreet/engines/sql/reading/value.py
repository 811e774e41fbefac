"""Stored value read in SQL: each column's rule for the value of a cell, the same as `Column.read`.

Reading has two steps, so that no SQL text is repeated. `prepare` turns the stored value into a
double or trimmed text, or leaves it. `read` gives whole steps, a truth or text. A cell that cannot
be read becomes the column's default, or NULL if it has none.

Text in a declared format is first written plainly: 1,688.80 as 1688.80, 31/12/2024 as 2024-12-31.
A column that a store took in before holds the result of its declaration for each cell, defaults
included. It is read by the same declaration or by a narrower one: nothing is parsed or cast but a
code to its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import TypeVar

from ....data.columns.cell import FALSE, TRUE, round_half_even
from ....data.columns.column import (
    Boolean,
    Category,
    Column,
    Date,
    Integer,
    Numeric,
    Ordered,
    Real,
    Temporal,
    Text,
    Timestamp,
)
from ....data.columns.declared import Ends, SteppedColumn
from ....data.columns.keys import KeyValue
from ....data.columns.text_format import formats_of, iso_pieces, numeral_pattern, ordered_units
from ....frozen import fill
from ..dialect import Dialect, StoredColumn, bigint, case_sql, cast_sql, null, truth_sql
from .constant import constant_sql, constants_sql
from .number import INTEGER_PATTERN, double_sql, is_numeral, steps_sql, unit_tags
from .spelled import is_respelled_key, respelled_key, spelled, text_sql
from .time import moment_sql


def prepare(column: Column, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write the first step: a double for numbers, trimmed text where spaces do not matter.

    A double is made for a Real column and for every stored decimal.
    """
    if x.kept is not None:
        return x
    x = spelled(column, x, dialect)
    if isinstance(column, Numeric) and column.units is not None and x.stored == "text":
        return _tagged_numeral(column, x, dialect)
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
    match column:
        case Category():
            return _category(column, x, dialect)
        case Integer() | Real():
            steps = steps_sql(_bounded(column), x, dialect)
            inside = _inside(column, steps)
            return _or_default(inside, _default_steps(column), dialect)
        case Date() | Timestamp():
            steps = moment_sql(_bounded(column), x, dialect)
            inside = _inside(column, steps)
            return _or_default(inside, _default_steps(column), dialect)
        case Boolean():
            return _or_default(_truth(x), column.default, dialect)
        case Text():
            text = text_sql(x, dialect)
            # "false" has five letters: a longer limit cuts nothing of a stored truth.
            if x.stored != "boolean" or column.max_length < 5:
                text = f"left({text}, {column.max_length})"
            return _or_default(text, column.default, dialect)


def _default_steps(column: Ordered) -> int | None:
    if column.default is None:
        return None
    if isinstance(column, Temporal):
        return column.steps(column.default)
    return round_half_even(Fraction(column.default) / column.step)


OrderedT = TypeVar("OrderedT", bound=Ordered)


def _bounded(column: OrderedT) -> OrderedT:
    """Return the column by whose bounds a value is clipped.

    With outside="null" they lie one step farther out: a value beyond the declared bounds is then
    clipped to a step that no other value has.
    """
    if column.outside == "clip":
        return column
    low, high = column.ends
    wide = copy(column)
    # No time is before the year 1 or after 9999, so there the bound stays.
    if column.low not in (date.min, datetime.min):
        fill(wide, low=column.at(low - 1))
    if column.high not in (date.max, datetime.max.replace(microsecond=0)):
        fill(wide, high=column.at(high + 1))
    return wide


def _inside(column: Ordered, steps: str) -> str:
    """Write steps that were clipped by `_bounded`, NULL where they are beyond the declared bounds."""
    if column.outside == "clip":
        return steps
    low, high = column.ends
    return f"NULLIF(NULLIF({steps}, {bigint(low - 1)}), {bigint(high + 1)})"


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
    """Write a prepared value as a truth; NULL for what means neither yes nor no."""
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


def _category(column: Category, x: StoredColumn, dialect: Dialect) -> str:
    """Write the key of a value: itself if listed; else the other key, if any; else the default."""
    if is_respelled_key(column, x):
        other = ""
        if column.other is not None:
            other = f"WHEN {x.sql} IS NOT NULL THEN {constant_sql(column.other, dialect)} "
        default = null(dialect.text_type)
        if column.default is not None:
            default = constant_sql(column.default, dialect)
        return respelled_key(column, x.sql, other, default, dialect)
    is_packed_text = x.packed and x.stored == "text" and column.of == "text"
    if dialect.listed is not None and is_packed_text:
        labels = list(map(str, column.values))
        return _look_up(column, x, dialect.listed(x.sql, labels), dialect)
    match column.of:
        case "text":
            key = text_sql(x, dialect)
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
    """Write a prepared value as a 64-bit integer to compare with keys; NULL if it is none."""
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
        case Integer() | Real() if column.thousands or column.decimal or column.unit:
            return _first_match(
                x, text, [_plain_number(column, text, column.unit, dialect)], dialect
            )
        case Date() | Timestamp() if column.format is not None:
            formats = []
            for given in formats_of(column.format):
                pattern, pieces = iso_pieces(given)
                parts = []
                for before, start, width in pieces:
                    parts.append(f"'{before}' || substr({text}, {start}, {width})")
                formats.append((pattern, f"({' || '.join(parts)})"))
            return _first_match(x, text, formats, dialect)
        case _:
            return x


def _tagged_numeral(column: Numeric, x: StoredColumn, dialect: Dialect) -> StoredColumn:
    """Write text with one of several units as a plain numeral after the letter of its unit."""
    text = dialect.trim(dialect.as_text(x.sql))
    tags = unit_tags(column)
    numerals = []
    for unit, factor in ordered_units(column.units or ()):
        pattern, plain = _plain_number(column, text, unit, dialect)
        numerals.append((pattern, f"('{tags[factor]}' || {plain})"))
    return _first_match(x, text, numerals, dialect)


def _plain_number(
    column: Numeric, text: str, unit: str | None, dialect: Dialect
) -> tuple[str, str]:
    """Return the pattern of numerals as the column declares them, and the SQL of the plain one."""
    thousands, decimal = column.thousands, column.decimal
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
    return numeral_pattern(thousands, decimal, unit), plain


def _first_match(
    x: StoredColumn, text: str, forms: Iterable[tuple[str, str]], dialect: Dialect
) -> StoredColumn:
    """Write text by the first of several patterns that it matches, "" if it matches none."""
    tests = [f"WHEN {dialect.matches(text, pattern)} THEN {plain}" for pattern, plain in forms]
    return replace(x, sql=f"(CASE {' '.join(tests)} ELSE '' END)")


def _kept(column: Column, x: StoredColumn, dialect: Dialect) -> str:
    """Write a kept column as whole steps, truth or text, by an equal or narrower declaration."""
    match column, x.kept:
        case Category(), Category():
            return _kept_category(column, x.kept, x, dialect)
        case SteppedColumn(), SteppedColumn():
            if column.outside == "null":
                return _inside_kept(column, x.sql, x.kept.ends, dialect)
            return _clip_kept(x.sql, column.ends, x.kept.ends)
        case Text(), Text() if column.max_length < x.kept.max_length:
            return f"left({x.sql}, {column.max_length})"
        case _:
            return x.sql


def _clip_kept(x: str, ends: Ends, kept: Ends) -> str:
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


def _inside_kept(column: Ordered, x: str, kept: Ends, dialect: Dialect) -> str:
    """Write steps within narrower bounds; others are NULL, or the default, as when they were read."""
    low, high = column.ends
    wide = cast_sql(x, "BIGINT")
    if (low, high) == kept:
        return wide
    inside = case_sql(f"{x} >= {low} AND {x} <= {high}", wide)
    return _or_default(inside, _default_steps(column), dialect)


def _kept_category(column: Category, kept: Category, x: StoredColumn, dialect: Dialect) -> str:
    """Write a kept key by an equal or narrower list; others become `other` or the default."""
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
