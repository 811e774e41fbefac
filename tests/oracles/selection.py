"""Independent slow laws for selection, and the one statistical test that these test files use."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np

ALARM = 1e-9
"""The chance that `assert_agrees` rejects a sampler that is right."""


def assert_agrees(counts, law):
    """Check counts of independent draws against a law: Hoeffding per outcome, union over all, false alarm ≤ 1e-9."""
    counts, law = np.asarray(counts, dtype=float), np.asarray(law, dtype=float)
    n = counts.sum()
    reach = math.sqrt(math.log(2 * counts.size / ALARM) / (2 * n))
    assert np.abs(counts / n - law).max() <= reach, (counts / n, law, reach)


def permute_and_flip(scores, rate):
    """Enumerate all orders and all coins."""
    best = max(scores)
    bias = [mp.e ** (rate * (s - best)) for s in scores]
    law = [mp.mpf(0)] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        missed = mp.mpf(1)
        for i in order:
            law[i] += missed * bias[i] / len(orders)
            missed *= 1 - bias[i]
    return [float(p) for p in law]


def neighbours(scores, sensitivity, *, monotone=False):
    """All score vectors that one person may lead to, at the corners of what is allowed."""
    moves = (0, sensitivity) if monotone else (-sensitivity, 0, sensitivity)
    for move in itertools.product(moves, repeat=len(scores)):
        yield [s + m for s, m in zip(scores, move, strict=True)]


def worst_loss(law, scores, sensitivity, *, monotone=False):
    """The greatest |ln P(o)/P'(o)| over all neighbours and outcomes."""
    base = np.log(law(scores))
    return max(np.abs(base - np.log(law(n))).max() for n in neighbours(scores, sensitivity, monotone=monotone))


def worst_range(law, scores, sensitivity, *, monotone=False):
    """The greatest move of the log-odds of two outcomes."""
    base = np.log(law(scores))
    moves = [base - np.log(law(n)) for n in neighbours(scores, sensitivity, monotone=monotone)]
    return max(m.max() - m.min() for m in moves)
