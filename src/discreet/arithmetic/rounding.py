"""Which way a number is rounded. A number that promises privacy rounds up; nothing else in this room rounds.

Floating-point results of libm and SciPy are within a few units in the last place; every price passes through `up` with
a relative margin far above that (2^-40 by default) and far below any reported gap.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

MARGIN = 2.0**-40
"""Relative margin of `up` and `down`: 9e-13, thousands of units in the last place."""


def up(value: float, margin: float = MARGIN) -> float:
    """Move a computed number to the safe side of a promise: larger by a relative margin, at least one step.

    >>> import math
    >>> from discreet.arithmetic.rounding import up
    >>> up(1.0) > 1.0, up(0.0) > 0.0, up(math.inf)
    (True, True, inf)
    """
    return math.nextafter(value + abs(value) * margin, math.inf)


def down(value: float, margin: float = MARGIN) -> float:
    """Move a computed number to the safe side of a lower bound; never below zero if it was not.

    >>> from discreet.arithmetic.rounding import down
    >>> down(1.0) < 1.0, down(0.0)
    (True, 0.0)
    """
    lower = math.nextafter(value - abs(value) * margin, -math.inf)
    return max(0.0, lower) if value >= 0 else lower


def fraction_up(value: float, margin: float = MARGIN) -> Fraction:
    """Return the exact rational of a number rounded up: an amount a ledger can add exactly.

    >>> from discreet.arithmetic.rounding import fraction_up
    >>> from fractions import Fraction
    >>> fraction_up(0.1) > Fraction(1, 10)
    True
    """
    return Fraction(up(value, margin))


def fraction_down(value: float, margin: float = MARGIN) -> Fraction:
    """Return the exact rational of a number rounded down.

    >>> from discreet.arithmetic.rounding import fraction_down
    >>> from fractions import Fraction
    >>> fraction_down(0.1) < Fraction(1, 10)
    True
    """
    return Fraction(down(value, margin))


def shown(value: float | Fraction, digits: int = 4, *, upward: bool = True) -> str:
    """Print a promise in a few digits, never smaller than it is.

    >>> from discreet.arithmetic.rounding import shown
    >>> from fractions import Fraction
    >>> shown(0.12340001), shown(Fraction(1, 3)), shown(2), shown(1e-6), shown(0.12349, upward=False)
    ('0.1235', '0.3334', '2', '1e-06', '0.1234')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    context = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    decimal = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    near = float(decimal)
    return (
        f"{near:.{digits}g}" if near or not decimal else f"{decimal:e}"
    )  # below the least float it is not 0


def exact_text(amount: Fraction) -> str:
    """Print an amount as a plain decimal if it is a short one, else as a fraction.

    >>> from discreet.arithmetic.rounding import exact_text
    >>> from fractions import Fraction
    >>> exact_text(Fraction(1, 20)), exact_text(Fraction(1, 3))
    ('0.05', '1/3')
    """
    try:
        decimal = f"{float(amount):.12g}"
    except OverflowError:
        return str(amount)
    return decimal if Fraction(decimal) == amount else str(amount)


def brief_text(amount: Fraction) -> str:
    """Print an amount for people: as it is if short, else in six digits, never smaller than it is."""
    exact = exact_text(amount)
    return exact if len(exact) <= 12 else shown(amount, 6)
