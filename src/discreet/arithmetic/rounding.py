"""Directed rounding: a number that promises privacy rounds up, a lower bound rounds down.

Floating-point results of libm and SciPy are taken to be off by a few units in the last place. A
price computed in floats passes through `up`, with a relative margin far above that (2^-40 by
default). An exact number needs no margin: `at_least` gives the least float that is not below it.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from .rational import exact_text

MARGIN = 2.0**-40
"""Relative margin of `up` and `down`: 9e-13, thousands of units in the last place."""


def up(value: float, margin: float = MARGIN) -> float:
    """Round a computed number up, the safe side of a promise.

    Larger by a relative margin, at least by one float.

    >>> import math
    >>> from discreet.arithmetic.rounding import up
    >>> up(1.0) > 1.0, up(0.0) > 0.0, up(math.inf)
    (True, True, inf)

    Guarantee: the result is above the true value, if the relative error of `value` is below
        `margin`.
    """
    # `nextafter` makes even 0 larger: a computed 0 may have been an underflow.
    return math.nextafter(value + abs(value) * margin, math.inf)


def down(value: float, margin: float = MARGIN) -> float:
    """Round a computed number down, the safe side of a lower bound.

    A number of at least 0 is never rounded below 0.

    >>> from discreet.arithmetic.rounding import down
    >>> down(1.0) < 1.0, down(0.0)
    (True, 0.0)
    """
    lower = math.nextafter(value - abs(value) * margin, -math.inf)
    # 0 is a lower bound of every amount.
    return max(0.0, lower) if value >= 0 else lower


def fraction_up(value: float, margin: float = MARGIN) -> Fraction:
    """Return `up(value)` as an exact fraction: an amount that a ledger adds exactly.

    >>> from discreet.arithmetic.rounding import fraction_up
    >>> from fractions import Fraction
    >>> fraction_up(0.1) > Fraction(1, 10)
    True
    """
    return Fraction(up(value, margin))


def fraction_down(value: float, margin: float = MARGIN) -> Fraction:
    """Return `down(value)` as an exact fraction.

    >>> from discreet.arithmetic.rounding import fraction_down
    >>> from fractions import Fraction
    >>> fraction_down(0.1) < Fraction(1, 10)
    True
    """
    return Fraction(down(value, margin))


def log_up(ratio: Fraction) -> Fraction:
    """Return ln(ratio) of a rational of at least 1, rounded up; the ratio may be beyond floats.

    >>> from discreet.arithmetic.rounding import log_up
    >>> from fractions import Fraction
    >>> round(float(log_up(Fraction(10) ** 400)), 6), float(log_up(Fraction(1))) > 0
    (921.034037, True)
    """
    # Near 1 log1p keeps the digits that log would lose.
    if ratio < 2:
        return fraction_up(math.log1p(ratio - 1))
    # The margin covers the cancellation of two logarithms of large integers.
    difference = math.log(ratio.numerator) - math.log(ratio.denominator)
    return fraction_up(difference, 2.0**-36)


def shown(value: float | Fraction, digits: int = 4, *, upward: bool = True) -> str:
    """Print a number in `digits` significant digits, rounded up; with `upward=False` rounded down.

    So a printed promise of privacy is never smaller than the promise itself.

    >>> from discreet.arithmetic.rounding import shown
    >>> from fractions import Fraction
    >>> shown(0.12340001), shown(Fraction(1, 3)), shown(2), shown(1e-6)
    ('0.1235', '0.3334', '2', '1e-06')
    >>> shown(0.12349, upward=False)
    '0.1234'
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    direction = ROUND_CEILING if upward else ROUND_FLOOR
    context = Context(prec=digits, rounding=direction)
    decimal = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    nearest = float(decimal)
    # A decimal below the least float is not 0.
    is_below_floats = bool(decimal) and not nearest
    return f"{decimal:e}" if is_below_floats else f"{nearest:.{digits}g}"


def brief_text(amount: Fraction, *, upward: bool = True) -> str:
    """Print an amount exactly in at most 12 characters, else in six digits, rounded up or down."""
    exact = exact_text(amount)
    if len(exact) <= 12:
        return exact
    return shown(amount, 6, upward=upward)


def at_least(exact: Fraction) -> float:
    """Return the least float that is not below an exact number.

    >>> from discreet.arithmetic.rounding import at_least
    >>> from fractions import Fraction
    >>> at_least(Fraction(3)), at_least(Fraction(1, 3)) > Fraction(1, 3)
    (3.0, True)
    """
    near = float(exact)
    # Compared in whole numbers, without a reduced fraction: an answer has hundreds of ends.
    numerator, denominator = near.as_integer_ratio()
    if numerator * exact.denominator >= exact.numerator * denominator:
        return near
    return math.nextafter(near, math.inf)
