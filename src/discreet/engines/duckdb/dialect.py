"""The dialect of DuckDB: TRY_CAST where a cast could fail, HUGEINT sums, code points, times as microseconds."""

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
    """Up to 15 digits the cast is one exact division; beyond, only the parser rounds correctly.

    Outside the type's precision it is NULL. Bits of a Parquet file need not keep to it, and DuckDB cannot write −2^127
    as text: without the test that one cell would fail every question. The test stands inside the cast, which DuckDB
    may do for a whole dictionary at once, whatever stands around it.
    """
    digits, scale = map(int, re.findall(r"\d+", type_name))
    most = f"{'9' * (digits - scale)}.{'9' * scale}"
    least, greatest = (f"CAST('{sign}{most}' AS {type_name})" for sign in ("-", ""))
    within = f"CASE WHEN {x} BETWEEN {least} AND {greatest} THEN {x} END"
    return (
        f"CAST({within} AS DOUBLE)"
        if digits <= 15
        else f"TRY_CAST(CAST({within} AS VARCHAR) AS DOUBLE)"
    )


def _time_literal(time: datetime, stored: Stored) -> str:
    zone = "TIMESTAMPTZ '{}+00'" if stored == "zoned" else "TIMESTAMP '{}'"
    return zone.format(time.isoformat(sep=" "))


def _seconds(x: str, column: StoredColumn) -> str:
    count, unit = ("epoch_ns", 10**9) if column.type == "TIMESTAMP_NS" else ("epoch_us", 10**6)
    return f"CASE WHEN {count}({x}) >= 0 THEN {count}({x}) // {unit} ELSE -1 - (-1 - {count}({x})) // {unit} END"


def _part(function: Function, days: str) -> str:
    part = _PARTS.get(function, function.value)
    return f"CAST(extract({part} FROM DATE '1970-01-01' + CAST({days} AS INTEGER)) AS BIGINT)"


def _letters(x: str, case: str) -> str:
    """Text of ASCII has as many bytes as characters, and there `lower` means the same; `translate` takes 200 times as
    long, and is left for the rest.
    """
    return f"CASE WHEN strlen({x}) = length({x}) THEN {case}({x}) ELSE {letters_sql(x, case)} END"


def _start(unit: str, days: str) -> str:
    first = f"date_trunc('{unit}', DATE '1970-01-01' + CAST({days} AS INTEGER))"
    return f"date_diff('day', DATE '1970-01-01', CAST({first} AS DATE))"


def _months_later(days: str, months: int) -> str:
    later = f"CAST((DATE '1970-01-01' + CAST({days} AS INTEGER)) + to_months({months}) AS DATE)"
    return f"date_diff('day', DATE '1970-01-01', {later})"


def _listed_type(x: str, values: Sequence[str]) -> str:
    """An enumeration: one byte instead of text, and looked up once for each distinct value where text is compressed."""
    return f"TRY_CAST({x} AS ENUM({', '.join(put_quotes(value, chr(39)) for value in values)}))"


def _hide(x: str, domain: str) -> str:
    """No statistics pass through these functions, and nothing is changed by them."""
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
    as_text=lambda x: (
        f'(CAST({x} AS VARCHAR) COLLATE "binary")'
    ),  # a cast alone keeps a column's collation
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
    joined=lambda x: (
        f"xor(CAST({x} AS BIGINT), 0)"
    ),  # no change, but each row's is looked up once; a cast would move
    hide=_hide,
    letters=_letters,
    shift=lambda x, bits: f"({x} >> {bits})",
    guarded=True,
)
