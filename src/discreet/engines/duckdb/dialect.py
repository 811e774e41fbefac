"""SQL dialect of DuckDB: TRY_CAST where a cast could fail, HUGEINT sums, times as microseconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from ...query.algebra.expression import Function
from ..sql.dialect import Dialect, Stored, StoredColumn, put_quotes
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
}
assert set(_CLASSES.values()) <= set(get_args(Stored))  # noqa: S101

_PARTS = {Function.WEEKDAY: "isodow", Function.YEARDAY: "doy"}


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
    within = f"CASE WHEN {x} BETWEEN {low} AND {high} THEN {x} END"
    # Up to 15 digits the cast is one exact division; beyond, only the parser rounds correctly.
    if digits <= 15:
        return f"CAST({within} AS DOUBLE)"
    return f"TRY_CAST(CAST({within} AS VARCHAR) AS DOUBLE)"


def _time_literal(time: datetime, stored: Stored) -> str:
    text = time.isoformat(sep=" ")
    return f"TIMESTAMPTZ '{text}+00'" if stored == "zoned" else f"TIMESTAMP '{text}'"


def _seconds(x: str, column: StoredColumn) -> str:
    since_1970 = f"epoch_us({x})"
    unit = 10**6
    if column.type == "TIMESTAMP_NS":
        since_1970 = f"epoch_ns({x})"
        unit = 10**9
    # Negative numbers are turned around, so that the division rounds down: ⌊x/d⌋ = −1 − ⌊(−1−x)/d⌋.
    before_1970 = f"-1 - (-1 - {since_1970}) // {unit}"
    return f"CASE WHEN {since_1970} >= 0 THEN {since_1970} // {unit} ELSE {before_1970} END"


def _part(function: Function, days: str) -> str:
    part = _PARTS.get(function, function.value)
    return f"CAST(extract({part} FROM DATE '1970-01-01' + CAST({days} AS INTEGER)) AS BIGINT)"


def _letters(x: str, case: str) -> str:
    """Write text with its ASCII letters in one case.

    Text of ASCII has as many bytes as characters, and there `lower` means the same. `translate`
    takes 200 times as long, and is used for all other text.
    """
    return f"CASE WHEN strlen({x}) = length({x}) THEN {case}({x}) ELSE {letters_sql(x, case)} END"


def _start(unit: str, days: str) -> str:
    first = f"date_trunc('{unit}', DATE '1970-01-01' + CAST({days} AS INTEGER))"
    return f"date_diff('day', DATE '1970-01-01', CAST({first} AS DATE))"


def _months_later(days: str, months: int) -> str:
    later = f"CAST((DATE '1970-01-01' + CAST({days} AS INTEGER)) + to_months({months}) AS DATE)"
    return f"date_diff('day', DATE '1970-01-01', {later})"


def _listed_type(x: str, values: Sequence[str]) -> str:
    """Write text as an enumeration: one byte instead of text.

    Where text is compressed, each distinct value is looked up once.
    """
    labels = ", ".join(put_quotes(value, "'") for value in values)
    return f"TRY_CAST({x} AS ENUM({labels}))"


def _hide(x: str, domain: str) -> str:
    """Write a value unchanged, by a function through which no statistics pass."""
    match domain:
        case "Truth":
            return f"(xor(CAST({x} AS TINYINT), 0) = 1)"
        case "Texts":
            return f"trim({x}, '')"
        case _:
            return f"xor({x}, 0)"


DUCKDB = Dialect(
    name="duckdb",
    quote=lambda name: put_quotes(name, '"'),
    literal=lambda text: put_quotes(text, "'"),
    text_type="VARCHAR",
    divide=lambda a, b: f"({a} // {b})",
    wide=lambda x: f"CAST({x} AS HUGEINT)",
    total=lambda x, _: f"sum({x})",
    is_nan=lambda x: f"isnan({x})",
    nan_types=frozenset({"float"}),
    matches=lambda x, pattern: f"regexp_full_match({x}, {put_quotes(pattern, chr(39))})",
    like=lambda x, pattern: f"({x} LIKE {put_quotes(pattern, chr(39))})",
    trim=lambda x: f"trim({x}, ' ')",
    # A cast alone keeps a column's collation.
    as_text=lambda x: f'(CAST({x} AS VARCHAR) COLLATE "binary")',
    integer_of=lambda x: f"TRY_CAST({x} AS BIGINT)",
    as_double=lambda x: f"CAST({x} AS DOUBLE)",
    double_of=lambda x: f"TRY_CAST({x} AS DOUBLE)",
    decimal_double=_decimal_double,
    quotient=lambda x, y: f"{x} / {y}",
    nearest=lambda x: f"CAST({x} AS BIGINT)",
    day_of=lambda x: f"TRY_CAST({x} AS DATE)",
    time_literal=_time_literal,
    days=lambda x: f"date_diff('day', DATE '1970-01-01', {x})",
    seconds=_seconds,
    part=_part,
    start=_start,
    months_later=_months_later,
    listed=_listed_type,
    distance=True,
    in_order=lambda _: "",
    whole_joins=False,
    heavy=False,
    # `xor` changes nothing, but each row's share is looked up once: a cast alone would be moved.
    joined=lambda x: f"xor(CAST({x} AS BIGINT), 0)",
    hide=_hide,
    letters=_letters,
    shift=lambda x, bits: f"({x} >> {bits})",
    guarded=True,
)
