"""Dominating pair of an event run on a Poisson sample (amplification by subsampling).

It is a mixture of the two laws of the event's own pair, one for each direction: the unit is
removed, or added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import frozen
from ..loss.loss_masses import Array, Lattice, LossCells, LossPair

MIN_RATE = 1e-300
"""Least rate told from 0; a rarer sample is priced as this one, which is worse."""
FAR = 1e6
"""Finite edge in place of an infinite inner loss."""
_MIXING_ERROR = 2.0**-50
"""Relative error of a sum of two products."""


@frozen
class Mixture:
    """Pair of a Poisson sample at `rate` γ (0 < γ < 1) of an event with pair `inner` = (A, B).

    | direction | P | Q | the unit was drawn |
    |---|---|---|---|
    | remove (the unit is in D) | (1−γ)B + γA | B | A |
    | add (the unit is in D') | A | (1−γ)A + γB | B |

    Guarantee: these dominate for every inner event (Zhu, Dong, Wang 2022, Theorem 11). The loss is
    a monotone function of the inner loss, so cells map to cells and masses exactly to masses.

    Law: tests/privacy/test_pair.py::TestMixture

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
        """The mass at infinity: only a drawn unit can be given away for sure."""
        return Fraction(self.rate) * self.inner.top if self.removes else Fraction(0)

    @property
    def limit(self) -> Fraction | None:
        """The largest loss: ln(1 − γ + γe^l) for remove, −ln(1 − γ + γe^−l) for add.

        For add it is at most −ln(1 − γ), also where the inner loss has no limit.
        """
        inner = self.inner.limit
        if self.removes:
            if inner is None:
                return None
            return Fraction(up(_outer_loss(float(inner), self.rate)))
        # An inner loss of +∞ maps to the largest one, −ln(1 − γ).
        least = -math.inf
        if inner is not None and self.inner.top == 0:
            least = -float(inner)
        return Fraction(up(-_outer_loss(least, self.rate)))

    @property
    def lattice(self) -> Lattice | None:
        """None: the map of losses bends every lattice."""
        return None

    @property
    def slack(self) -> float:
        """The inner slack: both laws are mixtures of laws within the same factors."""
        return self.inner.slack

    @property
    def split(self) -> float:
        """The inner split: mixing with the other law brings likelihood ratios closer together."""
        return self.inner.split

    def cells(self, edges: Array) -> LossCells:
        """Map the edges back to the inner loss and mix the masses."""
        if self.removes:
            return self._remove_cells(edges)
        return self._add_cells(edges)

    def _remove_cells(self, edges: Array) -> LossCells:
        rate = self.rate
        inner = self.inner.cells(_inner_edges(edges, rate))
        p = (1 - rate) * inner.q + rate * inner.p
        error = inner.error + _MIXING_ERROR
        return LossCells(p, inner.q, rate * inner.top, error)

    def _add_cells(self, edges: Array) -> LossCells:
        rate = self.rate
        # Add is remove with both laws exchanged, so that losses change their sign.
        inner = self.inner.cells(-_inner_edges(-edges, rate))
        p = inner.p.copy()
        q = (1 - rate) * inner.p + rate * inner.q
        # Where the unit surely was absent the loss is −ln(1 − γ): finite, in the last cell.
        p[-1] += inner.top
        q[-1] += (1 - rate) * inner.top
        return LossCells(p, q, 0.0, inner.error + _MIXING_ERROR)

    def _curve(self, epsilon: float, inner: Callable[[float], float]) -> float:
        """Evaluate H(ε) from the inner curve.

        Remove: γH(ln(1 + (e^ε−1)/γ)). Add: sH(ε + ln(γ/s)) with s = 1 − (1−γ)e^ε.
        """
        rate = self.rate
        if self.removes:
            inner_loss = _inner_loss(np.array([epsilon]), rate)
            at = float(inner_loss[0])
            if at == -math.inf:
                # Below the least loss, ln(1 − γ), every curve is 1 − e^ε.
                return -math.expm1(epsilon)
            return rate * inner(at)
        log_both = epsilon + math.log1p(-rate)
        factor = -math.expm1(log_both)
        if factor <= 0:
            # ε is at least −ln(1 − γ), the largest loss.
            return 0.0
        at = epsilon + math.log(rate / factor)
        return factor * inner(at)

    def delta(self, epsilon: float) -> float:
        """Return H(ε) from the inner H, rounded up; exactly 0 where the curve is 0."""
        raw = self._curve(epsilon, self.inner.delta)
        return min(1.0, up(raw)) if raw > 0 else 0.0

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) rounded down."""
        return down(self._curve(epsilon, self.inner.lower_delta))

    def span(self, tail: float) -> tuple[float, float]:
        """Map the inner interval; for remove the least loss is ln(1 − γ), whatever is inside."""
        low, high = self.inner.span(tail)
        if self.removes:
            least = _outer_loss(-math.inf, self.rate)
            return least, _outer_loss(max(high, 0.0), self.rate)
        if self.inner.top > 0:
            high = math.inf
        lowest = -_outer_loss(-low, self.rate)
        highest = -_outer_loss(-high, self.rate)
        return lowest, highest


def _outer_loss(loss: float, rate: float) -> float:
    """Return ln(1 − γ + γe^l), the loss of the sample."""
    if loss <= 700:
        return math.log1p(rate * math.expm1(loss))
    # e^l leaves the floats. γe^l need not be large: γ may be as small as e^l is large.
    drawn = loss + math.log(rate)
    correction = math.log1p(math.exp(-abs(drawn)))
    return max(drawn, 0.0) + correction


def _inner_edges(loss: Array, rate: float) -> Array:
    """Return the inner losses as edges; infinite ones become a finite, far edge."""
    return np.clip(_inner_loss(loss, rate), -FAR, FAR)


def _inner_loss(loss: Array, rate: float) -> Array:
    """Return the inner loss ln(1 + (e^l − 1)/γ), −∞ below ln(1 − γ).

    From 1 on it is computed as l − ln γ + ln(1 − (1 − γ)e^−l), which does not overflow.
    """
    short = np.expm1(np.minimum(loss, 1.0)) / rate
    with np.errstate(divide="ignore"):
        near = np.log1p(np.maximum(short, -1.0))
    long = np.maximum(loss, 1.0)
    correction = np.log1p((rate - 1) * np.exp(-long))
    far = long - math.log(rate) + correction
    return np.where(loss <= 1, near, far)
