"""Exact amounts as people write them: a whole number, a short decimal, or a fraction in quotes."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1


def plain(amount: Fraction | int) -> int | float | str:
    """Return the number, JSON's or TOML's, that `rational` reads back as exactly this amount; text where none does.

    >>> from discreet.data.columns.amount import plain
    >>> from fractions import Fraction
    >>> plain(Fraction(3)), plain(Fraction(1, 20)), plain(Fraction(1, 3))
    (3, 0.05, '1/3')
    """
    exact = Fraction(amount)
    if exact.denominator == 1 and INT64_LOW <= exact <= INT64_HIGH:
        return int(exact)
    try:
        short = float(exact)
    except OverflowError:
        return str(exact)
    return short if Fraction(str(short)) == exact else str(exact)


def call(name: str, *places: object, **options: object) -> str:
    """Write the call that makes a value again; options that are None are left out.

    >>> from discreet.data.columns.amount import call
    >>> from fractions import Fraction
    >>> call("Real", Fraction(0), Fraction(1, 2), step=None, null_key=True)
    'Real(0, 0.5, null_key=True)'
    """
    words = [_word(place) for place in places]
    words += [f"{key}={_word(value)}" for key, value in options.items() if value is not None]
    return f"{name}({', '.join(words)})"


def _word(value: object) -> str:
    if isinstance(value, Fraction):
        return repr(plain(value))
    return repr(value.isoformat()) if isinstance(value, date) else repr(value)
