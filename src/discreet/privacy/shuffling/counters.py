"""Pairs of two counters with a hidden one: all that a shuffler leaves of one person's report.

c reports are evenly split between two counters a + b = c. One of them, the person's own, leans to
its side:

    P(a) = Bin(c, ½)(a) · (1 + z),  Q(a) = P(c − a),  z = s·(2a − c)/c,  loss = 2·artanh z.    (1)

With s = (e^ε − 1)/(e^ε + 1) the person is surely among the c. With s = r times that, the person is
among them only with probability r, and else all c reports are even. Both a larger s and a smaller
c dominate: taking part less often, and one more even report, are post-processing. An upper
bound may replace a run of c and s by its worst corner, a lower bound by its best one.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Integers
from ...frozen import frozen
from ..loss.atoms import Atoms
from ..loss.loss_masses import Array

DEPTH = 80
"""Depth d of the cut: the chance of everything cut off a binomial law is at most 2·e^−d."""
_SMALL = 25.0
"""A case whose chance is below this many times e^−d is counted as lost, not computed."""
_FINE = 2048
"""Grid steps in a standard deviation of the loss."""


@frozen(eq=False)
class Counters:
    """Cases of (1) with their chances and slopes s: a column for each total c, rows for all else.

    `even` is the chance of no loss. `lost` bounds the chance of all cases left out, `error` the
    relative error of the chances. `depth` says how rare a case is that is cut off.
    """

    totals: Integers
    chances: Array
    slopes: Array
    even: float
    lost: float
    error: float
    depth: int = DEPTH


def cut_mass(depth: int) -> float:
    """Return 2·e^−depth, rounded up: the mass that a window may cut off.

    >>> from discreet.privacy.shuffling.counters import cut_mass
    >>> 3.6e-35 < cut_mass(80) < 3.7e-35
    True
    """
    return 2 * math.exp(-depth) * (1 + 2.0**-40)


def window(n: int, p: float, depth: int = DEPTH) -> tuple[int, Array]:
    """Return the first value of Bin(n, p) that matters, and the chances from there on.

    Bernstein: P[|X − np| ≥ r] ≤ 2·exp(−r²/(2(σ² + r/3))), here at most 2·e^−depth. The chances follow
    from each other by (n − k)/(k + 1)·p/(1 − p), and are scaled to sum to 1.

    >>> from discreet.privacy.shuffling.counters import window
    >>> first, chances = window(4, 0.5)
    >>> first, chances.tolist()
    (0, [0.0625, 0.25, 0.375, 0.25, 0.0625])
    """
    if n == 0 or p <= 0 or p >= 1:
        certain = n if p >= 1 else 0
        return certain, np.ones(1)
    # Bernstein's inequality solved for r; the window rounds outward.
    variance = n * p * (1 - p)
    mean = n * p
    square = depth**2 / 9 + 2 * depth * variance
    reach = depth / 3 + math.sqrt(square)
    low = max(0, math.floor(mean - reach))
    high = min(n, math.ceil(mean + reach))
    # From the mode outward every factor is at most 1: nothing overflows.
    mode = int((n + 1) * p)
    mode = min(max(mode, low), high)
    above = np.arange(mode, high, dtype=np.float64)
    below = np.arange(mode, low, -1, dtype=np.float64)
    odds = p / (1 - p)
    rises = (n - above) / (above + 1) * odds
    falls = below / ((n - below + 1) * odds)
    left = np.cumprod(falls)[::-1]
    raw = np.concatenate((left, [1.0], np.cumprod(rises)))
    return low, np.asarray(raw / raw.sum())


def runs(first: int, last: int, fine: float) -> Integers:
    """Return the beginnings of runs of whole numbers from first to last.

    A run that begins at b has at most b·`fine` numbers, but at least one.

    >>> from discreet.privacy.shuffling.counters import runs
    >>> runs(1, 7, 0.5).tolist()
    [1, 2, 3, 4, 6]
    """
    start = first
    starts = [start]
    while True:
        start += max(1, math.floor(fine * start))
        if start > last:
            return np.array(starts, dtype=np.int64)
        starts.append(start)


def counters_pair(cases: Counters, *, upward: bool) -> Atoms:
    """Put the losses of all cases on one grid, rounded up (dominating) or down (dominated).

    Guarantee: with losses moved up and chances kept the pair dominates; with losses moved down it
    is dominated. Lost cases count as an infinite loss upward, and not at all downward.

    Law: tests/local/test_shuffle.py::TestNeverBelowTheTruth
    """
    kept = cases.chances >= _SMALL * math.exp(-cases.depth)
    step = _step(cases)
    # A slope of 1 has an infinite loss; the last float below 1 has one of 37.
    steepest = float(cases.slopes.max(initial=0.0))
    steepest = min(steepest, 1 - 2.0**-52)
    largest_loss = 2 * math.atanh(steepest)
    middle = math.ceil(largest_loss / step) + 2
    mass = np.zeros(2 * middle + 1)
    for column, total in enumerate(cases.totals.tolist()):
        rows = kept[:, column]
        if rows.any():
            chances = cases.chances[rows, column]
            slopes = cases.slopes[rows, column]
            _add(mass, (total, cases.depth), chances, slopes, step, upward=upward)
    mass[middle] += cases.even
    occupied = np.flatnonzero(mass)
    losses = np.asarray((occupied - middle) * step, dtype=np.float64)
    if upward:
        # Cases lost, too rare to compute or cut off; 1e-9 covers the rounding of their sum.
        too_rare = float(cases.chances[~kept].sum())
        lost = cases.lost + too_rare + cut_mass(cases.depth)
        top = Fraction(lost * (1 + 1e-9))
        factor = 1 + cases.error
    else:
        top = Fraction(0)
        factor = 1 - cases.error
    masses = mass[occupied] * factor
    limit = Fraction(float(losses[-1]))
    return Atoms(losses, masses, top, limit, error=cases.error)


def counters_delta(cases: Counters, epsilon: float) -> float:
    """Return H(ε) of the cases in closed form, without a margin.

    `counters_pair` comes close to it from above. For one case it is E[(1 + z − e^ε(1 − z))₊] over
    a ~ Bin(c, ½): two tails, from where z passes tanh(ε/2).
    """
    passed = math.tanh(epsilon / 2)
    growth = math.exp(epsilon)
    delta = 0.0
    for column, total in enumerate(cases.totals.tolist()):
        lean, split = _even_split(total, cases.depth)
        slopes = np.maximum(cases.slopes[:, column], 1e-300)
        first = np.searchsorted(lean, passed / slopes, side="right")
        over = tail_sums(split)[first]
        leaning = tail_sums(split * lean)[first]
        even_gain = (1 - growth) * over
        gains = even_gain + (1 + growth) * slopes * leaning
        delta += float(cases.chances[:, column] @ gains)
    return delta + cases.lost


def _even_split(total: int, depth: int) -> tuple[Array, Array]:
    """Return the leans (2a − c)/c of an even split, and their chances."""
    low, split = window(total, 0.5, depth)
    a = low + np.arange(split.size)
    lean = (2 * a - total) / max(total, 1)
    return lean, split


def tail_sums(values: Array) -> Array:
    """Return the sums from each entry to the last, and 0 after it."""
    reversed_sums = np.cumsum(values[::-1])
    return np.append(reversed_sums[::-1], 0.0)


def _step(cases: Counters) -> float:
    """Return a power of two far below the typical loss 2s/√c, so that multiples of it are exact."""
    root = np.sqrt(np.maximum(cases.totals, 1))
    losses = 2 * cases.slopes / root
    typical = max(float(losses.max(initial=0.0)), 1e-12)
    exponent = math.floor(math.log2(typical / _FINE))
    return 2.0**exponent


def _add(
    mass: Array,
    split_of: tuple[int, int],
    chances: Array,
    slopes: Array,
    step: float,
    *,
    upward: bool,
) -> None:
    """Add the law (1) of each slope to the grid, at one total split to one depth."""
    lean, split = _even_split(*split_of)
    z = slopes[:, None] * lean[None, :]
    largest = 1 - 2.0**-53
    # These arrays are large: unnamed steps and `*=` let NumPy reuse their memory.
    loss = 2 * np.arctanh(np.clip(z, -largest, largest)) / step
    # A millionth of a step is far above the error of a loss; a loss of 0 is exact.
    margin = 1e-6 * (loss != 0)
    rounded = np.ceil(loss + margin) if upward else np.floor(loss - margin)
    weight = chances[:, None] * split[None, :]
    weight *= 1 + z
    middle = mass.size // 2
    index = rounded.astype(np.int64) + middle
    index = np.clip(index, 0, mass.size - 1).ravel()
    mass += np.bincount(index, weights=weight.ravel(), minlength=mass.size)
