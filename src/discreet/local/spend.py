"""The amounts of a local mechanism, read in one place: ε of a report, and the public range of a number."""

from __future__ import annotations

from fractions import Fraction

from ..arithmetic.rational import Number, positive, rational
from ..errors import InvalidArgument

_LEAST = Fraction(
    1, 10**9
)  # below it floats no longer tell the chances p and q of an estimate apart
_MOST = Fraction(
    500
)  # e^500 is a float and e^−500 still one above 0; a report is the truth long before
_HUGE = Fraction(10**300)  # so that no width, square or quotient of a range leaves the floats
_FINE = (
    1 << 40
)  # a range is at least this part of its ends: floats then tell 2^12 places in it apart


def read_epsilon(epsilon: object) -> Fraction:
    """Read the ε of one report.

    >>> from discreet.local.spend import read_epsilon
    >>> read_epsilon("1/2")
    Fraction(1, 2)

    Refuses ε below 10⁻⁹, which no number of reports makes up for, and above 500, which protects nobody.
    """
    amount = positive(epsilon, "epsilon")
    if not _LEAST <= amount <= _MOST:
        raise InvalidArgument(
            "epsilon of a report must lie from 1e-9 to 500: below, it tells nothing; above, all"
        )
    return amount


def read_range(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """Read the public range of a number.

    >>> from discreet.local.spend import read_range
    >>> read_range(0, "1/2")
    (Fraction(0, 1), Fraction(1, 2))

    Refuses low that is not below high, and ranges that floats cannot divide.
    """
    bottom, top = rational(low, "low"), rational(high, "high")
    if top <= bottom:
        raise InvalidArgument("low must be below high, public bounds of the values")
    ends, width = max(abs(bottom), abs(top)), top - bottom
    if ends > _HUGE or width < 1 / _HUGE or width * _FINE < ends:
        raise InvalidArgument(
            "low and high must be within 1e300, and not so near each other that floats cannot divide"
        )
    return bottom, top
