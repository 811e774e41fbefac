"""Independent slow laws for selection, and the one statistical test that these test files use."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
from scipy.special import rel_entr

ALARM = 1e-9
"""The chance that `assert_agrees` rejects a sampler that is right."""


def assert_agrees(counts, law):
    """Check counts of independent draws against a law: Chernoff per outcome, union over all, false alarm ≤ 1e-9.

    A share x or more of n draws has probability at most e^(−n·KL(x‖p)) where p < x is due, and so below.
    """
    found, law = np.asarray(counts, dtype=float) / np.sum(counts), np.asarray(law, dtype=float)
    apart = np.sum(counts) * (rel_entr(found, law) + rel_entr(1 - found, 1 - law))
    assert apart.max() <= math.log(2 * law.size / ALARM), (found, law, apart)


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
    return max(
        np.abs(base - np.log(law(n))).max()
        for n in neighbours(scores, sensitivity, monotone=monotone)
    )


def worst_range(law, scores, sensitivity, *, monotone=False):
    """The greatest move of the log-odds of two outcomes."""
    base = np.log(law(scores))
    moves = [base - np.log(law(n)) for n in neighbours(scores, sensitivity, monotone=monotone)]
    return max(m.max() - m.min() for m in moves)
