"""Interval arithmetic on exact boxes: quotients and moments; ends in floats are rounded outward.

Guarantee: a result in floats is never narrower than the exact one.
Law: tests/statistics/test_partition.py::TestLines
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from ...arithmetic.rounding import at_least

Box: TypeAlias = tuple[Fraction, Fraction]
"""The least and the greatest value of a number."""


def ratio(top: Box, bottom: Box) -> Box:
    """Bound s/n for s in one box and n in another that is above 0.

    >>> from discreet.statistics.laws.interval_arithmetic import ratio
    >>> from fractions import Fraction
    >>> ratio((Fraction(-1), Fraction(4)), (Fraction(1), Fraction(2)))
    (Fraction(-1, 1), Fraction(4, 1))
    """
    corners = [s / n for s in top for n in bottom]
    return min(corners), max(corners)


def clip(box: Box, low: Fraction, high: Fraction) -> Box:
    """Clip a box to a public range that contains the exact value."""
    least = min(max(box[0], low), high)
    most = max(min(box[1], high), low)
    return least, most


def outward(box: Box) -> tuple[float, float]:
    """Return the smallest interval of floats that contains an exact box.

    >>> from discreet.statistics.laws.interval_arithmetic import outward
    >>> from fractions import Fraction
    >>> low, high = outward((Fraction(1, 3), Fraction(2, 3)))
    >>> low <= Fraction(1, 3), high >= Fraction(2, 3), outward((Fraction(1), Fraction(2)))
    (True, True, (1.0, 2.0))
    """
    # Subtraction from 0.0 instead of a minus sign: the lower end is never −0.0.
    low = 0.0 - at_least(-box[0])
    high = at_least(box[1])
    return low, high


def second_moment(squares: Box, total: Box, rows: Box) -> Box:
    """Bound q/n − (s/n)² for q, s, n in three boxes, n above 0: the exact extremes.

    It grows with q and falls with |s|. In n, q/n − s²/n² rises up to n = 2s²/q and falls after.
    So it is least at an end of the box, and greatest at that point or at the end nearest to it.

    >>> from discreet.statistics.laws.interval_arithmetic import second_moment
    >>> from fractions import Fraction
    >>> one_or_two = (Fraction(1), Fraction(2))
    >>> second_moment((Fraction(5), Fraction(6)), one_or_two, one_or_two)
    (Fraction(1, 1), Fraction(5, 1))
    """
    far = max(abs(total[0]), abs(total[1]))
    near = min(abs(total[0]), abs(total[1]))
    if total[0] <= 0 <= total[1]:
        near = Fraction(0)
    peak = rows[1]
    if squares[1] > 0:
        peak = min(max(2 * near**2 / squares[1], rows[0]), rows[1])
    most = squares[1] / peak - (near / peak) ** 2
    at_ends = [squares[0] / n - (far / n) ** 2 for n in rows]
    return min(at_ends), most


def mixed_moment(products: Box, x: Box, y: Box, rows: Box) -> Box:
    """Bound p/n − (a/n)(b/n) for p, a, b, n in four boxes, n above 0.

    Each quotient is bounded by itself, which is wider than the exact extremes.

    >>> from discreet.statistics.laws.interval_arithmetic import mixed_moment
    >>> from fractions import Fraction
    >>> one = (Fraction(1), Fraction(1))
    >>> mixed_moment((Fraction(5), Fraction(6)), (Fraction(-1), Fraction(2)), one, one)
    (Fraction(3, 1), Fraction(7, 1))
    """
    least, most = ratio(products, rows)
    means = [a * b for a in ratio(x, rows) for b in ratio(y, rows)]
    return least - max(means), most - min(means)


def unbiased(box: Box, rows: Box) -> Box:
    """Bound v·n/(n − 1) for v in a box and n in a box above 1; the factor falls in n.

    >>> from discreet.statistics.laws.interval_arithmetic import unbiased
    >>> from fractions import Fraction
    >>> unbiased((Fraction(-1), Fraction(1)), (Fraction(2), Fraction(3)))
    (Fraction(-2, 1), Fraction(2, 1))
    """
    corners = [v * n / (n - 1) for v in box for n in rows]
    return min(corners), max(corners)


def blurred(low: float, high: float, blur: float) -> tuple[float, float]:
    """Bound the variance of values from that of the same values moved by at most `blur` each.

    A standard deviation is a norm, so it moves by at most the deviation of the moves (Minkowski).

    >>> from discreet.statistics.laws.interval_arithmetic import blurred
    >>> blurred(4.0, 9.0, 0.0), blurred(0.25, 4.0, 1.0)
    ((4.0, 9.0), (0.0, 9.000000000000002))
    """
    if blur == 0:
        return low, high
    least_deviation = max(0.0, math.sqrt(low) - blur)
    most_deviation = math.sqrt(high) + blur
    # Squares of floats are rounded outward, towards 0 and towards infinity.
    least = math.nextafter(least_deviation * least_deviation, 0.0)
    most = math.nextafter(most_deviation**2, math.inf)
    return least, most


def mixed_blur(widths: tuple[Fraction, Fraction], blurs: tuple[Fraction, Fraction]) -> Fraction:
    """Bound the change of a covariance if values are moved by at most `blurs`.

    Cauchy and Schwarz, term by term; a deviation is at most half of the width.

    >>> from discreet.statistics.laws.interval_arithmetic import mixed_blur
    >>> from fractions import Fraction
    >>> mixed_blur((Fraction(4), Fraction(6)), (Fraction(1, 2), Fraction(0)))
    Fraction(3, 2)
    """
    width_x, width_y = widths
    blur_x, blur_y = blurs
    return width_x / 2 * blur_y + blur_x * width_y / 2 + blur_x * blur_y
