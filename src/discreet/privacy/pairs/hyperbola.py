"""Dominating pairs whose trade-off function (f-DP) is a piece of a hyperbola.

These are Laplace noise, its hull on a lattice, and bounded range.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import frozen
from ..loss.loss_masses import EPS, Array, Lattice, LossCells, narrowest


@frozen
class Hyperbola:
    """Symmetric pair: two atoms at the losses ±`high` and a density between −`wide` and `wide`.

    The P-mass at `high` is `end`; the density is ½·root·e^{l/2}. The mirror of a P-mass m at loss
    l is the Q-mass m at loss −l, so P-mass m·e^−l lies at −l.

    The hull of a lattice has a density where the lattice has atoms, `split` apart. The curve of
    the atoms is linear in e^ε between two of them, and touches that of the hull halfway.

    Guarantee: `delta` rounds up and `lower_delta` down; that of a hull is the curve of its atoms.

    Law: tests/privacy/test_pair.py::TestHyperbola
    """

    high: float
    wide: float
    end: float
    root: float
    limit: Fraction | None
    top: Fraction = Fraction(0)
    lattice: Lattice | None = None
    slack: float = 0.0
    split: float = 0.0

    def cells(self, edges: Array) -> LossCells:
        """Integrate the density in closed form between edges and add the two atoms."""
        outer = np.concatenate(([-self.wide], edges, [self.wide]))
        cuts = np.clip(outer, -self.wide, self.wide)
        # e^{b/2} − e^{a/2} = e^{a/2}·(e^{(b−a)/2} − 1) loses no digits in narrow cells.
        growth = np.expm1(np.diff(cuts) / 2)
        lower = cuts[:-1]
        upper = cuts[1:]
        root = self.root
        p = root * np.exp(lower / 2) * growth
        q = root * np.exp(-upper / 2) * growth
        if self.end > 0:
            mirror = self.end * math.exp(-self.high)
            _add_atom(p, q, edges, -self.high, mirror)
            _add_atom(p, q, edges, self.high, self.end)
        # The widths of cells are differences: their relative error grows as they get narrow.
        units = 1 + self.wide / narrowest(cuts)
        return LossCells(p, q, 0.0, 32 * EPS * units)

    def _curve(self, epsilon: float) -> float:
        """Evaluate H(ε) in closed form."""
        if epsilon >= self.high:
            return 0.0
        if epsilon < -self.high:
            return -math.expm1(epsilon)
        atom = -self.end * math.expm1(epsilon - self.high)
        if epsilon >= self.wide:
            return atom
        if epsilon >= -self.wide:
            # A square of a small number: no cancellation where ε comes close to the largest loss.
            square = math.expm1((epsilon - self.wide) / 2) ** 2
            scale = self.root * math.exp(self.wide / 2)
            return atom + scale * square
        density_mass = 2 * self.root * math.sinh(self.wide / 2)
        return atom - density_mass * math.expm1(epsilon)

    def delta(self, epsilon: float) -> float:
        """Return H(ε) in closed form, rounded up; 0 from the limit on."""
        if self.limit is not None and epsilon >= self.limit:
            return 0.0
        # The float `high` may be below the exact limit: just under it the curve is positive still.
        below_high = min(epsilon, math.nextafter(self.high, 0))
        return min(1.0, up(self._curve(below_high)))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) rounded down; of the atoms, where the pair is their hull."""
        if not self.split or abs(epsilon) >= self.wide:
            return down(self._curve(epsilon))
        # The tangent in e^ε at the nearest point where both curves meet: `wide`, and every
        # `split` below it. Its slope is the Q-mass of all larger losses.
        meeting = round((self.wide - epsilon) / self.split)
        at = self.wide - self.split * meeting
        mass = self.end * math.exp(-self.split * (meeting + 1) / 2)
        return down(self._curve(at) - mass * math.expm1(epsilon - at))

    def span(self, tail: float) -> tuple[float, float]:  # noqa: ARG002
        """Return the whole range of the loss: it is finite."""
        return -self.high, self.high


def _add_atom(p: Array, q: Array, edges: Array, loss: float, mass: float) -> None:
    # A loss on an edge belongs to the cell that ends there.
    cell = int(np.searchsorted(edges, loss, side="left"))
    p[cell] += mass
    q[cell] += mass * math.exp(-loss)


def laplace(ratio: Fraction) -> Hyperbola:
    """Make the pair of Laplace noise with Δ1/scale = ratio; it holds in any dimension.

    One dimension: P = Lap(Δ, b), Q = Lap(0, b) has loss ±Δ/b with P-masses ½ and ½e^{−Δ/b}, and
    the density ¼e^{(l−Δ/b)/2} between. More dimensions: let T_d be the trade-off function of a
    shift by d. For log-concave noise T_{c+d} = T_d ∘ (1 − T_c), and a vector shift passes
    coordinate by coordinate through hybrids. So its trade-off function is at least the composition
    of the coordinates', which is T of the L1 norm (Dong, Roth, Su 2022, group privacy).

    Law: tests/privacy/test_pair.py::TestHyperbola

    >>> from discreet.privacy.pairs.hyperbola import laplace
    >>> from fractions import Fraction
    >>> round(laplace(Fraction(1)).delta(0.5), 12)
    0.221199216929
    """
    high = float(ratio)
    root = math.exp(-high / 2) / 2
    return Hyperbola(high, high, 0.5, root, ratio)


def discrete_laplace_hull(rate: Fraction, steps: int) -> Hyperbola:
    """Make a pair that dominates discrete Laplace noise a^|x|, a = e^−rate, shifted by n steps.

    The trade-off function of the shift joins the points α = a^t/(1+a), f = a^{n+1}/((1+a)² α),
    t = 1 … n, by chords (thresholds are optimal: the loss is monotone). These points lie on the
    hyperbola αf = a^{n+1}/(1+a)², whose chords lie above it. So the hyperbola between t = 1 and
    t = n, with the two end atoms of mass 1/(1+a), dominates. For n = 1 nothing is left between
    and it is randomized response, exactly.

    Law: tests/privacy/test_pair.py::TestHyperbola

    >>> from discreet.privacy.pairs.hyperbola import discrete_laplace_hull, laplace
    >>> from fractions import Fraction
    >>> discrete_laplace_hull(Fraction(1), 1).delta(0.0) - laplace(Fraction(1)).delta(0.0) > 0
    True
    """
    limit = rate * steps
    high = float(limit)
    float_rate = float(rate)
    end = 1 / (1 + math.exp(-float_rate))
    wide = float_rate * (steps - 1)
    exponent = -(high + float_rate) / 2
    root = end * math.exp(exponent)
    return Hyperbola(high, wide, end, root, limit, split=2 * float_rate)


def bounded_range(epsilon: Fraction) -> Hyperbola:
    """Make the pair that dominates every event of bounded range ε.

    H(x) = (a − √x)²/(a² − 1) with a = e^{ε/2} and x = e^ε'. Range ε means that all losses lie in
    one interval [t − ε, t], t in [0, ε]. The ends as the only losses dominate, by convexity, and
    with y = e^t they have H(x) = (a² − y)(y − x)/(y(a² − 1)). The largest over t is the curve
    above, at y = a√x (cf. Dong, Durfee, Rogers 2020). Its masses are a density proportional to
    e^{l/2} on all of [−ε, ε].

    Law: tests/privacy/test_pair.py::TestHyperbola

    >>> from discreet.privacy.pairs.hyperbola import bounded_range
    >>> from fractions import Fraction
    >>> round(bounded_range(Fraction(1)).delta(0.0), 12), bounded_range(Fraction(1)).delta(1.0)
    (0.244918662404, 0.0)
    """
    high = float(epsilon)
    root = 1 / (2 * math.sinh(high / 2))
    return Hyperbola(high, high, 0.0, root, epsilon)
