"""The dialect of Spark SQL: try_cast, DECIMAL sums, text constants that no setting of the session can change."""

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
    return f"'{text}'" if _PLAIN.fullmatch(text) else f"CAST(X'{text.encode().hex()}' AS STRING)"


def _like(x: str, pattern: str) -> str:
    """Spark's own LIKE is a regular expression that goes back, so that one row could decide how long it takes."""
    if not wildcards(pattern):
        return f"({x} = {_literal(pattern)})"
    return f"({x} RLIKE {_literal(f'(?s)^{like_regex(pattern, _letter)}{_END}')})"


def _letter(letter: str) -> str:
    return f"\\x{{{ord(letter):x}}}"


def _total(x: str, reach: int) -> str:
    """DECIMAL sums are slow, so numbers are added up as 64-bit integers, in two parts if they are larger: 2^40 rows of
    less than 2^23 each cannot overflow.
    """
    if reach < _LIMB:
        return f"CAST(sum({x}) AS DECIMAL(20, 0))"
    if reach < _LIMB**2:
        high, low = (
            f"CAST(sum({part}) AS DECIMAL(20, 0))"
            for part in (f"shiftright({x}, 23)", f"{x} & {_LIMB - 1}")
        )
        return f"({high} * {_LIMB} + {low})"
    return f"sum(CAST({x} AS DECIMAL(20, 0)))"


def _time_literal(time: datetime, stored: Stored) -> str:
    text = time.isoformat(sep=" ")
    return f"TIMESTAMP '{text}+00:00'" if stored == "zoned" else f"TIMESTAMP_NTZ '{text}'"


def _seconds(x: str, column: StoredColumn) -> str:
    """A time without a zone is taken apart, since a cast would use the zone of the session."""
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
    return (
        f"CAST(unix_date(add_months(date_from_unix_date(CAST({days} AS INT)), {months})) AS BIGINT)"
    )


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
    as_text=lambda x: (
        f"(try_validate_utf8(CAST({x} AS STRING)) COLLATE UTF8_BINARY)"
    ),  # other bytes are no text
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
