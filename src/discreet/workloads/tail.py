"""How far a weighted sum of released noise strays: half the width of an interval that never flatters.

With X geometric or discrete Gaussian noise and U uniform on ±1/2, X + U has a falling density, and the sum with each
replaced by a continuous law that is further from 0 is further from 0 (Birnbaum 1948): Laplace of scale
1/(2 tanh(1/2b)), or normal of variance σ² + 1/4. What the U add is at most Σ|c|/2, and by Hoeffding at most 3√Σc² but
for a chance of 4e-8, which is taken off β. Tails of sums of Laplace laws come from their characteristic function on a
circle; beyond what that resolves, and where only a variance and a largest scale are known, Chernoff's bound is taken.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..mechanisms.laws.normal import quantile
from .components import Floats

__all__ = ["SumLaw", "laplace_reach", "loose_reach", "normal_reach"]

_WRAP = 60.0
_TERMS = np.arange(1.0, 385.0)
_LUCK = 4e-8
_CLOSE = 1e-9
_HALVINGS = 40
_RATIO = 1.06
_BINS = 64


@dataclass(frozen=True, slots=True)
class SumLaw:
    """How far off one sum is: normal, of deviation `scale`; or of terms (weight, how many) of geometric noise.

    Weights are put into bins, each as large as the largest in it: what is further from 0 bounds what is nearer. `loose`
    means that only the deviation of the sum, `scale`, and the largest scale, the one weight, are known.

    >>> from discreet.workloads.tail import SumLaw
    >>> round(SumLaw(10.0).reach(0.05), 1), round(SumLaw(1e6, ((1e-6, 1.0),)).reach(0.05), 2)
    (19.6, 3.0)
    """

    scale: float
    terms: tuple[tuple[float, float], ...] = ()
    loose: bool = False

    @classmethod
    def of(cls, weights: Floats, counts: Floats, scale: float) -> SumLaw:
        """Return the law of Σ weight·X for geometric noise X of one scale, its terms in few bins."""
        felt = np.abs(weights) > 0
        sizes, counts = np.abs(weights[felt]), counts[felt]
        place = np.floor((math.log(sizes.max()) - np.log(sizes)) / math.log(_RATIO))
        place = np.clip(place, 0, _BINS - 1).astype(np.int64)
        total = np.bincount(place, weights=counts)
        most = np.zeros(len(total))
        np.maximum.at(most, place, sizes)
        return cls(scale, tuple((float(w), float(n)) for w, n in zip(most, total, strict=True) if n))

    def reach(self, beta: float) -> float:
        """Bound the error with probability at least 1 − β."""
        return _reach(self, beta)


@lru_cache(maxsize=4096)
def _reach(law: SumLaw, beta: float) -> float:
    """Bound the error once for all cells of one law."""
    if not law.terms:
        return float(normal_reach(law.scale, beta))
    weights, counts = np.array(law.terms).T
    if law.loose:
        return float(loose_reach(np.array(law.scale**2), float(weights[0]), beta))
    return float(laplace_reach(weights[None, :], counts, law.scale, beta)[0])


def _slack(weights: Floats, counts: Floats) -> Floats:
    """Return by how much the lattice itself may move each sum, in its own unit."""
    return np.asarray(np.minimum(np.abs(weights) @ counts / 2, 3 * np.sqrt(weights**2 @ counts)))


def normal_reach(deviation: Floats | float, beta: float) -> Floats:
    """Bound a sum of discrete Gaussian noise of at least 2^13 steps each: its lattice adds 3·2^-13 of a deviation."""
    return np.asarray(deviation) * (quantile(beta - _LUCK) * (1 + _CLOSE) + 3 / 2**13)


def laplace_reach(weights: Floats, counts: Floats, scale: Floats | float, beta: float) -> Floats:
    """Bound |Σ c·X| with probability at least 1 − β for geometric noise; a row of weights for each sum.

    `counts` says how many terms each column of weights stands for, `scale` which noise they have.

    >>> import numpy as np
    >>> from discreet.workloads.tail import laplace_reach
    >>> found = laplace_reach(np.array([[1.0], [0.5]]), np.array([1.0]), 1e6, 0.05)
    >>> (found / 1e6).round(3).tolist()
    [2.996, 1.498]
    """
    wide = 1 / (2 * np.tanh(0.5 / np.asarray(scale)))
    spread = np.sqrt(2 * (weights * wide) ** 2 @ counts)
    scales = np.abs(weights) * wide / np.maximum(spread, 1e-300)[:, None]
    sums = _Sums(_digest(scales, counts), scales, counts)
    return np.asarray(_quantile(sums, beta - _LUCK) * spread + _slack(weights, counts))


@dataclass(frozen=True, slots=True)
class _Sums:
    """Scales of the terms of many sums, known by their digest."""

    digest: bytes
    scales: Floats = field(compare=False)
    counts: Floats = field(compare=False)


def _digest(*parts: Floats) -> bytes:
    whole = hashlib.blake2b(digest_size=32)
    for part in parts:
        whole.update(repr(part.shape).encode())
        whole.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
    return whole.digest()


@lru_cache(maxsize=4)
def _quantile(sums: _Sums, beta: float) -> Floats:
    """Return z with P(|S| > z) ≤ β for sums of Laplace laws of these scales, each of variance 1.

    Of a thousand sums of a thousand terms that takes seconds, and a plan is compared, shown and run: the last are kept.
    """
    scales, counts = sums.scales, sums.counts
    step = 2 * math.pi / _WRAP
    logs = np.stack([np.log1p(scales**2 * (step * k) ** 2) @ counts for k in _TERMS], axis=1)
    parts = np.exp(-logs)
    low, high = np.zeros(len(scales)), _chernoff(scales, counts, beta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        angle = step * middle
        inside = angle / math.pi + 2 / math.pi * ((np.sin(angle[:, None] * _TERMS) / _TERMS) * parts).sum(axis=1)
        rest = 2 / math.pi * parts[:, -1] / len(_TERMS) / np.sin(np.minimum(angle, 1.5) / 2)
        kept = (1 - inside + rest + _CLOSE <= beta) & (middle < _WRAP / 3)
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return np.asarray(high)


def _chernoff(scales: Floats, counts: Floats, beta: float) -> Floats:
    """Return z with 2·e^(−λz)·E e^(λS) ≤ β at the best of some λ."""
    most = scales.max(axis=1)
    found = np.full(len(scales), math.inf)
    for rate in np.linspace(0.02, 0.98, 49):
        pull = rate / most
        logs = -np.log1p(-((pull[:, None] * scales) ** 2)) @ counts
        found = np.minimum(found, (logs + math.log(2 / beta)) / pull)
    return found


def loose_reach(variance: Floats, largest: float, beta: float) -> Floats:
    """Bound a sum of Laplace laws of which only the variance and the largest scale are known: Chernoff's worst case.

    Σ −ln(1 − λ²b²) is convex in the b², so at a given Σ 2b² it is largest with all of them as large as they may be.
    """
    found = np.full(np.shape(variance), math.inf)
    for rate in np.linspace(0.02, 0.98, 49):
        logs = -np.log1p(-(rate**2)) * variance / (2 * largest**2)
        found = np.minimum(found, (logs + math.log(2 / beta)) * largest / rate)
    return np.asarray(found)
