"""Numbers with what they may be off by, as people read them: rounded to their error, thousands apart."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum

from ..frozen import frozen

_EXACT = Context(prec=800)
_FAR = 15
"""From 10^15 on, and below 10^-15, powers of ten are written."""


class Digits(StrEnum):
    """How many digits of a number are shown: those that its error leaves, none after the point, or every one."""

    ERROR = "error"
    WHOLE = "whole"
    EVERY = "every"


@frozen
class NumberWords:
    """A number in words, and how far off it may be: `± 60`, or the ends of an interval that is not symmetric."""

    value: str
    error: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.error}".rstrip()


def number_words(
    value: float, low: float, high: float, digits: Digits = Digits.ERROR
) -> NumberWords:
    """Write a number to the second digit of its error; what is shown around it holds all of low..high.

    >>> from discreet.show.number import Digits, number_words
    >>> str(number_words(50826.5, 50766.6, 50886.4)), str(number_words(3.06212e7, 3.06211e7, 3.06213e7))
    ('50,826 ± 61', '30,621,200 ± 100')
    >>> str(number_words(44.0, 42.0, 47.0)), str(number_words(0.123456, 0.1, 0.147))
    ('44 (42 to 47)', '0.123 ± 0.024')
    >>> str(number_words(7.4, 5.9, 8.9, Digits.WHOLE)), str(number_words(1234.5, 1200.0, 1269.0, Digits.EVERY))
    ('7 ± 2', '1,234.5 ± 35')
    """
    below, above = value - low, high - value
    if not (math.isfinite(below) and math.isfinite(above)):
        return NumberWords(plain_number(value), f"({_end(low)} to {_end(high)})")
    whole = digits is Digits.WHOLE or all(x == math.floor(x) for x in (value, low, high))
    place = _place((high - low) / 2, max(abs(low), abs(high)), whole=whole)
    every = digits is Digits.EVERY or place is None
    middle = plain_number(value) if every else _written(_at(value, place or 0, ROUND_HALF_EVEN))
    slack = max(
        0.1 * (high - low), 1.0 if digits is Digits.WHOLE else 0.0
    )  # ends of counts are rounded to whole ones
    if min(below, above) < 0 or abs(above - below) > slack:
        ends = (
            _written(_at(end, place or 0, way))
            for end, way in ((low, ROUND_FLOOR), (high, ROUND_CEILING))
        )
        return NumberWords(middle, f"({' to '.join(ends)})")
    shown = Decimal(middle.replace(",", ""))
    reach = max(_EXACT.subtract(shown, Decimal(low)), _EXACT.subtract(Decimal(high), shown))
    return NumberWords(middle, f"± {_written(_up(reach, place))}")


def plain_number(value: float) -> str:
    """Write a number with every digit it has, thousands apart.

    >>> from discreet.show.number import plain_number
    >>> plain_number(1234567.25), plain_number(486.0), plain_number(-0.0), plain_number(1e300), plain_number(12)
    ('1,234,567.25', '486', '0', '1e+300', '12')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value) or (value and not 10.0**-_FAR <= abs(value) < 10.0**_FAR):
        return f"{value:g}"
    return f"{int(value):,}" if value == int(value) else f"{Decimal(repr(value)):,f}"


def _place(error: float, size: float, *, whole: bool) -> int | None:
    """Return the power of ten of the last digit that is shown, of twelve at most; None if there is no error."""
    if error <= 0:
        return 0 if whole else None
    place = max(math.floor(math.log10(error)) - 1, math.floor(math.log10(size)) - 11)
    return max(place, 0) if whole else place


def _at(value: float, place: int, rounding: str) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(place), rounding, _EXACT)


def _up(reach: Decimal, place: int | None) -> Decimal:
    """Round up to a place; a trifle that only binary fractions leave is no further digit."""
    if place is None:
        return Decimal(0)
    unit = Decimal(1).scaleb(place)
    near = reach.quantize(unit, ROUND_HALF_EVEN, _EXACT)
    trifle = abs(_EXACT.subtract(near, reach)) <= reach.scaleb(-12)
    return near if trifle else reach.quantize(unit, ROUND_CEILING, _EXACT)


def _written(number: Decimal) -> str:
    number = number if number else Decimal(0)
    if number and not -_FAR <= number.adjusted() < _FAR:
        return f"{number.normalize():e}"
    return f"{number:,f}"


def _end(value: float) -> str:
    return plain_number(value) if math.isfinite(value) else "no bound"
