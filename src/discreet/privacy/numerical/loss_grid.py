"""Discretisation of one pair: P-masses at equally spaced losses that dominate the pair.

Connect-the-dots (Doroshenko et al. 2022): the privacy curve is replaced by its chords between
grid points. Here it is done on the masses, cell by cell.

Law: tests/privacy/test_pld.py::TestParts
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...frozen import frozen
from ..loss.atoms import Atoms
from ..loss.loss_masses import EPS, Array, LossCells, LossPair

_MAX_LATTICES = 64
"""Lattices looked at for a common one: it bounds the work."""


@frozen(eq=False)
class LossGrid:
    """P-masses at the losses offset + step·(start + j), and bounds on everything given up.

    | field | bound |
    |---|---|
    | `top` | P-mass at an infinite loss |
    | `error` | of |ln(kept/true)| for the masses, and of |kept − true| for the losses |
    | `leak` | part of every mass put one step too high on purpose |
    | `low` | P-mass lifted from below the grid |
    | `spread` | True if masses were split between grid points at all |
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
        stop = self.start + len(self.mass)
        return self.offset + self.step * float_range(self.start, stop)


def float_range(start: int, stop: int) -> Array:
    """Return the whole numbers from start to stop − 1 as floats."""
    return np.arange(start, stop, dtype=np.float64)


def align_lattice(pair: Atoms, step: Fraction) -> LossGrid:
    """Place a pair whose losses lie on a lattice that the grid refines: no mass is split."""
    if pair.lattice is None:
        raise AssertionError("only a pair with a lattice can be aligned")
    offset = float(pair.lattice.offset)
    float_step = float(step)
    # The nearest grid point is the exact one: a float loss is off by far less than half a step.
    steps = (pair.losses - offset) / float_step
    index = np.rint(steps).astype(np.int64)
    start = int(index[0])
    sums = np.bincount(index - start, weights=pair.p)
    mass = sums.astype(np.float64)
    # Offset, step and their product are rounded, each relative to the largest loss.
    far = float(np.abs(pair.losses).max())
    error = pair.error + 32 * EPS * (1 + far)
    return LossGrid(float_step, start, mass, offset, pair.certain, error, 0.0, 0.0, spread=False)


def connect_dots(pair: LossPair, step: float, tail: float) -> LossGrid:
    """Discretise a pair: connect the dots of its curve at the grid points, in mass space.

    Each cell's (P, Q) mass is split between its two ends so that both masses are kept.

    Guarantee: the grid dominates the pair. A law on an interval of likelihood ratios is dominated
    by the law on the two ends with the same mean (Jensen). Mass below the grid moves up to its
    first point, mass above it to an infinite loss. Rounding may not move a mean down, so the
    upper end gets `leak` more.

    Law: tests/privacy/test_pld.py::TestParts

    >>> import numpy as np
    >>> from discreet.privacy.numerical.loss_grid import connect_dots
    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> grid = connect_dots(Gauss(1.0), 0.1, 1e-12)
    >>> round(float(grid.mass.sum()), 9), round(float(grid.mass @ np.exp(-grid.losses)), 9)
    (1.0, 1.0)
    """
    lowest, highest = pair.span(tail)
    # One point more on each side, so that rounding of the span cuts off nothing.
    start = math.floor(lowest / step) - 1
    stop = math.ceil(highest / step) + 1
    # Two cells at least, also where all losses are equal.
    stop = max(stop, start + 3)
    edges = step * float_range(start, stop + 1)
    cells = pair.cells(edges)
    ends = edges[[0, -1]]
    far = float(np.abs(ends).max())
    # Errors of p, q and the edges move the computed split by at most this much, divided by the
    # width of a cell in likelihood ratios. Adding it moves mass up: the safe direction.
    edge_error = EPS * (1 + far)
    ratio_error = cells.error + 4 * edge_error
    cell_width = -math.expm1(-step)
    leak = min(1.0, 4 * ratio_error / cell_width)
    upper = _upper_part(cells, edges, step, leak)
    inner = cells.p[1:-1]
    mass = np.zeros(len(edges))
    mass[:-1] += inner * (1 - upper)
    mass[1:] += inner * upper
    # Losses below the grid rise to its first point, finite ones above it to infinity.
    mass[0] += cells.p[0]
    above = float(cells.p[-1])
    top = (cells.top + above) * (1 + cells.error)
    error = cells.error + 32 * edge_error
    low = float(cells.p[0])
    return LossGrid(step, start, mass, 0.0, top, error, leak, low, spread=True)


def _upper_part(cells: LossCells, edges: Array, step: float, leak: float) -> Array:
    """Return the part of each cell's P-mass for its upper end, and `leak` more.

    Keeping P and Q gives (1 − e^low·q/p)/(1 − e^−step), where low is the cell's lower edge.
    """
    p = cells.p[1:-1]
    q = cells.q[1:-1]
    both = (p > 0) & (q > 0)
    ratio = np.zeros(len(p))
    np.divide(q, p, out=ratio, where=both)
    # In logarithms, as e^low may overflow. Above 0 is a rounding error: no loss is below the cell.
    logs = np.zeros(len(p))
    np.log(ratio, where=both, out=logs)
    lowered = np.exp(np.minimum(0.0, logs + edges[:-1]))
    # Where q or p is 0 the whole mass goes up: its loss may be as large as the cell allows.
    lowered = np.where(both, lowered, 0.0)
    cell_width = -math.expm1(-step)
    part: Array = (1 - lowered) / cell_width
    return np.clip(part + leak, 0.0, 1.0)


def fits_pitch(pair: LossPair, pitch: Fraction | None) -> bool:
    """Return whether the losses of a pair lie on a lattice of this pitch."""
    if pitch is None or pair.lattice is None:
        return False
    return (pair.lattice.pitch / pitch).denominator == 1


def common_pitch(groups: tuple[tuple[LossPair, int], ...], step: float) -> Fraction | None:
    """Return the coarsest lattice that serves most pairs, not much finer than `step`.

    Pairs that happen often are served first.
    """
    pitches = []
    for pair, times in groups:
        if pair.lattice is not None:
            pitches.append((times, pair.lattice.pitch))
    pitches.sort(reverse=True)
    common: Fraction | None = None
    for _, pitch in pitches[:_MAX_LATTICES]:
        refined = pitch if common is None else _gcd(common, pitch)
        # Half of the asked step costs twice the points; a finer lattice is not worth it.
        if refined >= step / 2:
            common = refined
    return common


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    # Both over one denominator: the greatest common divisor of the numerators is left.
    denominator = a.denominator * b.denominator
    first = a.numerator * b.denominator
    second = b.numerator * a.denominator
    return Fraction(math.gcd(first, second), denominator)
