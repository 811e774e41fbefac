"""Dominating pairs with finitely many privacy losses, given as a list of losses and masses.

Among them are the pairs of every ε-DP event, of every (ε, δ)-DP event (a box), and of randomized
response among k options.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...frozen import field, fill, frozen
from .loss_masses import EPS, Array, Lattice, LossCells, ceiling

_MAX_EXPONENT = 700.0
"""Largest exponent whose power of e is a float, with a reserve."""


@frozen(eq=False)
class Atoms:
    """Pair (P, Q) given by increasing losses, their P-masses, and the P-mass `top` at loss +∞.

    The Q-mass of a loss is its P-mass times e^−loss. The mass that Q lacks to 1 lies where p = 0,
    at the loss −∞. `spare` bounds the part of `top` that stands for cut-off tails: it is no part
    of the pair, and no part of a lower bound. `certain` is `top` rounded up, `q` the Q-masses.

    Where the masses of many losses were split between a few (`split`), the curve lies above the
    event's. Lower bounds then read `below`: losses and P-masses of a post-processing of the event.
    `error` is the relative error of the masses; `LossPair` explains the other fields.

    Guarantee: `delta` rounds up, `lower_delta` rounds down and leaves out `spare`.

    Law: tests/privacy/test_pair.py::TestAtoms

    >>> import numpy as np
    >>> from discreet.privacy.loss.atoms import Atoms
    >>> masses = np.array([0.2689414213699951, 0.7310585786300049])
    >>> round(Atoms(np.array([-1.0, 1.0]), masses).delta(0.0), 9)
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
    split: float = 0.0
    below: tuple[Array, Array] | None = None
    certain: float = field(init=False)
    q: Array = field(init=False)

    def __post_init__(self) -> None:
        fill(self, certain=ceiling(self.top))
        fill(self, q=_q_masses(self.p, self.losses))

    def cells(self, edges: Array) -> LossCells:
        """Sum the atoms between edges; an atom on an edge belongs to the cell that ends there."""
        ends = np.searchsorted(self.losses, edges, side="right")
        p = _sums_between(self.p, ends)
        q = _sums_between(self.q, ends)
        # The Q-mass without P-mass lies at the loss −∞, in the first cell.
        missing = 1 - float(self.q.sum())
        q[0] += max(0.0, missing)
        # A sum of n positive numbers errs by n units; four cover both laws.
        error = self.error + 4 * EPS * len(self.p)
        return LossCells(p, q, self.certain, error)

    def delta(self, epsilon: float) -> float:
        """Return H(ε) = top + Σ_{l > ε} p (1 − e^{ε−l}), rounded up."""
        if self.limit is not None and epsilon >= self.limit:
            # No finite loss is above the limit, so that only the mass at infinity is left.
            return self.certain
        raw = self._curve(epsilon - 2 * self.slack, self.losses, self.p)
        # The sum errs by n units; the slack raises the curve of the event.
        rounding = 1 + len(self.p) * EPS
        raised = math.exp(self.slack) * raw * rounding
        return min(1.0, up(raised))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) of the pair before masses were split, rounded down."""
        losses, p = (self.losses, self.p) if self.below is None else self.below
        rounding = 1 - len(p) * EPS
        lowered = self._curve(epsilon, losses, p) * rounding
        return down(max(0.0, lowered - self.spare))

    def _curve(self, epsilon: float, losses: Array, p: Array) -> float:
        first = int(np.searchsorted(losses, epsilon, side="right"))
        gains = -np.expm1(epsilon - losses[first:])
        above = p[first:] * gains
        return self.certain + float(above.sum())

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses between which all P-mass but `tail` on each side lies."""
        from_below = np.cumsum(self.p)
        from_above = np.cumsum(self.p[::-1])
        low = int(np.searchsorted(from_below, tail, side="right"))
        dropped = int(np.searchsorted(from_above, tail, side="right"))
        last = len(self.p) - 1
        lowest = self.losses[min(low, last)]
        highest = self.losses[max(last - dropped, 0)]
        return float(lowest), float(highest)


def _q_masses(p: Array, losses: Array) -> Array:
    """Return p·e^−loss, also where the factor alone is no float.

    Such Q-masses are computed in logarithms. Where p is 0 they are 0: they count as lacking.
    """
    far_below = losses < -_MAX_EXPONENT
    steep = far_below & (p > 0)
    factor = np.exp(np.minimum(-losses, _MAX_EXPONENT))
    q: Array = np.where(far_below, 0.0, p * factor)
    logs = np.log(np.where(steep, p, 1.0)) - losses
    # No Q-mass is above 1, hence the least of the logarithm and 0.
    q[steep] = np.exp(np.minimum(logs[steep], 0.0))
    return q


def _sums_between(mass: Array, ends: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Array:
    """Return sums of masses: up to index ends[0], between neighbouring ends, and after the last."""
    padded = np.append(mass, 0.0)
    starts = np.concatenate(([0], ends))
    stops = np.concatenate((ends, [len(mass)]))
    sums = np.add.reduceat(padded, starts)
    # `reduceat` gives the next element for an empty cell, whose sum is 0.
    sums[starts == stops] = 0.0
    return sums


def binary(epsilon: Fraction) -> Atoms:
    """Make the pair of binary randomized response: it dominates every ε-DP event.

    Its trade-off function is the pointwise least one that ε-DP allows,
    max(0, 1 − e^ε α, e^−ε (1 − α)) (Kairouz, Oh, Viswanath 2015).

    >>> from discreet.privacy.loss.atoms import binary
    >>> from fractions import Fraction
    >>> round(binary(Fraction(1)).delta(0.5), 12)
    0.287649136645
    """
    return box(epsilon, Fraction(0))


def box(epsilon: Fraction, delta: Fraction) -> Atoms:
    """Make the pair that dominates every (ε, δ)-DP event (Kairouz, Oh, Viswanath 2015).

    It has mass δ at +∞ and randomized response on the mass 1 − δ.

    Law: tests/privacy/test_pair.py::TestAtoms
    """
    float_epsilon = float(epsilon)
    kept = 1 - float(delta)
    if epsilon == 0:
        # One loss, 0: every pitch is a lattice of it, and 1 is one.
        unit = Lattice(Fraction(1), Fraction(0))
        p = np.array([kept])
        return Atoms(np.zeros(1), p, delta, epsilon, unit)
    odds = math.exp(-float_epsilon)
    truth = 1 / (1 + odds)
    p = kept * np.array([truth * odds, truth])
    losses = np.array([-float_epsilon, float_epsilon])
    lattice = Lattice(2 * epsilon, -epsilon)
    return Atoms(losses, p, delta, epsilon, lattice)


def response(epsilon: Fraction, options: int) -> Atoms:
    """Make the exact pair of k-ary randomized response.

    Its losses are ±ε where one of the two inputs is answered, and 0 where neither is.
    """
    others = options - 2
    if others == 0:
        return binary(epsilon)
    float_epsilon = float(epsilon)
    odds = math.exp(-float_epsilon)
    total = 1 + (others + 1) * odds
    p = np.array([odds, others * odds, 1.0]) / total
    losses = np.array([-float_epsilon, 0.0, float_epsilon])
    lattice = Lattice(epsilon, Fraction(0))
    return Atoms(losses, p, Fraction(0), epsilon, lattice)
