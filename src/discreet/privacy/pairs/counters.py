"""Two counters with a hidden one: what a shuffler leaves of one person's report.

c reports are evenly split between two counters a + b = c, and one of them, the person's own, leans to its side:

    P(a) = Bin(c, ½)(a) · (1 + z),  Q(a) = P(c − a),  z = s·(2a − c)/c,  loss = 2·artanh z.                    (1)

With s = (e^ε − 1)/(e^ε + 1) the person is surely among the c; with s = r times that, only with probability r, and
else one of c even ones. Both a larger s and a smaller c dominate: taking part less often, and one more even report,
are post-processing. So a run of c and s may be stood for by its worst corner, and by its best one from below.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .atoms import Atoms
from .loss_masses import Array

_LOG = 80.0  # what is cut off a binomial law has a chance of at most 2·e^−80 = 4e-35
_CUT = 4e-35
_SMALL = 1e-33  # a chance below which a case is counted as lost, not computed
_FINE = 2048  # grid steps in a standard deviation of the loss


@frozen(eq=False)
class Counters:
    """Cases (columns: totals c; rows: anything else) with their chances and slopes s; `even` is the chance of no loss.

    `lost` bounds the chance of all that was left out, `error` the relative error of the chances.
    """

    totals: NDArray[np.int64]
    chances: Array
    slopes: Array
    even: float
    lost: float
    error: float


def window(n: int, p: float) -> tuple[int, Array]:
    """Return the first value of Bin(n, p) that matters, and the chances from there on.

    Bernstein: P[|X − np| ≥ r] ≤ 2·exp(−r²/(2(σ² + r/3))), here at most 2·e^−80. The chances follow from each other by
    (n − k)/(k + 1)·p/(1 − p), and are scaled to sum to 1.

    >>> from discreet.privacy.pairs.counters import window
    >>> first, chances = window(4, 0.5)
    >>> first, chances.tolist()
    (0, [0.0625, 0.25, 0.375, 0.25, 0.0625])
    """
    if n == 0 or p <= 0 or p >= 1:
        return (n if p >= 1 else 0), np.ones(1)
    reach = _LOG / 3 + math.sqrt(_LOG**2 / 9 + 2 * _LOG * n * p * (1 - p))
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    mode = min(max(int((n + 1) * p), low), high)
    above, below = (
        np.arange(mode, high, dtype=np.float64),
        np.arange(mode, low, -1, dtype=np.float64),
    )
    odds = p / (1 - p)
    rise = np.cumprod((n - above) / (above + 1) * odds)
    fall = np.cumprod(below / ((n - below + 1) * odds))
    raw = np.concatenate((fall[::-1], [1.0], rise))
    return low, np.asarray(raw / raw.sum())


def runs(first: int, last: int, fine: float) -> NDArray[np.int64]:
    """Return where runs of whole numbers from first to last begin, each at most a share `fine` of its begin long.

    >>> from discreet.privacy.pairs.counters import runs
    >>> runs(1, 7, 0.5).tolist()
    [1, 2, 3, 4, 6]
    """
    starts = [first]
    while (following := starts[-1] + max(1, math.floor(fine * starts[-1]))) <= last:
        starts.append(following)
    return np.array(starts, dtype=np.int64)


def counters_pair(cases: Counters, *, upward: bool) -> Atoms:
    """Put the losses of all cases on one grid, rounded up (dominating) or down (dominated).

    Losses moved up, chances kept: the pair dominates. What is lost counts as an infinite loss, or not at all.
    """
    kept = cases.chances >= _SMALL
    step = _step(cases)
    most = (
        math.ceil(2 * math.atanh(min(float(cases.slopes.max(initial=0.0)), 1 - 2.0**-52)) / step)
        + 2
    )
    mass = np.zeros(2 * most + 1)
    for column, c in enumerate(cases.totals.tolist()):
        rows = kept[:, column]
        if rows.any():
            _add(
                mass,
                c,
                cases.chances[rows, column],
                cases.slopes[rows, column],
                step,
                upward=upward,
            )
    mass[most] += cases.even
    lost = cases.lost + float(cases.chances[~kept].sum()) + _CUT
    found = np.flatnonzero(mass)
    losses = np.asarray((found - most) * step, dtype=np.float64)
    top = Fraction(lost * (1 + 1e-9)) if upward else Fraction(0)
    masses = mass[found] * (1 + cases.error if upward else 1 - cases.error)
    return Atoms(losses, masses, top, Fraction(float(losses[-1])), error=cases.error)


def counters_delta(cases: Counters, epsilon: float) -> float:
    """Return H(ε) of the cases, in closed form and without a margin: what `counters_pair` comes close to from above.

    Of one case, E[(1 + z − e^ε(1 − z))₊] over a ~ Bin(c, ½): two tails, from where z passes tanh(ε/2).
    """
    passed, e, found = math.tanh(epsilon / 2), math.exp(epsilon), 0.0
    for column, c in enumerate(cases.totals.tolist()):
        low, split = window(c, 0.5)
        lean = (2 * (low + np.arange(split.size)) - c) / max(c, 1)
        slopes = np.maximum(cases.slopes[:, column], 1e-300)
        first = np.searchsorted(lean, passed / slopes, side="right")
        over, leaning = (
            np.append(np.cumsum(tail[::-1])[::-1], 0.0)[first] for tail in (split, split * lean)
        )
        found += float(cases.chances[:, column] @ ((1 - e) * over + (1 + e) * slopes * leaning))
    return found + cases.lost


def _step(cases: Counters) -> float:
    """Return a power of two far below the typical loss 2s/√c, so that multiples of it are exact."""
    taken = np.maximum(cases.totals, 1)
    typical = float((2 * cases.slopes / np.sqrt(taken)).max(initial=0.0))
    return 2.0 ** math.floor(math.log2(max(typical, 1e-12) / _FINE))


def _add(mass: Array, c: int, chances: Array, slopes: Array, step: float, *, upward: bool) -> None:
    """Add the law (1) of each slope at one total to the grid."""
    low, split = window(c, 0.5)
    a = low + np.arange(split.size)
    lean = (2 * a - c) / max(c, 1)
    z = slopes[:, None] * lean[None, :]
    loss = 2 * np.arctanh(np.clip(z, -1 + 2.0**-53, 1 - 2.0**-53)) / step
    spare = 1e-6 * (loss != 0)  # far above the error of a loss, which is exact at 0
    place = np.ceil(loss + spare) if upward else np.floor(loss - spare)
    weight = chances[:, None] * split[None, :] * (1 + z)
    middle = mass.size // 2
    at = np.clip(place.astype(np.int64) + middle, 0, mass.size - 1)
    mass += np.bincount(at.ravel(), weights=weight.ravel(), minlength=mass.size)
