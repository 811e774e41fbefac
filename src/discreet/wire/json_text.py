"""JSON text, read strictly: one meaning, bounded depth, exact numbers.

Python's own reader takes NaN, lets the last of two equal keys win and turns 0.1 into a binary number. Here each of
these is refused or kept exact: a request that two programs could read differently is no request.
"""

from __future__ import annotations

import json
from decimal import Decimal

from ..errors import InvalidArgument

DEEPEST = 16
"""Nesting of a request; the deepest that means anything has three levels."""
LONGEST_NUMBER = 60


def read_json(text: bytes | str) -> object:
    """Read JSON exactly: whole numbers as int, others as Decimal.

    >>> from discreet.wire import read_json
    >>> read_json(b'{"error": 0.1, "size": 10}')
    {'error': Decimal('0.1'), 'size': 10}

    Refuses what is no UTF-8, no JSON, NaN and infinities, a key that stands twice, nesting beyond 16, numbers of more
    than 60 characters.

    >>> read_json('{"sql": "a", "sql": "b"}')
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the JSON names 'sql' twice; name every field once
    """
    try:
        words = text.decode("utf-8") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise InvalidArgument("the body is not UTF-8; send JSON in UTF-8") from None
    _check_depth(words)
    try:
        return json.loads(
            words,
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_float=_decimal,
            parse_int=_whole,
        )
    except json.JSONDecodeError as refusal:
        raise InvalidArgument(
            f"the body is no JSON: {refusal.msg} at character {refusal.pos}"
        ) from None


def write_json(value: object) -> str:
    """Write JSON compactly, fields in order; refuses NaN and infinities.

    >>> from discreet.wire import write_json
    >>> write_json({"n": 1, "μ": "1/2"})
    '{"n":1,"μ":"1/2"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _check_depth(words: str) -> None:
    """Count brackets outside of texts before the reader recurses into them."""
    depth, quoted, escaped = 0, False, False
    for letter in words:
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            depth += 1
            if depth > DEEPEST:
                raise InvalidArgument(
                    f"the JSON is nested deeper than {DEEPEST}; no request here needs that"
                )
        elif letter in "]}":
            depth -= 1


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise InvalidArgument(f"the JSON names {name[:40]!r} twice; name every field once")
        fields[name] = value
    return fields


def _no_constant(word: str) -> object:
    raise InvalidArgument(f"{word} is no number here; send a finite one")


def _short(digits: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        raise InvalidArgument(
            f"a number of {len(digits)} characters is too long; {LONGEST_NUMBER} are enough"
        )
    return digits


def _decimal(digits: str) -> Decimal:
    return Decimal(_short(digits))


def _whole(digits: str) -> int:
    return int(_short(digits))
