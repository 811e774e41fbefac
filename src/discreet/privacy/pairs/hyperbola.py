"""Pairs whose trade-off function is a piece of a hyperbola: Laplace noise, its lattice form, bounded range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import frozen
from .loss_masses import Array, Lattice, LossCells, narrowest

EPS = 2.0**-52


@frozen
class Hyperbola:
    """A symmetric pair: P-mass `end` at the loss `high`, its mirror at −high, density ½·root·e^{l/2} for |l| ≤ `wide`.

    The mirror of a P-mass m at loss l is the Q-mass m at loss −l, so P-mass m·e^−l lies at −l.
    """

    high: float
    wide: float
    end: float
    root: float
    limit: Fraction | None
    top: Fraction = Fraction(0)
    lattice: Lattice | None = None
    slack: float = 0.0

    def cells(self, edges: Array) -> LossCells:
        """Integrate the density in closed form between edges and add the two atoms."""
        cuts = np.clip(np.concatenate(([-self.wide], edges, [self.wide])), -self.wide, self.wide)
        grown = np.expm1(np.diff(cuts) / 2)
        p = self.root * np.exp(cuts[:-1] / 2) * grown
        q = self.root * np.exp(-cuts[1:] / 2) * grown
        if self.end > 0:
            for loss, mass in (
                (-self.high, self.end * math.exp(-self.high)),
                (self.high, self.end),
            ):
                cell = int(np.searchsorted(edges, loss, side="left"))
                p[cell] += mass
                q[cell] += mass * math.exp(-loss)
        return LossCells(p, q, 0.0, 32 * EPS * (1 + self.wide / narrowest(cuts)))

    def _curve(self, e: float) -> float:
        if e >= self.high:
            return 0.0
        if e < -self.high:
            return -math.expm1(e)
        jump = -self.end * math.expm1(e - self.high)
        if e >= self.wide:
            return jump
        if e >= -self.wide:
            return jump + self.root * math.exp(self.wide / 2) * math.expm1((e - self.wide) / 2) ** 2
        return jump - 2 * self.root * math.sinh(self.wide / 2) * math.expm1(e)

    def delta(self, epsilon: float) -> float:
        """Return H(ε) in closed form, rounded up; nothing beyond the limit."""
        if self.limit is not None and epsilon >= self.limit:
            return 0.0
        return min(1.0, up(self._curve(min(epsilon, math.nextafter(self.high, 0)))))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) rounded down."""
        return down(self._curve(epsilon))

    def span(self, tail: float) -> tuple[float, float]:  # noqa: ARG002
        """Return the whole range of the loss: it is finite."""
        return -self.high, self.high


def laplace(ratio: Fraction) -> Hyperbola:
    """Make the pair of Laplace noise with Δ1/scale = ratio; it holds in any dimension.

    One dimension: P = Lap(Δ, b), Q = Lap(0, b) has loss ±Δ/b with P-masses ½ and ½e^{−Δ/b}, density ¼e^{(l−Δ/b)/2}
    between. More: let T_d be the trade-off function of a shift by d. For log-concave noise T_{c+d} = T_d ∘ (1 − T_c),
    and a vector shift passes coordinate by coordinate through hybrids, so its trade-off function is at least the
    composition of the coordinates', which is T of the L1 norm (Dong, Roth, Su 2022, group privacy).

    >>> from discreet.privacy.pairs.hyperbola import laplace
    >>> from fractions import Fraction
    >>> round(laplace(Fraction(1)).delta(0.5), 12)
    0.221199216929
    """
    x = float(ratio)
    return Hyperbola(x, x, 0.5, math.exp(-x / 2) / 2, ratio)


def discrete_laplace_hull(rate: Fraction, steps: int) -> Hyperbola:
    """Make a pair that dominates discrete Laplace noise a^|x|, a = e^−rate, shifted by whole steps n.

    The trade-off function of the shift joins the points α = a^t/(1+a), f = a^{n+1}/((1+a)² α), t = 1 … n, by chords
    (thresholds are optimal: the loss is monotone). These points lie on the hyperbola αf = a^{n+1}/(1+a)², whose chords
    lie above it, so the hyperbola between t = 1 and t = n, with the two end atoms of mass 1/(1+a), dominates. For n = 1
    nothing is left between and it is randomized response, exactly.

    >>> from discreet.privacy.pairs.hyperbola import discrete_laplace_hull, laplace
    >>> from fractions import Fraction
    >>> discrete_laplace_hull(Fraction(1), 1).delta(0.0) - laplace(Fraction(1)).delta(0.0) > 0
    True
    """
    a, ratio = float(rate), rate * steps
    x, share = float(ratio), 1 / (1 + math.exp(-float(rate)))
    return Hyperbola(x, a * (steps - 1), share, share * math.exp(-(x + a) / 2), ratio)


def bounded_range(epsilon: Fraction) -> Hyperbola:
    """Make the pair that dominates every event of bounded range ε: H(x) = (a − √x)²/(a² − 1), a = e^{ε/2}, x = e^ε'.

    Range ε means that all losses lie in one interval [t − ε, t], t in [0, ε]. The ends as the only losses dominate, by
    convexity, and with y = e^t they have H(x) = (a² − y)(y − x)/(y(a² − 1)); the largest over t is the curve above, at
    y = a√x (cf. Dong, Durfee, Rogers 2020). Its masses are a density proportional to e^{l/2} on all of [−ε, ε].

    >>> from discreet.privacy.pairs.hyperbola import bounded_range
    >>> from fractions import Fraction
    >>> round(bounded_range(Fraction(1)).delta(0.0), 12), bounded_range(Fraction(1)).delta(1.0)
    (0.244918662404, 0.0)
    """
    x = float(epsilon)
    return Hyperbola(x, x, 0.0, 1 / (2 * math.sinh(x / 2)), epsilon)
