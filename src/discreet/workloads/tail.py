"""How far a weighted sum of released noise strays: half the width of an interval that never flatters.

With X geometric or discrete Gaussian noise and U uniform on ±1/2, X + U has a falling density, and the sum with each
replaced by a continuous law that is further from 0 is further from 0 (Birnbaum 1948): Laplace of scale
1/(2 tanh(1/2b)), or normal of variance σ² + 1/4. What the U add is at most Σ|c|/2, and by Hoeffding at most 3√Σc² but
for a chance of 4e-8, which is taken off β. Tails of sums of Laplace laws come from their characteristic function on a
circle; beyond what that resolves, and where only a variance and a largest scale are known, Chernoff's bound is taken.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from ..frozen import frozen
from ..mechanisms.laws.normal import quantile
from .budget_shares import Floats

_WRAP = 60.0
_TERMS = np.arange(1.0, 385.0)
_LUCK = 4e-8
_CLOSE = 1e-9
_HALVINGS = 40
_RATIO = 1.06
_BINS = 64
_CHUNK = 256
_AT_ONCE = 1 << 15
_MOST_KNOWN = 8192


@frozen
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
        [most], [total] = binned(weights[None, :], counts)
        return cls(
            scale, tuple((w, n) for w, n in zip(most.tolist(), total.tolist(), strict=True) if n)
        )

    def reach(self, beta: float) -> float:
        """Bound the error with probability at least 1 − β."""
        return reaches([self], beta)[0]


def binned(weights: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return for every row of weights the largest of each of 64 bins of sizes, and how many terms lie in it."""
    sizes = np.abs(weights)
    most = np.maximum(sizes.max(axis=1, initial=0.0), 1e-300)[:, None]
    with np.errstate(divide="ignore"):
        place = np.log(most / sizes) * (1 / math.log(_RATIO))
    place = np.minimum(place, _BINS - 1).astype(np.int64) + np.arange(len(sizes))[:, None] * _BINS
    felt = (sizes > 0) * counts
    total = np.asarray(
        np.bincount(place.ravel(), felt.ravel(), len(sizes) * _BINS), dtype=np.float64
    )
    largest = np.zeros(len(sizes) * _BINS)
    np.maximum.at(largest, place.ravel(), sizes.ravel())
    return largest.reshape(-1, _BINS), total.reshape(-1, _BINS)


_KNOWN: OrderedDict[tuple[SumLaw, float], float] = OrderedDict()


def reaches(laws: Sequence[SumLaw], beta: float) -> list[float]:
    """Bound the errors of many sums, each law once, and all that are new at once; what was found is kept.

    >>> from discreet.workloads.tail import SumLaw, reaches
    >>> [round(found, 1) for found in reaches([SumLaw(10.0), SumLaw(20.0)], 0.05)]
    [19.6, 39.2]
    """
    known = {law: _KNOWN.get((law, beta)) for law in dict.fromkeys(laws)}
    fresh = [law for law, found in known.items() if found is None]
    sums = [law for law in fresh if law.terms and not law.loose]
    for law in fresh:
        if not law.terms:
            known[law] = float(normal_reach(law.scale, beta))
        elif law.loose:
            known[law] = float(loose_reach(np.array(law.scale**2), law.terms[0][0], beta))
    for start in range(0, len(sums), _CHUNK):
        part = sums[start : start + _CHUNK]
        known |= zip(part, _law_reach(part, beta), strict=True)
    found = {law: reach for law, reach in known.items() if reach is not None}
    _KNOWN.update({(law, beta): found[law] for law in fresh})
    while len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.popitem(last=False)
    return [found[law] for law in laws]


def _law_reach(laws: Sequence[SumLaw], beta: float) -> list[float]:
    """Return the reach of laws of terms, side by side."""
    width = max(len(law.terms) for law in laws)
    both = np.zeros((len(laws), width, 2))
    for row, law in zip(both, laws, strict=True):
        row[: len(law.terms)] = law.terms
    found = unit_reach(both[:, :, 0], both[:, :, 1], beta)
    scales = np.array([law.scale for law in laws])
    return [float(reach) for reach in found[0] * wider(scales) + found[1]]


def wider(scale: Floats | float) -> Floats:
    """Return the scale of the Laplace law that is further from 0 than geometric noise with a uniform step added."""
    return np.asarray(1 / (2 * np.tanh(0.5 / np.asarray(scale))))


def unit_reach(weights: Floats, counts: Floats, beta: float) -> tuple[Floats, Floats]:
    """Return what bounds each sum at noise of any one scale: a multiple of it, and what the lattice adds.

    `counts` says how many terms each weight stands for, by column or one for each.
    """
    spread = np.sqrt(2 * _over(weights**2, counts))
    scales = np.abs(weights) / np.maximum(spread, 1e-300)[:, None]
    return np.asarray(_quantile(scales, counts, beta - _LUCK) * spread), _slack(weights, counts)


def _over(values: Floats, counts: Floats) -> Floats:
    """Return the sum of every row, each term as often as it is counted."""
    return np.asarray(values @ counts if counts.ndim == 1 else (values * counts).sum(axis=1))


def _slack(weights: Floats, counts: Floats) -> Floats:
    """Return by how much the lattice itself may move each sum, in its own unit."""
    return np.asarray(
        np.minimum(_over(np.abs(weights), counts) / 2, 3 * np.sqrt(_over(weights**2, counts)))
    )


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
    return np.asarray(unit_reach(weights * wider(scale), counts, beta)[0] + _slack(weights, counts))


def _quantile(scales: Floats, counts: Floats, beta: float) -> Floats:
    """Return z with P(|S| > z) ≤ β for sums of Laplace laws of these scales, each of variance 1."""
    step = 2 * math.pi / _WRAP
    parts = np.exp(-_logs(1.0, scales, step * _TERMS[None, :], counts))
    low, high = np.zeros(len(scales)), _chernoff(scales, counts, beta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        angle = step * middle
        inside = angle / math.pi + 2 / math.pi * (
            (np.sin(angle[:, None] * _TERMS) / _TERMS) * parts
        ).sum(axis=1)
        rest = 2 / math.pi * parts[:, -1] / len(_TERMS) / np.sin(np.minimum(angle, 1.5) / 2)
        kept = (1 - inside + rest + _CLOSE <= beta) & (middle < _WRAP / 3)
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return np.asarray(high)


def _chernoff(scales: Floats, counts: Floats, beta: float) -> Floats:
    """Return z with 2·e^(−λz)·E e^(λS) ≤ β at the best of some λ."""
    pull = np.linspace(0.02, 0.98, 49) / scales.max(axis=1)[:, None]
    logs = -_logs(-1.0, scales, pull, counts)
    return np.asarray(((logs + math.log(2 / beta)) / pull).min(axis=1))


def _logs(sign: float, scales: Floats, factors: Floats, counts: Floats) -> Floats:
    """Return Σ ln(1 ± (factor·scale)²) over the terms of every row, for each of its factors; as many at once as fit."""
    squares, by, found = sign * scales[:, None, :] ** 2, factors[:, :, None] ** 2, []
    many = max(1, _AT_ONCE // max(1, scales.size))
    for start in range(0, factors.shape[1], many):
        values = np.log1p(squares * by[:, start : start + many])
        found.append(
            values @ counts if counts.ndim == 1 else (values @ counts[:, :, None])[:, :, 0]
        )
    return np.concatenate(found, axis=1)


def loose_reach(variance: Floats, largest: float, beta: float) -> Floats:
    """Bound a sum of Laplace laws of which only the variance and the largest scale are known: Chernoff's worst case.

    Σ −ln(1 − λ²b²) is convex in the b², so at a given Σ 2b² it is largest with all of them as large as they may be.
    """
    found = np.full(np.shape(variance), math.inf)
    for rate in np.linspace(0.02, 0.98, 49):
        logs = -np.log1p(-(rate**2)) * variance / (2 * largest**2)
        found = np.minimum(found, (logs + math.log(2 / beta)) * largest / rate)
    return np.asarray(found)
