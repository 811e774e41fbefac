"""Pairs with finitely many losses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import field, fill, frozen
from .loss_masses import Array, Lattice, LossCells, ceiling

EPS = 2.0**-52


@frozen(eq=False)
class Atoms:
    """A pair given by increasing losses, their P-masses, and the P-mass `top` at an infinite loss.

    The Q-mass of a loss is its P-mass times e^−loss; what Q lacks to 1 lies where p = 0, at the loss −∞. `spare` bounds
    what tails that were cut off add to `top`: it is no part of the pair, and no part of a lower bound.

    >>> import numpy as np
    >>> from discreet.privacy.pairs.atoms import Atoms
    >>> round(Atoms(np.array([-1.0, 1.0]), np.array([0.2689414213699951, 0.7310585786300049])).delta(0.0), 9)
    0.462117157
    """

    losses: Array
    p: Array
    top: Fraction = Fraction(0)
    limit: Fraction | None = None
    lattice: Lattice | None = None
    slack: float = 0.0
    error: float = 64 * EPS
    spare: float = 0.0
    certain: float = field(init=False)
    q: Array = field(init=False)

    def __post_init__(self) -> None:
        fill(self, certain=ceiling(self.top))
        fill(self, q=_other(self.p, self.losses))

    def cells(self, edges: Array) -> LossCells:
        """Sum the atoms between edges; an atom on an edge belongs to the cell that ends there."""
        ends = np.searchsorted(self.losses, edges, side="right")
        q = _between(self.q, ends)
        q[0] += max(0.0, 1 - float(self.q.sum()))
        return LossCells(
            _between(self.p, ends), q, self.certain, self.error + 4 * EPS * len(self.p)
        )

    def delta(self, epsilon: float) -> float:
        """Return H(ε) = top + Σ_{l > ε} p (1 − e^{ε−l}), rounded up."""
        if self.limit is not None and epsilon >= self.limit:
            return self.certain
        raw = self._curve(epsilon - 2 * self.slack)
        return min(1.0, up(math.exp(self.slack) * raw * (1 + len(self.p) * EPS)))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) of the pair, rounded down."""
        return down(max(0.0, self._curve(epsilon) * (1 - len(self.p) * EPS) - self.spare))

    def _curve(self, epsilon: float) -> float:
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        above = self.p[first:] * -np.expm1(epsilon - self.losses[first:])
        return self.certain + float(above.sum())

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses between which all P-mass but `tail` on each side lies."""
        low = int(np.searchsorted(np.cumsum(self.p), tail, side="right"))
        high = int(np.searchsorted(np.cumsum(self.p[::-1]), tail, side="right"))
        last = len(self.p) - 1
        return float(self.losses[min(low, last)]), float(self.losses[max(last - high, 0)])


def _other(p: Array, losses: Array) -> Array:
    """Return p·e^−loss; where that factor is no float, in logarithms, and 0 where p is: it counts as lacking."""
    steep = (losses < -700) & (p > 0)
    logs = np.log(np.where(steep, p, 1.0)) - losses
    q: Array = np.where(losses < -700, 0.0, p * np.exp(np.minimum(-losses, 700.0)))
    q[steep] = np.exp(np.minimum(logs[steep], 0.0))
    return q


def _between(mass: Array, ends: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Array:
    padded = np.append(mass, 0.0)
    starts = np.concatenate(([0], ends))
    sums = np.add.reduceat(padded, starts)
    stops = np.concatenate((ends, [len(mass)]))
    sums[starts == stops] = 0.0  # reduceat gives the next element for an empty cell
    return sums


def binary(epsilon: Fraction) -> Atoms:
    """Make the pair of binary randomized response: it dominates every ε-DP event (Kairouz, Oh, Viswanath 2015).

    Its trade-off function is the pointwise least one that ε-DP allows, max(0, 1 − e^ε α, e^−ε (1 − α)).

    >>> from discreet.privacy.pairs.atoms import binary
    >>> from fractions import Fraction
    >>> round(binary(Fraction(1)).delta(0.5), 12)
    0.287649136645
    """
    return box(epsilon, Fraction(0))


def box(epsilon: Fraction, delta: Fraction) -> Atoms:
    """Make the pair that dominates every (ε, δ)-DP event: mass δ at +∞, randomized response on the rest (KOV 2015)."""
    e, d = float(epsilon), float(delta)
    if epsilon == 0:
        return Atoms(
            np.zeros(1), np.array([1 - d]), delta, Fraction(0), Lattice(Fraction(1), Fraction(0))
        )
    truth = 1 / (1 + math.exp(-e))
    p = (1 - d) * np.array([truth * math.exp(-e), truth])
    return Atoms(np.array([-e, e]), p, delta, epsilon, Lattice(2 * epsilon, -epsilon))


def response(epsilon: Fraction, options: int) -> Atoms:
    """Make the exact pair of k-ary randomized response: losses ±ε, and 0 where neither input is named."""
    e, rest = float(epsilon), options - 2
    share = np.array([math.exp(-e), rest * math.exp(-e), 1.0]) / (1 + (rest + 1) * math.exp(-e))
    if rest == 0:
        return binary(epsilon)
    return Atoms(np.array([-e, 0.0, e]), share, Fraction(0), epsilon, Lattice(epsilon, Fraction(0)))
