"""Variances: from noisy totals of squares, of values and of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .noisy import Box, Noisy, clip, outward

__all__ = ["Deviation", "blurred", "nearest_zero", "second_moment", "unbiased"]


def nearest_zero(box: Box) -> Fraction:
    """Give the least size of a number in a box.

    >>> nearest_zero((Fraction(-1), Fraction(2))), nearest_zero((Fraction(-3), Fraction(-2)))
    (Fraction(0, 1), Fraction(2, 1))
    """
    return Fraction(0) if box[0] <= 0 <= box[1] else min(abs(box[0]), abs(box[1]))


def second_moment(squares: Box, total: Box, rows: Box) -> Box:
    """Bound q/n − (s/n)² for q, s, n in three boxes, n above 0: the exact extremes.

    It grows with q and falls with |s|. In n, q/n − s²/n² rises up to n = 2s²/q and falls after, so it is least at an
    end of the box and greatest at that point or at the end nearest to it.

    >>> second_moment((Fraction(5), Fraction(6)), (Fraction(1), Fraction(2)), (Fraction(1), Fraction(2)))
    (Fraction(1, 1), Fraction(5, 1))
    """
    near, far = nearest_zero(total), max(abs(total[0]), abs(total[1]))
    peak = rows[1] if squares[1] <= 0 else min(max(2 * near**2 / squares[1], rows[0]), rows[1])
    most = squares[1] / peak - (near / peak) ** 2
    return min(squares[0] / n - (far / n) ** 2 for n in rows), most


def unbiased(box: Box, rows: Box) -> Box:
    """Bound v·n/(n − 1) for v in a box and n in a box above 1; the factor falls in n.

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


@dataclass(frozen=True, slots=True)
class Deviation:
    """A variance, or its root, of values in a public range of some width.

    Interval: with probability 1 − β the three exact totals lie in their boxes, and then the variance between its
    extremes there. A variance is at most width²/4 (Popoviciu), with n − 1 in the denominator at most width²/2.

    >>> from ...mechanisms.additive.discrete_laplace import Geometric
    >>> squares, total, count = (Noisy(n, Fraction(1), Geometric(scale=2, sensitivity=1)) for n in (9000, 50, 100))
    >>> deviation = Deviation(squares, total, count, Fraction(40), sample=False, root=False)
    >>> deviation.value, [round(end, 1) for end in deviation.interval(0.05)]
    (89.75, [83.0, 97.7])
    """

    squares: Noisy
    total: Noisy
    count: Noisy
    width: Fraction
    sample: bool
    root: bool
    blur: Fraction = Fraction(0)

    @property
    def value(self) -> float | None:
        """The variance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= (1 if self.sample else 0):
            return None
        spread = self.squares.value / n - (self.total.value / n) ** 2
        unbiased_spread = spread * n / (n - 1) if self.sample else spread
        inside = float(min(max(unbiased_spread, Fraction(0)), self._most))
        return math.sqrt(inside) if self.root else inside

    @property
    def _most(self) -> Fraction:
        return self.width**2 / (2 if self.sample else 4)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        inside = outward(clip(self._box(beta), Fraction(0), self._most))
        low, high = blurred(*inside, float(self.blur) * (1.5 if self.sample else 1.0))  # √(n/(n−1)) is below 1.5
        if not self.root:
            return low, high
        return max(0.0, math.nextafter(math.sqrt(low), -math.inf)), math.nextafter(math.sqrt(high), math.inf)

    def _box(self, beta: float) -> Box:
        rows = self.count.box(beta, 3)
        if rows[0] <= (1 if self.sample else 0):
            return Fraction(0), self._most
        box = second_moment(self.squares.box(beta, 3), self.total.box(beta, 3), rows)
        return unbiased(box, rows) if self.sample else box
