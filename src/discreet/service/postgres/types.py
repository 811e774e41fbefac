"""Types of PostgreSQL: values to bytes, as text and binary, and parameters back to values.

    in a question                          type         in the answer
    -------------------------------------  -----------  ---------------------------------
    COUNT, ROUND, FLOOR, CEILING, and      int8         rounded to whole numbers, half to even
    keys that are whole numbers
    other numbers                          float8
    text, categories                       text
    conditions                             bool
    days, times                            date, timestamp

Types follow from the question and the schema, never from a value: Describe says them before anything
is charged.
"""

from __future__ import annotations

import math
import re
import struct
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

from ...errors import InvalidArgument
from ...frozen import frozen

Parameter: TypeAlias = int | Decimal | str | bool | date | None
"""Value of a parameter; every number is exact."""
_DAY_ZERO = date(2000, 1, 1)
_TIME_ZERO = datetime(2000, 1, 1)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MAX_NUMBER = 1_000
_PLAIN_ELEMENT = re.compile(r"[^\s{}\",\\]+")


@frozen
class PgType:
    """Type by its number in `pg_type`, its size in bytes, and the number of its array type."""

    oid: int
    size: int
    array: int = 0


BOOL = PgType(16, 1, 1000)
BYTEA = PgType(17, -1)
CHAR = PgType(18, 1, 1002)
NAME = PgType(19, 64, 1003)
INT8 = PgType(20, 8, 1016)
INT2 = PgType(21, 2, 1005)
INT4 = PgType(23, 4, 1007)
TEXT = PgType(25, -1, 1009)
OID = PgType(26, 4, 1028)
FLOAT4 = PgType(700, 4, 1021)
FLOAT8 = PgType(701, 8, 1022)
UNKNOWN = PgType(705, -2)
BPCHAR = PgType(1042, -1)
VARCHAR = PgType(1043, -1, 1015)
DATE = PgType(1082, 4, 1182)
TIMESTAMP = PgType(1114, 8, 1115)
TIMESTAMPTZ = PgType(1184, 8)
NUMERIC = PgType(1700, -1, 1231)
_SCALARS = (
    *(BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4, TEXT, OID, FLOAT4, FLOAT8, UNKNOWN, BPCHAR),
    *(VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC),
)
BY_NAME = {
    "BOOLEAN": BOOL, "TINYINT": INT2, "SMALLINT": INT2, "INT": INT4, "INTEGER": INT4, "UINTEGER": OID,
    "BIGINT": INT8, "UBIGINT": INT8, "HUGEINT": INT8, "FLOAT": FLOAT4, "DOUBLE": FLOAT8,
    "DECIMAL": NUMERIC, "DATE": DATE, "TIMESTAMP": TIMESTAMP, "TEXT": TEXT, "VARCHAR": TEXT,
}  # fmt: skip
"""Types by their names in SQL, of casts around parameters and of columns in the catalog's image."""
TYPES = {known.oid: known for known in _SCALARS}
ELEMENTS = {known.array: known for known in _SCALARS if known.array}
"""Element types by the numbers of their array types."""
_INTEGERS = {INT2.oid: "!h", INT4.oid: "!i", INT8.oid: "!q", OID.oid: "!I"}
_FLOATS = {FLOAT4.oid: "!f", FLOAT8.oid: "!d"}
NUMBERS = frozenset({*_INTEGERS, *_FLOATS, NUMERIC.oid})


def size_of(oid: int) -> int:
    """Return the size of a type in bytes; −1 where it varies."""
    known = TYPES.get(oid)
    return known.size if known else -1


def encode(value: object, oid: int, form: int) -> bytes | None:
    """Return a value as text (format 0) or binary (1); None for NULL.

    >>> from discreet.service.postgres.types import BOOL, FLOAT8, INT8, encode
    >>> encode(491.0, INT8.oid, 0), encode(0.5, FLOAT8.oid, 0), encode(True, BOOL.oid, 0)
    (b'491', b'0.5', b't')
    """
    if value is None:
        return None
    if oid in ELEMENTS:
        elements = list(value)  # type: ignore[call-overload]
        return _binary_array(elements, oid) if form else _text_array(elements, oid).encode()
    typed = _typed(value, oid)
    return _binary(typed, oid) if form else _text(typed).encode("utf-8", "replace")


def _typed(value: object, oid: int) -> object:
    """Convert a value of a reply to the type that was described: numbers, and times in ISO form."""
    if oid in _INTEGERS:
        # Half to even. A count that is no whole number has a fractional share of a capped person.
        return round(value)  # type: ignore[call-overload]
    if oid in _FLOATS:
        return float(value)  # type: ignore[arg-type]
    if oid == DATE.oid and isinstance(value, str):
        return date.fromisoformat(value)
    if oid == TIMESTAMP.oid and isinstance(value, str):
        return datetime.fromisoformat(value)
    return value


def _text(value: object) -> str:
    """Return a value as PostgreSQL writes it in text."""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value)


def _float_text(value: float) -> str:
    """Return a float as the shortest text that reads back as it, or NaN or Infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value).removesuffix(".0")


def _binary(value: object, oid: int) -> bytes:
    """Return a value in PostgreSQL's binary format."""
    if oid in _INTEGERS:
        return struct.pack(_INTEGERS[oid], value)
    if oid in _FLOATS:
        return struct.pack(_FLOATS[oid], value)
    if oid == BOOL.oid:
        return b"\1" if value else b"\0"
    if oid == DATE.oid and isinstance(value, date):
        return struct.pack("!i", (value - _DAY_ZERO).days)
    if oid == TIMESTAMP.oid and isinstance(value, datetime):
        return struct.pack("!q", (value - _TIME_ZERO) // timedelta(microseconds=1))
    return str(value).encode("utf-8", "replace")


def _text_array(elements: list[object], oid: int) -> str:
    """Return an array as text, {a,b}, with quotes where an element needs them."""
    inner = []
    for element in elements:
        if element is None:
            inner.append("NULL")
            continue
        words = _text(_typed(element, ELEMENTS[oid].oid))
        # A text that could be read as syntax, or as NULL, stands in quotes.
        if not _PLAIN_ELEMENT.fullmatch(words) or words.upper() == "NULL":
            escaped = words.replace("\\", "\\\\").replace('"', '\\"')
            words = f'"{escaped}"'
        inner.append(words)
    return "{" + ",".join(inner) + "}"


def _binary_array(elements: list[object], oid: int) -> bytes:
    """Return a one-dimensional array in PostgreSQL's binary format."""
    inner = ELEMENTS[oid].oid
    # Dimensions, whether there are NULLs, and the type of the elements.
    has_null = int(None in elements)
    parts = [struct.pack("!iiI", int(bool(elements)), has_null, inner)]
    if elements:
        parts.append(struct.pack("!ii", len(elements), 1))
    for element in elements:
        encoded = encode(element, inner, 1)
        length = -1 if encoded is None else len(encoded)
        parts.append(struct.pack("!i", length) + (encoded or b""))
    return b"".join(parts)


def decode(raw: bytes | None, oid: int, form: int) -> Parameter:
    """Read the value of a parameter.

    Refuses: what is no value of its type (InvalidArgument).
    """
    if raw is None:
        return None
    try:
        if form:
            return _decode_binary(raw, oid)
        return _decode_text(raw.decode(), oid)
    except (ValueError, KeyError, struct.error, ArithmeticError):
        # A day beyond the calendar is an OverflowError, hence ArithmeticError.
        raise InvalidArgument(
            "the value of a parameter is none of its type; give it as text, such as '2024-01-31'"
        ) from None


def _decode_text(words: str, oid: int) -> Parameter:
    """Read a value from its text by its type; ValueError if it is none of that type."""
    if oid in NUMBERS:
        return _number(words)
    if oid == BOOL.oid:
        return TRUTHS[words.strip().lower()]
    if oid == DATE.oid:
        return date.fromisoformat(words.strip()[:10])
    if oid in (TIMESTAMP.oid, TIMESTAMPTZ.oid):
        return datetime.fromisoformat(words.strip())
    return words


TRUTHS = dict.fromkeys(("t", "true", "1", "on", "yes"), True)
TRUTHS |= dict.fromkeys(("f", "false", "0", "off", "no"), False)


def _number(words: str) -> Parameter:
    """Read a number exactly; ValueError if the text is no finite number or is too long."""
    given = words.strip()
    # Decimal would take NaN, Infinity and underscores too, and millions of digits.
    if len(given) > _MAX_NUMBER or not _NUMBER.fullmatch(given):
        raise ValueError(given)
    exact = Decimal(given)
    return int(exact) if exact == exact.to_integral_value() else exact


def _decode_binary(raw: bytes, oid: int) -> Parameter:
    """Read a value in PostgreSQL's binary format by its type."""
    if oid in _INTEGERS:
        [whole] = struct.unpack(_INTEGERS[oid], raw)
        return int(whole)
    if oid in _FLOATS:
        [real] = struct.unpack(_FLOATS[oid], raw)
        # The shortest decimal, as everywhere: 0.1 is one tenth.
        return _number(repr(real))
    if oid == BOOL.oid:
        [truth] = struct.unpack("!?", raw)
        return bool(truth)
    if oid == DATE.oid:
        [days] = struct.unpack("!i", raw)
        return _DAY_ZERO + timedelta(days=days)
    if oid in (TIMESTAMP.oid, TIMESTAMPTZ.oid):
        [micros] = struct.unpack("!q", raw)
        return _TIME_ZERO + timedelta(microseconds=micros)
    if oid == NUMERIC.oid:
        return _decode_numeric(raw)
    return raw.decode()


def _decode_numeric(raw: bytes) -> Parameter:
    """Read a number as PostgreSQL sends it: digits in base 10,000, a weight and a sign."""
    count, weight, sign, _ = struct.unpack("!hhHh", raw[:8])
    digits = struct.unpack(f"!{count}h", raw[8:])
    if sign not in (0, 0x4000) or abs(weight) > 64 or count > 128:
        raise ValueError
    # The first digit has the highest weight; each is four decimal places.
    total = Decimal(0)
    for place, digit in enumerate(digits):
        total += Decimal(digit).scaleb(4 * (weight - place))
    return _number(str(-total if sign else total))
