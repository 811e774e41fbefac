"""Exact parsing of numbers from files, flags and requests, with a limit on their length."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from ..errors import InvalidArgument

_DECIMAL = r"[+-]?([0-9]{1,60}(\.[0-9]{0,60})?|\.[0-9]{1,60})([eE][+-]?[0-9]{1,3})?"
_QUOTIENT = r"[+-]?[0-9]{1,4000}/0{0,99}[1-9][0-9]{0,3999}"
NUMERAL = re.compile(f"{_DECIMAL}|{_QUOTIENT}")
"""A decimal of at most 60 digits on each side of the point and an exponent of at most 3 digits, or
a quotient of at most 4,000 digits each. The exact value of 1e999999999 would fill the memory."""
_KINDS: dict[type, str] = {
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def read_number(value: object, name: str) -> Fraction:
    """Read a number exactly: an int, a Decimal, or text such as "1/20" or "1e-6"; no float.

    >>> from discreet.arithmetic.numeral import read_number
    >>> read_number("1/20", "epsilon"), read_number(3, "size")
    (Fraction(1, 20), Fraction(3, 1))

    Refuses: InvalidArgument for other types, text that is no number, and numbers too long or with
        too large an exponent to be intended.

    Law: tests/privacy/test_budget_text.py::test_numbers_are_read_exactly_as_text
    """
    # True is an int to Python; a budget of True is a mistake.
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        kind = _KINDS.get(type(value), "no number")
        raise InvalidArgument(f'{name} must be a number, or text such as "1/20"; got {kind}')
    text = str(value)
    if not NUMERAL.fullmatch(text):
        raise InvalidArgument(
            f'{name} must be a finite number such as 0.5 or "1/20", got {text[:40]!r}'
        )
    return Fraction(text)
