"""Dominating pair of shuffled answers to a yes/no question: the worst over all the others' answers.

A shuffler leaves the number of "yes". Let t of the n − 1 others hold "yes". Their number is
S_t = Bin(t, p) + Bin(n−1−t, 1−p), and the person adds Bern(p) or Bern(1 − p). S_t is log-concave,
so the likelihood ratio rises with the number, and δ(ε) is the largest difference of two tails.

All t count. For a run t₁ ≤ t ≤ t₂ the adversary is told the answers of the t₂ − t₁ people in whom
its members differ: Bin(t₁, p) + Bin(n − 1 − t₂, 1 − p) are left, for every t of the run. Flipping
"yes" and "no" turns t into n − 1 − t and one direction into the other. So half of the runs suffice,
each in both directions.

Law: tests/local/test_shuffle.py::TestNeverBelowTheTruth
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...arithmetic.rounding import up
from ..loss.atoms import Atoms
from ..loss.curve import from_points, mirrored
from ..loss.loss_masses import Array
from .counters import tail_sums, window

MAX_PEOPLE = 10**6
"""People beyond which more are not counted: it bounds the work, and fewer is the safe side."""
_RUNS = 50
"""Runs of t that are priced."""
_POINTS = 600
"""Points of the curve that are joined."""
_CUT = 1e-32
"""Bound on the mass outside of the binomial windows."""


def yes_no_pair(epsilon: Fraction, n: int) -> Atoms:
    """Return a pair that dominates the shuffled answers of n people, in both directions.

    Law: tests/local/test_shuffle.py::TestNeverBelowTheTruth

    >>> from discreet.privacy.shuffling.yes_no import yes_no_pair
    >>> from fractions import Fraction
    >>> round(yes_no_pair(Fraction(1), 100).delta(0.5), 3) < 0.01
    True
    """
    laws = _laws(epsilon, n)
    farthest = max(_largest_loss(p, q) for p, q in laws)
    grid = np.linspace(0.0, min(float(epsilon), farthest), _POINTS)
    deltas = _worst_curve(laws, grid, n)
    points = zip(grid.tolist(), deltas.tolist(), strict=True)
    # No loss of the answers is above ε, whatever the shuffler does.
    return from_points([*mirrored(points), (epsilon, Fraction(0))])


def yes_no_delta(epsilon: Fraction, n: int, at: float) -> float:
    """Return an upper bound on H(at) of the shuffled answers.

    The pair's own curve is a chord above such points.
    """
    if at >= epsilon:
        return 0.0
    laws = _laws(epsilon, n)
    deltas = _worst_curve(laws, np.array([at]), n)
    return float(deltas[0])


def _laws(epsilon: Fraction, n: int) -> list[tuple[Array, Array]]:
    """List pairs (P, Q): the laws of the number of "yes" under both values of the person.

    There are two pairs for each run of t (the number of others who hold "yes"), one for each
    direction.
    """
    others = min(n, MAX_PEOPLE) - 1
    # e^ε rounds up: answers that are easier to tell apart dominate.
    growth = up(math.exp(float(epsilon)), 2.0**-48)
    even = np.linspace(0, others // 2 + 1, _RUNS + 1)
    edges = np.unique(even.astype(np.int64)).tolist()
    forward = []
    backward = []
    for first, end in pairwise(edges):
        last = end - 1
        p, q = _answers(first, others - last, growth)
        forward.append((p, q))
        swapped = (q[::-1], p[::-1])
        backward.append(swapped)
    return forward + backward


def _worst_curve(laws: list[tuple[Array, Array]], grid: Array, n: int) -> Array:
    """Bound the largest of the privacy curves of these pairs of laws, on a grid of ε."""
    # Relative error of a chance: p is right to 2^-52, so Bin(n, p) to about 2n·2^-52; two laws
    # are convolved and one is mixed, hence three times.
    people = min(n, MAX_PEOPLE)
    units = 8 * people + 4096
    error = 3 * units * 2.0**-52
    curves = [_curve(p, q, grid, error) for p, q in laws]
    worst = np.max(curves, axis=0)
    # Mass outside of the windows counts in full.
    return np.asarray(np.minimum(worst + _CUT, 1.0))


def _largest_loss(p: Array, q: Array) -> float:
    """Return the loss beyond which next to nothing of P lies.

    The ends of a window have losses of their own that mean nothing.
    """
    relevant = np.flatnonzero(tail_sums(p) > _CUT)
    last = int(relevant[-1])
    return float(np.log(p[last] / q[last]))


def _answers(yes: int, no: int, growth: float) -> tuple[Array, Array]:
    """Return the laws of the number of "yes" with the person's own, for the person's two values."""
    p = growth / (1 + growth)
    q = 1 / (1 + growth)
    _, from_yes = window(yes, p)
    _, from_no = window(no, q)
    others = np.convolve(from_yes, from_no)
    hit = np.append(0.0, others)
    miss = np.append(others, 0.0)
    own_yes = p * hit + q * miss
    own_no = q * hit + p * miss
    return own_yes, own_no


def _curve(p: Array, q: Array, grid: Array, error: float) -> Array:
    """Bound max_k P[≥ k] − e^ε Q[≥ k] on a grid of ε.

    The largest is at the first k with a loss above ε, or beside it.
    """
    # The losses rise; a rounding error may not make them fall.
    losses = np.maximum.accumulate(np.log(p / q))
    first = np.searchsorted(losses, grid, side="right")
    beside = first[:, None] + np.arange(-1, 2)
    near = np.clip(beside, 0, p.size)
    # P rounds up and Q rounds down: the difference is an upper bound.
    most = tail_sums(p)[near] * (1 + error)
    growth = np.exp(grid)[:, None]
    least = growth * tail_sums(q)[near] * (1 - error)
    gaps = most - least
    return np.asarray(np.maximum(gaps.max(axis=1), 0.0))
