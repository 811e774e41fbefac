"""SQL dialect of Spark: try_cast, DECIMAL sums, and text constants that no setting can change.

A dialect writes what stores write differently: quotes, casts, division, dates, regular expressions.
No setting of the caller's session, such as ANSI mode or the time zone, changes what the text means.
"""

from __future__ import annotations

import re

from ...query.algebra.expression import Function
from ...query.meaning.like import like_regex, wildcards
from ..sql.dialect import (
    Dialect,
    Stored,
    StoredColumn,
    cast_sql,
    cast_to,
    put_quotes,
    time_literals,
)

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
_PART_NAMES = {
    Function.WEEKDAY: "DAYOFWEEK_ISO",
    Function.YEARDAY: "DOY",
    Function.ISOYEAR: "YEAROFWEEK",
}
_END = "(?![^a]|a)"
"""The end of the text in a regular expression; a dollar or a backslash would depend on the session."""
_WIDE = "DECIMAL(20, 0)"
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
        return cast_sql(f"sum({x})", _WIDE)
    if max_size < _LIMB**2:
        high = cast_sql(f"sum(shiftright({x}, 23))", _WIDE)
        low = cast_sql(f"sum({x} & {_LIMB - 1})", _WIDE)
        return f"({high} * {_LIMB} + {low})"
    return f"sum({cast_sql(x, _WIDE)})"


def _seconds(x: str, column: StoredColumn) -> str:
    """Write a time as seconds; without a zone by its parts, as a cast would use the session's zone."""
    if column.stored == "zoned":
        return f"unix_seconds({x})"
    clock = f"hour({x}) * 3600 + minute({x}) * 60 + second({x})"
    return f"(CAST(unix_date(CAST({x} AS DATE)) AS BIGINT) * 86400 + {clock})"


SPARK = Dialect(
    name="spark",
    quote=lambda name: put_quotes(name, "`"),
    literal=_literal,
    text_type="STRING",
    integer_type="BIGINT",
    divide=lambda a, b: f"({a} div {b})",
    wide=cast_to(_WIDE),
    total=_total,
    matches=lambda x, pattern: f"({x} RLIKE {_literal(f'^(?:{pattern}){_END}')})",
    like=_like,
    trim=lambda x: f"trim(BOTH ' ' FROM {x})",
    strip=lambda x, blanks: f"trim(BOTH {blanks} FROM {x})",
    # Bytes that are not UTF-8 are no text.
    as_text=lambda x: f"(try_validate_utf8(CAST({x} AS STRING)) COLLATE UTF8_BINARY)",
    integer_of=lambda x: f"try_cast({x} AS BIGINT)",
    as_double=cast_to("DOUBLE"),
    double_of=lambda x: f"try_cast({x} AS DOUBLE)",
    decimal_double=lambda x, _: cast_sql(x, "DOUBLE"),
    nearest=lambda x: f"CAST(rint({x}) AS BIGINT)",
    day_of=lambda x: f"try_cast({x} AS DATE)",
    time_literal=time_literals("TIMESTAMP", "+00:00", "TIMESTAMP_NTZ"),
    days=lambda x: f"CAST(unix_date({x}) AS BIGINT)",
    day_at=lambda days: f"date_from_unix_date(CAST({days} AS INT))",
    seconds=_seconds,
    first_day=lambda unit, day: f"trunc({day}, '{unit}')",
    later_day=lambda day, months: f"add_months({day}, {months})",
    part_names=_PART_NAMES,
    whole_joins=True,
    heavy=True,
)
