"""Exact amounts as people write them: an integer, a short decimal, or a fraction in quotes."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

INT64_LOW = -(2**63)
INT64_HIGH = 2**63 - 1


def plain(amount: Fraction | int) -> int | float | str:
    """Return a JSON or TOML number that `rational` reads back exactly; text where none does.

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
    # A float is read by its shortest decimal, so that decimal must be the amount itself.
    if Fraction(str(short)) == exact:
        return short
    return str(exact)


def call(name: str, *arguments: object, **options: object) -> str:
    """Write the call that makes a value again; options that are None are left out.

    >>> from discreet.data.columns.amount import call
    >>> from fractions import Fraction
    >>> call("Real", Fraction(0), Fraction(1, 2), step=None, null_key=True)
    'Real(0, 0.5, null_key=True)'
    """
    written = [_literal(argument) for argument in arguments]
    for key, value in options.items():
        if value is not None:
            written.append(f"{key}={_literal(value)}")
    return f"{name}({', '.join(written)})"


def _literal(value: object) -> str:
    if isinstance(value, Fraction):
        return repr(plain(value))
    if isinstance(value, date):
        return repr(value.isoformat())
    return repr(value)
