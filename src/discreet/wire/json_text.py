"""Strict JSON: a parser with one meaning, bounded depth and exact numbers, and a compact writer.

Python's own parser accepts NaN, lets the last of two equal keys win and turns 0.1 into a binary
number. This one refuses NaN and equal keys, since two programs could read them differently, and
keeps decimals exact.
"""

from __future__ import annotations

import json
from decimal import Decimal

from ..errors import InvalidArgument
from ..json_shape import JsonObject

MAX_DEPTH = 16
"""Deepest nesting of a request; valid ones have at most four levels (bin edges of a model)."""
# Long enough for any exact decimal in use; int() of longer digit strings takes quadratic time.
MAX_NUMBER_LENGTH = 60


def read_json(text: bytes | str) -> object:
    """Parse JSON exactly: whole numbers as int, others as Decimal.

    >>> from discreet.wire import read_json
    >>> read_json(b'{"error": 0.1, "size": 10}')
    {'error': Decimal('0.1'), 'size': 10}

    Refuses: text that is not UTF-8 or not JSON, NaN and infinities, a repeated key, nesting beyond
    16, numbers of more than 60 characters, all by `InvalidArgument`.

    Law: tests/wire/test_json_text.py::TestRefusals

    >>> read_json('{"sql": "a", "sql": "b"}')
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the JSON names 'sql' twice; name every field once
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise InvalidArgument("the body is not UTF-8; send JSON in UTF-8") from None
    # Before parsing: the parser recurses, and deep nesting would exhaust its stack.
    _check_depth(decoded)
    try:
        return json.loads(
            decoded,
            object_pairs_hook=_unique_fields,
            parse_constant=_refuse_constant,
            parse_float=_parse_decimal,
            parse_int=_parse_integer,
        )
    except json.JSONDecodeError as refusal:
        raise InvalidArgument(
            f"the body is no JSON: {refusal.msg} at character {refusal.pos}"
        ) from None


def write_json(value: object) -> str:
    """Serialize to compact JSON, fields in order; refuses NaN and infinities.

    >>> from discreet.wire import write_json
    >>> write_json({"n": 1, "μ": "1/2"})
    '{"n":1,"μ":"1/2"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _check_depth(text: str) -> None:
    """Count the brackets that are open outside of strings."""
    depth = 0
    quoted = False
    escaped = False
    for letter in text:
        if quoted:
            # A quote ends the string unless a backslash precedes it; two backslashes are one.
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidArgument(
                    f"the JSON is nested deeper than {MAX_DEPTH}; no request here needs that"
                )
        elif letter in "]}":
            depth -= 1


def _unique_fields(pairs: list[tuple[str, object]]) -> JsonObject:
    """Return the fields of a JSON object; refuse one that names a field twice."""
    fields: JsonObject = {}
    for name, value in pairs:
        if name in fields:
            raise InvalidArgument(f"the JSON names {name[:40]!r} twice; name every field once")
        fields[name] = value
    return fields


def _refuse_constant(constant: str) -> object:
    raise InvalidArgument(f"{constant} is no number here; send a finite one")


def _check_length(digits: str) -> str:
    """Return the digits of a number; refuse more than MAX_NUMBER_LENGTH characters."""
    if len(digits) > MAX_NUMBER_LENGTH:
        raise InvalidArgument(
            f"a number of {len(digits)} characters is too long; {MAX_NUMBER_LENGTH} are enough"
        )
    return digits


def _parse_decimal(digits: str) -> Decimal:
    return Decimal(_check_length(digits))


def _parse_integer(digits: str) -> int:
    return int(_check_length(digits))
