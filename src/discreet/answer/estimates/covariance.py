"""Covariance and correlation: from noisy totals of products, squares, values and rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .noisy import Box, Noisy, clip, outward, ratio
from .variance import blurred, second_moment, unbiased

__all__ = ["Coefficient", "Moment", "mixed_blur", "mixed_moment"]


def mixed_moment(products: Box, x: Box, y: Box, rows: Box) -> Box:
    """Bound p/n − (a/n)(b/n) for p, a, b, n in four boxes, n above 0, each quotient by itself.

    >>> one = (Fraction(1), Fraction(1))
    >>> mixed_moment((Fraction(5), Fraction(6)), (Fraction(-1), Fraction(2)), one, one)
    (Fraction(3, 1), Fraction(7, 1))
    """
    least, most = ratio(products, rows)
    means = [a * b for a in ratio(x, rows) for b in ratio(y, rows)]
    return least - max(means), most - min(means)


def mixed_blur(widths: tuple[Fraction, Fraction], blurs: tuple[Fraction, Fraction]) -> Fraction:
    """Bound how far a covariance moves if values are moved by at most `blurs`: Cauchy and Schwarz, term by term.

    >>> mixed_blur((Fraction(4), Fraction(6)), (Fraction(1, 2), Fraction(0)))
    Fraction(3, 2)
    """
    (wide_x, wide_y), (x, y) = widths, blurs
    return wide_x / 2 * y + x * wide_y / 2 + x * y


@dataclass(frozen=True, slots=True)
class Moment:
    """A covariance of two columns in public ranges of some widths, whose values were moved by at most `blurs`.

    Interval: joint boxes of the four totals, as for a variance; |cov| ≤ width·width/4, with n − 1 twice that.
    """

    products: Noisy
    x: Noisy
    y: Noisy
    count: Noisy
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    @property
    def _limit(self) -> Fraction:
        return self.widths[0] * self.widths[1] / (2 if self.sample else 4)

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
        low, high = unbiased(box, rows) if self.sample else box
        slack = mixed_blur(self.widths, self.blurs) * (2 if self.sample else 1)
        return outward(clip((low - slack, high + slack), -self._limit, self._limit))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation, from −1 to 1. Interval: joint boxes of all six totals; if a variance may be 0, all of −1 … 1."""

    products: Noisy
    x: Noisy
    y: Noisy
    count: Noisy
    x_squares: Noisy
    y_squares: Noisy
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]

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
        spreads = [
            blurred(*outward(clip(box, Fraction(0), max(box[1], Fraction(0)))), float(blur))
            for box, blur in zip((u, v), self.blurs, strict=True)
        ]
        if min(spreads)[0] <= 0:
            return -1.0, 1.0
        slack = mixed_blur(self.widths, self.blurs)
        least, most = mixed_moment(self.products.box(beta, 6), x, y, rows)
        return _quotient(float(least - slack), float(most + slack), spreads)


def _quotient(least: float, most: float, spreads: list[tuple[float, float]]) -> tuple[float, float]:
    """Bound c/√(u·v) for c from least to most and u, v in intervals above 0."""
    small, large = (math.sqrt(spreads[0][i] * spreads[1][i]) for i in (0, 1))
    margin = 1e-12  # far above the rounding of a root and a quotient
    low = least / (small if least < 0 else large) - margin
    high = most / (small if most > 0 else large) + margin
    return max(-1.0, min(1.0, low)), min(1.0, max(-1.0, high))
