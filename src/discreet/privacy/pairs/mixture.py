"""The pair of an event run on a Poisson sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import frozen
from .loss_masses import Array, Lattice, LossCells, LossPair

RAREST = 1e-300
"""Least rate told from 0; a rarer sample is priced as this one, which is worse."""
FAR = 1e6
"""Stands for an infinite inner loss where an edge is needed."""


@frozen
class Mixture:
    """The pair of a Poisson sample at `rate` γ (0 < γ < 1) of an event with pair `inner` = (A, B), same direction.

    With the unit in D: remove has P = (1−γ)B + γA against Q = B (A: the unit was drawn); add has P = A against
    Q = (1−γ)A + γB (B: the unit was drawn). These dominate for every inner event (Zhu, Dong, Wang 2022, Theorem 11).
    The loss is a monotone function of the inner loss, so cells map to cells and masses exactly to masses.

    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> from discreet.privacy.pairs.mixture import Mixture
    >>> round(Mixture(Gauss(1.0), 0.01, removes=True).delta(0.1), 15)
    7.2900376958e-05
    >>> Mixture(Gauss(1.0), 0.01, removes=False).delta(0.1)
    0.0
    """

    inner: LossPair
    rate: float
    removes: bool

    @property
    def top(self) -> Fraction:
        """Only a drawn unit can be given away for sure."""
        return Fraction(self.rate) * self.inner.top if self.removes else Fraction(0)

    @property
    def limit(self) -> Fraction | None:
        """ln(1 − γ + γe^l) for remove; −ln(1 − γ + γe^−l), at most −ln(1 − γ), for add."""
        inner = self.inner.limit
        if self.removes:
            return None if inner is None else Fraction(up(_forth(float(inner), self.rate)))
        least = -math.inf if inner is None or self.inner.top > 0 else -float(inner)
        return Fraction(up(-_forth(least, self.rate)))

    @property
    def lattice(self) -> Lattice | None:
        """None: the map of losses bends every lattice."""
        return None

    @property
    def slack(self) -> float:
        """The inner slack: both laws are mixtures of laws within the same factors."""
        return self.inner.slack

    def cells(self, edges: Array) -> LossCells:
        """Map the edges back to the inner loss and mix the masses."""
        g = self.rate
        c = self.inner.cells(_back(edges, g) if self.removes else -_back(-edges, g))
        if self.removes:
            return LossCells((1 - g) * c.q + g * c.p, c.q, g * c.top, c.error + 2.0**-50)
        q = (1 - g) * c.p + g * c.q
        p = c.p.copy()
        p[-1] += c.top  # where the unit surely was absent the loss is −ln(1 − γ), finite
        q[-1] += (1 - g) * c.top
        return LossCells(p, q, 0.0, c.error + 2.0**-50)

    def _curve(self, epsilon: float, inner: Callable[[float], float]) -> float:
        g = self.rate
        if self.removes:
            at = float(_inner(np.array([epsilon]), g)[0])
            return g * inner(at) if at > -math.inf else -math.expm1(epsilon)
        share = -math.expm1(epsilon + math.log1p(-g))
        return 0.0 if share <= 0 else share * inner(epsilon + math.log(g / share))

    def delta(self, epsilon: float) -> float:
        """Return H(ε) from the inner H: γH(ln(1 + (e^ε−1)/γ)) for remove, (1−(1−γ)e^ε)H(…) for add; rounded up."""
        raw = self._curve(epsilon, self.inner.delta)
        return min(1.0, up(raw)) if raw > 0 else 0.0

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) rounded down."""
        return down(self._curve(epsilon, self.inner.lower_delta))

    def span(self, tail: float) -> tuple[float, float]:
        """Map the inner interval; for remove the least loss is ln(1 − γ), whatever is inside."""
        low, high = self.inner.span(tail)
        if self.removes:
            return _forth(-math.inf, self.rate), _forth(max(high, 0.0), self.rate)
        high = math.inf if self.inner.top > 0 else high
        return -_forth(-low, self.rate), -_forth(-high, self.rate)


def _forth(loss: float, rate: float) -> float:
    """Return ln(1 − γ + γe^l)."""
    if loss <= 700:
        return math.log1p(rate * math.expm1(loss))
    drawn = loss + math.log(rate)  # γe^l need not be large: γ may be as small as e^l is large
    return max(drawn, 0.0) + math.log1p(math.exp(-abs(drawn)))


def _back(loss: Array, rate: float) -> Array:
    """Return the inner loss as an edge; −∞ and what is as far up stand a finite way off."""
    return np.clip(_inner(loss, rate), -FAR, FAR)


def _inner(loss: Array, rate: float) -> Array:
    """Return the inner loss ln(1 + (e^l − 1)/γ), −∞ below ln(1 − γ); from 1 on as l − ln γ + ln(1 − (1 − γ)e^−l)."""
    short = np.maximum(np.expm1(np.minimum(loss, 1.0)) / rate, -1.0)
    long = np.maximum(loss, 1.0)
    with np.errstate(divide="ignore"):
        near = np.log1p(short)
    return np.where(loss <= 1, near, long - math.log(rate) + np.log1p((rate - 1) * np.exp(-long)))
