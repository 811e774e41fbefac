"""Covariance and correlation: from noisy totals of products, squares, values and rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .noisy import Box, Noisy, clip, outward, ratio
from .spread import second_moment, unbiased

__all__ = ["Coefficient", "Moment", "mixed_moment"]


def mixed_moment(products: Box, x: Box, y: Box, rows: Box) -> Box:
    """Bound p/n − (a/n)(b/n) for p, a, b, n in four boxes, n above 0, each quotient by itself.

    >>> one = (Fraction(1), Fraction(1))
    >>> mixed_moment((Fraction(5), Fraction(6)), (Fraction(-1), Fraction(2)), one, one)
    (Fraction(3, 1), Fraction(7, 1))
    """
    least, most = ratio(products, rows)
    means = [a * b for a in ratio(x, rows) for b in ratio(y, rows)]
    return least - max(means), most - min(means)


@dataclass(frozen=True, slots=True)
class Moment:
    """A covariance of two columns in public ranges; `most` = width·width is four times the greatest there can be.

    Interval: joint boxes of the four totals, as for a variance; |cov| ≤ width·width/4, with n − 1 twice that.
    """

    products: Noisy
    x: Noisy
    y: Noisy
    count: Noisy
    most: Fraction
    sample: bool

    @property
    def _limit(self) -> Fraction:
        return self.most / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The covariance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= (1 if self.sample else 0):
            return None
        moment = self.products.value / n - self.x.value * self.y.value / n**2
        exact = moment * n / (n - 1) if self.sample else moment
        return float(min(max(exact, -self._limit), self._limit))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        rows = self.count.box(beta, 4)
        if rows[0] <= (1 if self.sample else 0):
            return outward((-self._limit, self._limit))
        box = mixed_moment(self.products.box(beta, 4), self.x.box(beta, 4), self.y.box(beta, 4), rows)
        return outward(clip(unbiased(box, rows) if self.sample else box, -self._limit, self._limit))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation, from −1 to 1. Interval: joint boxes of all six totals; if a variance may be 0, all of −1 … 1."""

    products: Noisy
    x: Noisy
    y: Noisy
    count: Noisy
    x_squares: Noisy
    y_squares: Noisy

    @property
    def value(self) -> float | None:
        """The correlation by the noisy totals, moved into −1 … 1; None if there seems to be no variance."""
        n = self.count.value
        if n <= 0:
            return None
        moment = self.products.value / n - self.x.value * self.y.value / n**2
        spreads = [s.value / n - (t.value / n) ** 2 for s, t in ((self.x_squares, self.x), (self.y_squares, self.y))]
        if min(spreads) <= 0:
            return None
        return min(max(float(moment) / math.sqrt(spreads[0] * spreads[1]), -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        rows = self.count.box(beta, 6)
        if rows[0] <= 0:
            return -1.0, 1.0
        x, y = self.x.box(beta, 6), self.y.box(beta, 6)
        u, v = second_moment(self.x_squares.box(beta, 6), x, rows), second_moment(self.y_squares.box(beta, 6), y, rows)
        if u[0] <= 0 or v[0] <= 0:
            return -1.0, 1.0
        least, most = mixed_moment(self.products.box(beta, 6), x, y, rows)
        roots = [math.sqrt(u[i] * v[i]) for i in (0, 1)]
        low = float(least) / roots[0 if least < 0 else 1]
        high = float(most) / roots[0 if most > 0 else 1]
        margin = 1e-12  # far above the rounding of a root and a quotient
        return max(-1.0, min(1.0, low - margin)), min(1.0, max(-1.0, high + margin))
