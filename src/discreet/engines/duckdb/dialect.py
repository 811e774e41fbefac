"""SQL dialect of DuckDB: TRY_CAST where a cast could fail, HUGEINT sums, times as whole seconds.

A dialect writes what stores write differently: quotes, casts, division, dates, regular expressions.
No expression that it writes may fail on a stored value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from ..sql.dialect import (
    ISO_PART_NAMES,
    Dialect,
    Stored,
    StoredColumn,
    case_sql,
    cast_sql,
    cast_to,
    put_quotes,
    time_literals,
)
from ..sql.text_functions import letters_sql

_CLASSES: dict[str, Stored] = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"
    ),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"), "wide"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "float"),
    **dict.fromkeys(("VARCHAR", "JSON"), "text"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "timestamp"),
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP WITH TIME ZONE": "zoned",
    "TIMESTAMPTZ_NS": "zoned",
}
_NANOSECOND_TYPES = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS")
assert set(_CLASSES.values()) <= set(get_args(Stored))  # noqa: S101


def stored_class(type_name: str) -> Stored:
    """Return the class of a type by its name.

    >>> from discreet.engines.duckdb.dialect import stored_class
    >>> stored_class("DECIMAL(10,2)"), stored_class("ENUM('N', 'S')"), stored_class("INTEGER[]"), stored_class("DATE")
    ('decimal', 'text', 'other', 'date')
    """
    if re.fullmatch(r"DECIMAL\(\d+,\d+\)", type_name):
        return "decimal"
    if type_name.startswith("ENUM(") and type_name.endswith(")"):
        return "text"
    return _CLASSES.get(type_name, "other")


def _decimal_double(x: str, type_name: str) -> str:
    """Write a decimal as a double, NULL outside the precision of its type.

    Bits of a Parquet file need not keep to that precision, and DuckDB cannot write −2^127 as text:
    without the test that one cell would fail every question. The test is inside the cast, which
    DuckDB may do for a whole dictionary at once, whatever is around it.
    """
    digits, scale = map(int, re.findall(r"\d+", type_name))
    largest = f"{'9' * (digits - scale)}.{'9' * scale}"
    low = f"CAST('-{largest}' AS {type_name})"
    high = f"CAST('{largest}' AS {type_name})"
    within = case_sql(f"{x} BETWEEN {low} AND {high}", x)
    # Up to 15 digits the cast is one exact division; beyond, only the parser rounds correctly.
    if digits <= 15:
        return cast_sql(within, "DOUBLE")
    return f"TRY_CAST(CAST({within} AS VARCHAR) AS DOUBLE)"


def _seconds(x: str, column: StoredColumn) -> str:
    """Write a time as whole seconds since 1970, rounded down."""
    since_1970 = f"epoch_us({x})"
    unit = 10**6
    if column.type in _NANOSECOND_TYPES:
        since_1970 = f"epoch_ns({x})"
        unit = 10**9
    # Negative numbers are turned around, so that the division rounds down: ⌊x/d⌋ = −1 − ⌊(−1−x)/d⌋.
    before_1970 = f"-1 - (-1 - {since_1970}) // {unit}"
    return case_sql(f"{since_1970} >= 0", f"{since_1970} // {unit}", before_1970)


def _letters(x: str, case: str) -> str:
    """Write text with its ASCII letters in one case.

    Text of ASCII has as many bytes as characters, and there `lower` means the same. `translate`
    takes 200 times as long, and is used for all other text.
    """
    return case_sql(_is_ascii(x), f"{case}({x})", letters_sql(x, case))


def _is_ascii(x: str) -> str:
    return f"strlen({x}) = length({x})"


def _listed_type(x: str, values: Sequence[str]) -> str:
    """Write text as an enumeration: one byte instead of text.

    Where text is compressed, each distinct value is looked up once.
    """
    labels = ", ".join(put_quotes(value, "'") for value in values)
    return f"TRY_CAST({x} AS ENUM({labels}))"


DUCKDB = Dialect(
    name="duckdb",
    quote=lambda name: put_quotes(name, '"'),
    literal=lambda text: put_quotes(text, "'"),
    text_type="VARCHAR",
    integer_type="BIGINT",
    divide=lambda a, b: f"({a} // {b})",
    wide=cast_to("HUGEINT"),
    matches=lambda x, pattern: f"regexp_full_match({x}, {put_quotes(pattern, chr(39))})",
    like=lambda x, pattern: f"({x} LIKE {put_quotes(pattern, chr(39))})",
    trim=lambda x: f"trim({x}, ' ')",
    strip=lambda x, blanks: f"trim({x}, {blanks})",
    # A cast alone keeps a column's collation.
    as_text=lambda x: f'(CAST({x} AS VARCHAR) COLLATE "binary")',
    integer_of=lambda x: f"TRY_CAST({x} AS BIGINT)",
    as_double=cast_to("DOUBLE"),
    double_of=lambda x: f"TRY_CAST({x} AS DOUBLE)",
    decimal_double=_decimal_double,
    nearest=cast_to("BIGINT"),
    day_of=lambda x: f"TRY_CAST({x} AS DATE)",
    time_literal=time_literals("TIMESTAMPTZ", "+00", "TIMESTAMP"),
    days=lambda x: f"date_diff('day', DATE '1970-01-01', {x})",
    day_at=lambda days: f"DATE '1970-01-01' + CAST({days} AS INTEGER)",
    seconds=_seconds,
    first_day=lambda unit, day: f"CAST(date_trunc('{unit}', {day}) AS DATE)",
    later_day=lambda day, months: f"CAST(({day}) + to_months({months}) AS DATE)",
    part_names=ISO_PART_NAMES,
    listed=_listed_type,
    distance=True,
    whole_joins=False,
    # `xor` changes nothing, but each row's share is looked up once: a cast alone would be moved.
    joined=lambda x: f"xor(CAST({x} AS BIGINT), 0)",
    codes=True,
    letters=_letters,
    is_ascii=_is_ascii,
    shift=lambda x, bits: f"({x} >> {bits})",
    guarded=True,
)
