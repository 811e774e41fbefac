"""Text of numbers with their errors: digits that the error makes meaningless are left out.

A number is rounded at the second digit of its error, and thousands are separated by commas. Ends of
intervals and errors are rounded outward.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum

from ..frozen import frozen

# Enough digits for the exact decimal value of any float.
_EXACT = Context(prec=800)
# From 10^15 on, and below 10^-15, powers of ten are written.
_MAX_POWER = 15


class Digits(StrEnum):
    """Digits of a number that are shown.

    | value | shown |
    |---|---|
    | ERROR | all up to the second digit of the error |
    | WHOLE | the same, but none after the decimal point: for counts |
    """

    ERROR = "error"
    WHOLE = "whole"


@frozen
class NumberText:
    """Number as text, and its error: `± 60`, or the ends of an asymmetric interval."""

    value: str
    error: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.error}".rstrip()


def number_text(value: float, low: float, high: float, digits: Digits = Digits.ERROR) -> NumberText:
    """Write a number and its interval from `low` to `high`, to the second digit of the error.

    The error is half of the interval's length. An interval whose two sides differ by at most a
    tenth of its length (of counts: or by 1) is written with ±, any other with both ends.

    >>> from discreet.show.number import Digits, number_text
    >>> str(number_text(50826.5, 50766.6, 50886.4))
    '50,826 ± 61'
    >>> str(number_text(3.06212e7, 3.06211e7, 3.06213e7))
    '30,621,200 ± 100'
    >>> str(number_text(44.0, 42.0, 47.0)), str(number_text(0.123456, 0.1, 0.147))
    ('44 (42 to 47)', '0.123 ± 0.024')
    >>> str(number_text(7.4, 5.9, 8.9, Digits.WHOLE))
    '7 ± 2'
    >>> str(number_text(1234.567, 1200.1, float("inf")))
    '1,235 (1,200 to no bound)'

    Guarantee: the interval shown contains all of low..high, up to 10^−12 of the error; no digit is
    finer than the second digit of the error.
    Law: `tests/show/test_number.py::TestShownNumbers`
    """
    below = value - low
    above = high - value
    if not (math.isfinite(below) and math.isfinite(above)):
        return _open_text(value, low, high)
    all_integers = all(x == math.floor(x) for x in (value, low, high))
    integer = digits is Digits.WHOLE or all_integers
    power = _last_power((high - low) / 2, max(abs(low), abs(high)), integer=integer)
    middle = _value_text(value, power)
    # The ends of counts are rounded to integers, so they may differ by 1 from symmetric ones.
    max_difference = max(0.1 * (high - low), 1.0 if digits is Digits.WHOLE else 0.0)
    if min(below, above) < 0 or abs(above - below) > max_difference:
        # Outward: the interval shown contains the true one.
        bottom = _written(_rounded(low, power or 0, ROUND_FLOOR))
        top = _written(_rounded(high, power or 0, ROUND_CEILING))
        return NumberText(middle, f"({bottom} to {top})")
    # The distance from the number as shown, which is rounded itself.
    shown = Decimal(middle.replace(",", ""))
    distance_below = _EXACT.subtract(shown, Decimal(low))
    distance_above = _EXACT.subtract(Decimal(high), shown)
    error = _rounded_up(max(distance_below, distance_above), power)
    return NumberText(middle, f"± {_written(error)}")


def _open_text(value: float, low: float, high: float) -> NumberText:
    """Write a number with an interval that has no bound on one side or on both."""
    ends = [end for end in (low, high) if math.isfinite(end)]
    numbers = [value, *ends]
    if not ends or not math.isfinite(value):
        # Nothing says how far the number is known: six digits, as of a value without an interval.
        return NumberText(plain_number(float(f"{value:.6g}")), f"({_end(low)} to {_end(high)})")
    integer = all(number == math.floor(number) for number in numbers)
    # The error of the side that has a bound.
    power = _last_power(abs(value - ends[0]), max(map(abs, numbers)), integer=integer)
    bottom = _end(low, power or 0, ROUND_FLOOR)
    top = _end(high, power or 0, ROUND_CEILING)
    return NumberText(_value_text(value, power), f"({bottom} to {top})")


def _value_text(value: float, power: int | None) -> str:
    """Write a number rounded to a multiple of 10^power; with power None as `plain_number` does."""
    if power is None:
        return plain_number(value)
    return _written(_rounded(value, power, ROUND_HALF_EVEN))


def plain_number(value: float) -> str:
    """Write a number with every digit it has, with thousands separators.

    A float below 10^−15 or from 10^15 on has six digits and a power of ten.

    >>> from discreet.show.number import plain_number
    >>> plain_number(1234567.25), plain_number(486.0), plain_number(-0.0), plain_number(12)
    ('1,234,567.25', '486', '0', '12')
    >>> plain_number(1e300)
    '1e+300'
    """
    if isinstance(value, int):
        return f"{value:,}"
    in_range = 10.0**-_MAX_POWER <= abs(value) < 10.0**_MAX_POWER
    if not math.isfinite(value) or (value and not in_range):
        return f"{value:g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{Decimal(repr(value)):,f}"


def _last_power(error: float, size: float, *, integer: bool) -> int | None:
    """Return the power of ten of the last digit shown; None for a fraction without an error.

    At most twelve digits are shown of numbers up to `size`. `integer`: none after the decimal
    point.
    """
    if error <= 0:
        return 0 if integer else None
    second_digit = math.floor(math.log10(error)) - 1
    twelfth_digit = math.floor(math.log10(size)) - 11
    power = max(second_digit, twelfth_digit)
    return max(power, 0) if integer else power


def _rounded(value: float, power: int, rounding: str) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(power), rounding, _EXACT)


def _rounded_up(error: Decimal, power: int | None) -> Decimal:
    """Round an error up to a multiple of 10^power.

    An error within 10^−12 of itself above a multiple is a rounding error of binary fractions: it is
    rounded to that multiple.
    """
    if power is None:
        return Decimal(0)
    unit = Decimal(1).scaleb(power)
    nearest = error.quantize(unit, ROUND_HALF_EVEN, _EXACT)
    if abs(_EXACT.subtract(nearest, error)) <= error.scaleb(-12):
        return nearest
    return error.quantize(unit, ROUND_CEILING, _EXACT)


def _written(number: Decimal) -> str:
    """Write an exact number with commas between thousands; far from 1 with a power of ten."""
    # A new zero has no sign and no digits after the point.
    number = number if number else Decimal(0)
    if number and not -_MAX_POWER <= number.adjusted() < _MAX_POWER:
        return f"{number.normalize():e}"
    return f"{number:,f}"


def _end(value: float, power: int = 0, rounding: str = ROUND_FLOOR) -> str:
    """Write an end of an interval, rounded to a multiple of 10^power; "no bound" if infinite."""
    if math.isfinite(value):
        return _written(_rounded(value, power, rounding))
    return "no bound"
