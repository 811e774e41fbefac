"""The pair of shuffled answers to a yes/no question: the worst over everything the others may answer.

A shuffler leaves the number of "yes". If t of the n − 1 others hold "yes", it is S_t = Bin(t, p) + Bin(n−1−t, 1−p)
plus the person's own Bern(p) or Bern(1 − p). S_t is log-concave, so the likelihood ratio rises with the number, and
δ(ε) is the largest difference of two tails. All t count. A run t₁ ≤ t ≤ t₂ is stood for by telling the adversary the
answers of the t₂ − t₁ people in whom its members differ: Bin(t₁, p) + Bin(n − 1 − t₂, 1 − p) are left, whatever t is.
Flipping "yes" and "no" turns t into n − 1 − t and one direction into the other, so half of the runs, both ways, do.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...arithmetic.rounding import up
from .atoms import Atoms
from .counters import window
from .curve import from_points, mirrored
from .loss_masses import Array

MOST = 10**6
"""People beyond which more are not counted: it bounds the work, and fewer is the safe side."""
_RUNS = 50
_POINTS = 600
_CUT = 1e-32  # above what lies outside the windows


def yes_no_pair(epsilon: Fraction, n: int) -> Atoms:
    """Return a pair that dominates the shuffled answers of n people, in both directions.

    >>> from discreet.privacy.pairs.yes_no import yes_no_pair
    >>> from fractions import Fraction
    >>> round(yes_no_pair(Fraction(1), 100).delta(0.5), 3) < 0.01
    True
    """
    laws = _laws(epsilon, n)
    grid = np.linspace(0.0, min(float(epsilon), max(_far(p, q) for p, q in laws)), _POINTS)
    worst = _worst(laws, grid, n).tolist()
    points: list[tuple[Fraction | float, Fraction | float]] = list(
        zip(grid.tolist(), worst, strict=True)
    )
    return from_points([*mirrored(points), (epsilon, Fraction(0))])


def yes_no_delta(epsilon: Fraction, n: int, at: float) -> float:
    """Return H(at) of the shuffled answers, an upper bound: the pair's own is a chord above such points."""
    return float(_worst(_laws(epsilon, n), np.array([at]), n)[0]) if at < epsilon else 0.0


def _laws(epsilon: Fraction, n: int) -> list[tuple[Array, Array]]:
    """List the laws of the number of "yes" under both values of the person, run by run and in both directions."""
    others = min(n, MOST) - 1
    e = up(math.exp(float(epsilon)), 2.0**-48)
    edges = np.unique(np.linspace(0, others // 2 + 1, _RUNS + 1).astype(np.int64))
    laws = [_answers(int(first), others - int(end) + 1, e) for first, end in pairwise(edges)]
    return laws + [(q[::-1], p[::-1]) for p, q in laws]


def _worst(laws: list[tuple[Array, Array]], grid: Array, n: int) -> Array:
    """Bound the largest of their curves on a grid of ε."""
    error = 3 * (8 * min(n, MOST) + 4096) * 2.0**-52  # of a chance, relatively: p is right to 2^-52
    worst = np.max([_curve(p, q, grid, error) for p, q in laws], axis=0)
    return np.asarray(np.minimum(worst + _CUT, 1.0))


def _far(p: Array, q: Array) -> float:
    """Return the loss beyond which next to nothing of P lies; the ends of a window have losses of their own."""
    last = int(np.flatnonzero(np.cumsum(p[::-1])[::-1] > _CUT)[-1])
    return float(np.log(p[last] / q[last]))


def _answers(yes: int, no: int, e: float) -> tuple[Array, Array]:
    """Return the laws of the number of "yes" with the person's own, for the two values of the person."""
    p, q = e / (1 + e), 1 / (1 + e)
    around = np.convolve(window(yes, p)[1], window(no, q)[1])
    hit, miss = np.append(0.0, around), np.append(around, 0.0)
    return p * hit + q * miss, q * hit + p * miss


def _curve(p: Array, q: Array, grid: Array, error: float) -> Array:
    """Bound max_k P[≥ k] − e^ε Q[≥ k] on a grid of ε: at the first k with a loss above ε, or beside it."""
    losses = np.maximum.accumulate(np.log(p / q))
    over = np.append(np.cumsum(p[::-1])[::-1], 0.0)
    under = np.append(np.cumsum(q[::-1])[::-1], 0.0)
    first = np.searchsorted(losses, grid, side="right")
    near = np.clip(first[:, None] + np.arange(-1, 2), 0, p.size)
    gaps = over[near] * (1 + error) - np.exp(grid)[:, None] * under[near] * (1 - error)
    return np.asarray(np.maximum(gaps.max(axis=1), 0.0))
