"""One pair on a loss grid: P-masses at equally spaced losses, so placed that they dominate the pair."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...frozen import frozen
from ..pairs.atoms import Atoms
from ..pairs.loss_masses import Array, LossCells, LossPair

EPS = 2.0**-52


@frozen(eq=False)
class LossGrid:
    """P-masses at the losses offset + step·(start + j), and what was given up on the way.

    `top` is the P-mass at an infinite loss; `error` bounds |ln| of the ratio of masses kept to true masses, and of
    losses kept to true losses; `leak` is the part of every mass put one step too high on purpose, `low` the P-mass
    lifted from below the grid; `spread` tells whether masses were split between grid points at all.
    """

    step: float
    start: int
    mass: Array
    offset: float
    top: float
    error: float
    leak: float
    low: float
    spread: bool

    @property
    def losses(self) -> Array:
        """The losses of the masses."""
        return self.offset + self.step * np.arange(
            self.start, self.start + len(self.mass), dtype=np.float64
        )


def aligned(pair: Atoms, step: Fraction) -> LossGrid:
    """Place a pair whose losses are on a lattice that the grid refines: nothing is split or rounded."""
    if pair.lattice is None:
        raise AssertionError("only a pair with a lattice can be aligned")
    offset, h = float(pair.lattice.offset), float(step)
    at = np.rint((pair.losses - offset) / h).astype(np.int64)
    start = int(at[0])
    mass = np.bincount(at - start, weights=pair.p).astype(np.float64)
    error = pair.error + 32 * EPS * (1 + float(np.abs(pair.losses).max()))
    return LossGrid(h, start, mass, offset, pair.certain, error, 0.0, 0.0, spread=False)


def dots(pair: LossPair, step: float, tail: float) -> LossGrid:
    """Connect the dots of a pair's curve at the grid points, in mass space.

    Each cell's (P, Q) mass is split between its two ends so that both are kept; a law on an interval of likelihood
    ratios is dominated by its two ends with the same mean (Jensen). Mass below the grid moves up to its first point,
    mass above to infinity. Rounding may not move a mean down, so the upper end gets `leak` more.

    >>> import numpy as np
    >>> from discreet.privacy.numerical.loss_grid import dots
    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> comb = dots(Gauss(1.0), 0.1, 1e-12)
    >>> round(float(comb.mass.sum()), 9), round(float(comb.mass @ np.exp(-comb.losses)), 9)
    (1.0, 1.0)
    """
    low, high = pair.span(tail)
    start = math.floor(low / step) - 1
    stop = max(math.ceil(high / step) + 1, start + 3)
    edges = step * np.arange(start, stop + 1, dtype=np.float64)
    cells = pair.cells(edges)
    far = float(np.abs(edges[[0, -1]]).max())
    leak = min(1.0, 4 * (cells.error + 4 * EPS * (1 + far)) / -math.expm1(-step))
    upper = _upper_share(cells, edges, step, leak)
    inner = cells.p[1:-1]
    mass = np.zeros(len(edges))
    mass[:-1] += inner * (1 - upper)
    mass[1:] += inner * upper
    mass[0] += cells.p[0]
    top = (cells.top + float(cells.p[-1])) * (1 + cells.error)
    error = cells.error + 32 * EPS * (1 + far)
    return LossGrid(step, start, mass, 0.0, top, error, leak, float(cells.p[0]), spread=True)


def _upper_share(cells: LossCells, edges: Array, step: float, leak: float) -> Array:
    """Return the part of each cell's P-mass that goes to its upper end: (1 − e^low q/p)/(1 −
    e^−step), a little more.
    """
    p, q = cells.p[1:-1], cells.q[1:-1]
    some = (p > 0) & (q > 0)
    ratio = np.zeros(len(p))
    np.divide(q, p, out=ratio, where=some)
    lowered = np.exp(np.minimum(0.0, np.log(ratio, where=some, out=np.zeros(len(p))) + edges[:-1]))
    share: Array = (1 - np.where(some, lowered, 0.0)) / -math.expm1(-step)
    return np.clip(share + leak, 0.0, 1.0)


def fits_pitch(pair: LossPair, pitch: Fraction | None) -> bool:
    """Return whether the losses of a pair lie on a lattice of this pitch."""
    return (
        pitch is not None
        and pair.lattice is not None
        and (pair.lattice.pitch / pitch).denominator == 1
    )


def common_pitch(groups: tuple[tuple[LossPair, int], ...], step: float) -> Fraction | None:
    """Return the coarsest lattice that serves as many pairs as it can without being much finer than is needed."""
    with_lattice = [(k, pair.lattice.pitch) for pair, k in groups if pair.lattice is not None]
    common: Fraction | None = None
    for _, pitch in sorted(with_lattice, reverse=True)[:64]:
        both = pitch if common is None else _gcd(common, pitch)
        if both >= step / 2:
            common = both
    return common


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    d = a.denominator * b.denominator
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), d)
