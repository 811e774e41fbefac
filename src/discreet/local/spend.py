"""Readers of the arguments that local mechanisms share: ε of a report, public range of a number.

They refuse values for which floats could no longer tell probabilities or numbers apart.
"""

from __future__ import annotations

from fractions import Fraction

from ..arithmetic.rational import Number, positive, rational, whole
from ..errors import InvalidArgument

# Below this ε, floats no longer distinguish the probabilities p and q of an estimate.
_MIN_EPSILON = Fraction(1, 10**9)
# e^500 and e^−500 are still floats; a report is the truth long before.
_MAX_EPSILON = Fraction(500)
# Within this bound no width, square or quotient of a range leaves the floats.
_MAX_END = Fraction(10**300)
# A range is at least 2^-40 of its ends: floats then distinguish 2^12 numbers in it.
_MAX_END_TO_WIDTH = 1 << 40


def read_epsilon(epsilon: object) -> Fraction:
    """Read the ε of one report.

    >>> from discreet.local.spend import read_epsilon
    >>> read_epsilon("1/2")
    Fraction(1, 2)

    Refuses: `InvalidArgument` for ε below 10⁻⁹, which no number of reports makes up for, and
    above 500, which protects nobody.
    Law: `tests/local/test_limits.py::test_epsilon_has_bounds_from_code_and_from_json`
    """
    amount = positive(epsilon, "epsilon")
    if not _MIN_EPSILON <= amount <= _MAX_EPSILON:
        raise InvalidArgument(
            "epsilon of a report must lie from 1e-9 to 500: below, it tells nothing; above, all"
        )
    return amount


def read_forged(n: int, forged: int) -> tuple[int, int]:
    """Read how many people reported, at least one, and how many of the reports are forged.

    >>> from discreet.local.spend import read_forged
    >>> read_forged(100, 3)
    (100, 3)

    Refuses: `InvalidArgument` for more forged reports than there are reports.
    """
    people = whole(n, "n", least=1)
    return people, whole(forged, "forged", most=people)


def read_range(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """Read the public range of a number.

    >>> from discreet.local.spend import read_range
    >>> read_range(0, "1/2")
    (Fraction(0, 1), Fraction(1, 2))

    Refuses: `InvalidArgument` for low not below high, and for ranges that floats cannot divide.
    Law: `tests/local/test_limits.py::test_ranges`
    """
    bottom = rational(low, "low")
    top = rational(high, "high")
    if top <= bottom:
        raise InvalidArgument("low must be below high, public bounds of the values")
    larger_end = max(abs(bottom), abs(top))
    width = top - bottom
    out_of_floats = larger_end > _MAX_END or width < 1 / _MAX_END
    if out_of_floats or width * _MAX_END_TO_WIDTH < larger_end:
        raise InvalidArgument(
            "low and high must be within 1e300, "
            "and not so near each other that floats cannot divide"
        )
    return bottom, top
