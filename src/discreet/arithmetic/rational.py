"""Exact rational numbers from user input.

A float stands for the shortest decimal that prints it: 0.05 is exactly 1/20, not the binary number
nearest to it. So twenty spends of 0.05 fit in a budget of 1, and the sampler and the accountant use
the same number.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeAlias

from ..errors import InvalidArgument

Number: TypeAlias = int | float | Fraction | Decimal | str
# Most digits of a decimal exponent: the exact value of 1e999999999 would fill the memory.
MAX_EXPONENT_DIGITS = 4


def rational(value: object, name: str) -> Fraction:
    """Read a number exactly; a float or a NumPy float means its shortest decimal.

    >>> from discreet.arithmetic.rational import rational
    >>> rational(0.05, "epsilon"), rational("1e-6", "delta"), rational(3, "scale")
    (Fraction(1, 20), Fraction(1, 1000000), Fraction(3, 1))

    >>> rational(float("nan"), "epsilon")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: epsilon must be a finite number, got nan; try an int, ...

    Refuses: InvalidArgument for NaN, infinities, booleans, text that is no number, and other types.

    Law: tests/repository/test_rational.py::TestShortestDecimal
    """
    hint = "try an int, float, Fraction or text"
    # NumPy's booleans are recognised by name: NumPy need not be imported here.
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        raise InvalidArgument(f"{name} must be a number, got a boolean; {hint}")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise InvalidArgument(f"{name} must be a finite number, got {float(value)}; {hint}")
        # `str` is the shortest decimal of the number's own width: np.float32(0.1) is 1/10.
        return Fraction(str(value))
    if isinstance(value, Decimal | str):
        try:
            return Fraction(_bounded(value))
        except (ValueError, OverflowError, ZeroDivisionError):
            raise InvalidArgument(
                f"{name} must be a finite number, got {str(value)[:40]!r}; {hint}"
            ) from None
    raise InvalidArgument(f"{name} must be a number, got {type(value).__name__}; {hint}")


def _bounded(number: Decimal | str) -> Decimal | str:
    """Refuse an exponent of more than four digits."""
    exponent = str(number).lower().partition("e")[2].strip()
    # Signs, underscores and leading zeros do not count.
    digits = exponent.lstrip("+-").replace("_", "").lstrip("0")
    if len(digits) > MAX_EXPONENT_DIGITS:
        raise ValueError(digits)
    return number


def positive(value: object, name: str) -> Fraction:
    """Read a number greater than zero exactly.

    >>> from discreet.arithmetic.rational import positive
    >>> positive(0, "scale")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: scale must be greater than 0, got 0
    """
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidArgument(f"{name} must be greater than 0, got {value}")
    return exact


def whole(value: object, name: str, *, least: int = 0, most: int | None = None) -> int:
    """Read a whole number between two public bounds.

    >>> from discreet.arithmetic.rational import whole
    >>> whole(3, "size"), whole(2.0, "size")
    (3, 2)
    >>> whole(-1, "size")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: size must be a whole number of at least 0, got -1
    """
    exact = rational(value, name)
    is_too_large = most is not None and exact > most
    if exact.denominator != 1 or exact < least or is_too_large:
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidArgument(f"{name} must be a whole number {span}, got {value}")
    return int(exact)
