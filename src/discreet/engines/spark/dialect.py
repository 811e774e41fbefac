"""SQL dialect of Spark: try_cast, DECIMAL sums, and text constants that no setting can change."""

from __future__ import annotations

import re
from datetime import datetime

from ...query.algebra.expression import Function
from ...query.meaning.like import like_regex, wildcards
from ..sql.dialect import Dialect, Stored, StoredColumn, put_quotes

_CLASSES: dict[str, Stored] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    "boolean": "boolean",
    "string": "text",
    "date": "date",
    "timestamp": "zoned",
    "timestamp_ntz": "timestamp",
}
_PLAIN = re.compile(r"[^'\"\\$\x00-\x1f\x7f]*")
_PARTS = {
    Function.WEEKDAY: "DAYOFWEEK_ISO",
    Function.YEARDAY: "DOY",
    Function.ISOYEAR: "YEAROFWEEK",
}
_END = "(?![^a]|a)"
"""The end of the text in a regular expression; a dollar or a backslash would depend on the session."""
_LIMB = 1 << 23
"""Sums of 2^40 numbers below this fit into 64 bits."""


def stored_class(type_name: str) -> Stored:
    """Return the class of a type by its name.

    >>> from discreet.engines.spark.dialect import stored_class
    >>> stored_class("decimal(10,2)"), stored_class("varchar(5)"), stored_class("array<int>"), stored_class("timestamp")
    ('decimal', 'text', 'other', 'zoned')
    """
    if re.fullmatch(r"decimal\(\d+,\d+\)", type_name):
        return "decimal"
    if re.fullmatch(r"(var)?char\(\d+\)|string collate \w+", type_name):
        return "text"
    return _CLASSES.get(type_name, "other")


def _literal(text: str) -> str:
    """Write text that is not plain as its bytes.

    Whether a backslash escapes depends on the session, and `${env:HOME}` is replaced in the whole text of a query,
    within quotes too, before it is parsed.
    """
    if _PLAIN.fullmatch(text):
        return f"'{text}'"
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def _like(x: str, pattern: str) -> str:
    """Write LIKE as a regular expression without backtracking.

    Spark's own LIKE backtracks, so that one row could decide how long it takes.
    """
    if not wildcards(pattern):
        return f"({x} = {_literal(pattern)})"
    regex = f"(?s)^{like_regex(pattern, _letter)}{_END}"
    return f"({x} RLIKE {_literal(regex)})"


def _letter(letter: str) -> str:
    return f"\\x{{{ord(letter):x}}}"


def _total(x: str, max_size: int) -> str:
    """Write a sum; DECIMAL sums are slow, so numbers are added up as 64-bit integers if they can be.

    2^40 rows of less than 2^23 each cannot overflow; larger numbers are added up in two parts.
    """
    if max_size < _LIMB:
        return f"CAST(sum({x}) AS DECIMAL(20, 0))"
    if max_size < _LIMB**2:
        high = f"CAST(sum(shiftright({x}, 23)) AS DECIMAL(20, 0))"
        low = f"CAST(sum({x} & {_LIMB - 1}) AS DECIMAL(20, 0))"
        return f"({high} * {_LIMB} + {low})"
    return f"sum(CAST({x} AS DECIMAL(20, 0)))"


def _time_literal(time: datetime, stored: Stored) -> str:
    text = time.isoformat(sep=" ")
    return f"TIMESTAMP '{text}+00:00'" if stored == "zoned" else f"TIMESTAMP_NTZ '{text}'"


def _seconds(x: str, column: StoredColumn) -> str:
    """Write a time as seconds; without a zone by its parts, as a cast would use the session's zone."""
    if column.stored == "zoned":
        return f"unix_seconds({x})"
    clock = f"hour({x}) * 3600 + minute({x}) * 60 + second({x})"
    return f"(CAST(unix_date(CAST({x} AS DATE)) AS BIGINT) * 86400 + {clock})"


def _part(function: Function, days: str) -> str:
    part = _PARTS.get(function, function.value)
    return f"CAST(extract({part} FROM date_from_unix_date(CAST({days} AS INT))) AS BIGINT)"


def _start(unit: str, days: str) -> str:
    return f"CAST(unix_date(trunc(date_from_unix_date(CAST({days} AS INT)), '{unit}')) AS BIGINT)"


def _months_later(days: str, months: int) -> str:
    later = f"add_months(date_from_unix_date(CAST({days} AS INT)), {months})"
    return f"CAST(unix_date({later}) AS BIGINT)"


SPARK = Dialect(
    name="spark",
    quote=lambda name: put_quotes(name, "`"),
    literal=_literal,
    text_type="STRING",
    divide=lambda a, b: f"({a} div {b})",
    wide=lambda x: f"CAST({x} AS DECIMAL(20, 0))",
    total=_total,
    is_nan=lambda x: f"isnan({x})",
    nan_types=frozenset({"float"}),
    matches=lambda x, pattern: f"({x} RLIKE {_literal(f'^(?:{pattern}){_END}')})",
    like=_like,
    trim=lambda x: f"trim(BOTH ' ' FROM {x})",
    # Bytes that are not UTF-8 are no text.
    as_text=lambda x: f"(try_validate_utf8(CAST({x} AS STRING)) COLLATE UTF8_BINARY)",
    integer_of=lambda x: f"try_cast({x} AS BIGINT)",
    as_double=lambda x: f"CAST({x} AS DOUBLE)",
    double_of=lambda x: f"try_cast({x} AS DOUBLE)",
    decimal_double=lambda x, _: f"CAST({x} AS DOUBLE)",
    quotient=lambda x, y: f"{x} / {y}",
    nearest=lambda x: f"CAST(rint({x}) AS BIGINT)",
    day_of=lambda x: f"try_cast({x} AS DATE)",
    time_literal=_time_literal,
    days=lambda x: f"CAST(unix_date({x}) AS BIGINT)",
    seconds=_seconds,
    part=_part,
    start=_start,
    months_later=_months_later,
    listed=None,
    distance=False,
    in_order=lambda _: "",
    whole_joins=True,
    heavy=True,
    joined=None,
)
