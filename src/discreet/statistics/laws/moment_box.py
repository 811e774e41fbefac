"""Where moments lie, if the totals they are made from lie in boxes: interval arithmetic, exact."""

from __future__ import annotations

import math
from fractions import Fraction

from .box import Box, ratio

__all__ = ["blurred", "mixed_blur", "mixed_moment", "second_moment", "unbiased"]


def second_moment(squares: Box, total: Box, rows: Box) -> Box:
    """Bound q/n − (s/n)² for q, s, n in three boxes, n above 0: the exact extremes.

    It grows with q and falls with |s|. In n, q/n − s²/n² rises up to n = 2s²/q and falls after, so it is least at an
    end of the box and greatest at that point or at the end nearest to it.

    >>> from fractions import Fraction
    >>> second_moment((Fraction(5), Fraction(6)), (Fraction(1), Fraction(2)), (Fraction(1), Fraction(2)))
    (Fraction(1, 1), Fraction(5, 1))
    """
    far = max(abs(total[0]), abs(total[1]))
    near = Fraction(0) if total[0] <= 0 <= total[1] else min(abs(total[0]), abs(total[1]))
    peak = rows[1] if squares[1] <= 0 else min(max(2 * near**2 / squares[1], rows[0]), rows[1])
    most = squares[1] / peak - (near / peak) ** 2
    return min(squares[0] / n - (far / n) ** 2 for n in rows), most


def mixed_moment(products: Box, x: Box, y: Box, rows: Box) -> Box:
    """Bound p/n − (a/n)(b/n) for p, a, b, n in four boxes, n above 0, each quotient by itself.

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

    >>> from fractions import Fraction
    >>> unbiased((Fraction(-1), Fraction(1)), (Fraction(2), Fraction(3)))
    (Fraction(-2, 1), Fraction(2, 1))
    """
    corners = [v * n / (n - 1) for v in box for n in rows]
    return min(corners), max(corners)


def blurred(low: float, high: float, blur: float) -> tuple[float, float]:
    """Bound the variance of values from that of the same values moved by at most `blur` each.

    A standard deviation is a norm, so it moves by at most the deviation of the moves (Minkowski).

    >>> blurred(4.0, 9.0, 0.0), blurred(0.25, 4.0, 1.0)
    ((4.0, 9.0), (0.0, 9.000000000000002))
    """
    if blur == 0:
        return low, high
    least = max(0.0, math.sqrt(low) - blur)
    return math.nextafter(least * least, 0.0), math.nextafter((math.sqrt(high) + blur) ** 2, math.inf)


def mixed_blur(widths: tuple[Fraction, Fraction], blurs: tuple[Fraction, Fraction]) -> Fraction:
    """Bound how far a covariance moves if values are moved by at most `blurs`: Cauchy and Schwarz, term by term.

    >>> from fractions import Fraction
    >>> mixed_blur((Fraction(4), Fraction(6)), (Fraction(1, 2), Fraction(0)))
    Fraction(3, 2)
    """
    (wide_x, wide_y), (x, y) = widths, blurs
    return wide_x / 2 * y + x * wide_y / 2 + x * y
