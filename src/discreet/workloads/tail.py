"""Tails of weighted sums of released noise: half the width of a conservative confidence interval.

With X geometric or discrete Gaussian noise and U uniform on ±1/2, X + U has a falling density. The
sum with each term replaced by a continuous law that is further from 0 is further from 0 (Birnbaum
1948): Laplace of scale 1/(2 tanh(1/2b)), or normal of variance σ² + 1/4. The U add at most Σ|c|/2,
and by Hoeffding at most 3√Σc² except with a probability of 4e-8, which is taken off β.

Tails of sums of Laplace laws come from their characteristic function on a circle. Beyond its
resolution, and where only a variance and a largest scale are known, Chernoff's bound is taken.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from ..mechanisms.laws.normal import quantile

# Circumference of the circle, in deviations of the sum.
_WRAP = 60.0
# Frequencies of the Fourier series on the circle.
_TERMS = np.arange(1.0, 385.0)
# Probability with which the lattice adds more than Hoeffding's 3√Σc²: 2·exp(−18) < 4e-8.
_LATTICE_BETA = 4e-8
# Above the rounding errors of the series and of the normal quantile.
_ROUNDING = 1e-9
_HALVINGS = 40
# Weights within this ratio share a bin.
_RATIO = 1.06
_BINS = 64
# Laws and factors that are computed side by side: bounded by memory.
_CHUNK = 256
_AT_ONCE = 1 << 15
_MAX_CACHED = 8192
# Replaces a zero in a denominator or a logarithm.
_TINY = 1e-300
# Factors λ·b of Chernoff's bound that are tried; it exists below 1 only.
_CHERNOFF_RATES = np.linspace(0.02, 0.98, 49)


@frozen
class SumLaw:
    """Law of the error of one sum: normal of deviation `scale`, or terms of geometric noise of
    that scale.

    A term is a weight and the number of its occurrences. Weights are put into bins, each as large
    as the largest weight in it: a law further from 0 bounds one that is nearer. `loose` means that
    only the deviation of the sum, `scale`, and the largest scale, the one weight, are known.

    >>> from discreet.workloads.tail import SumLaw
    >>> round(SumLaw(10.0).reach(0.05), 1), round(SumLaw(1e6, ((1e-6, 1.0),)).reach(0.05), 2)
    (19.6, 3.0)
    """

    scale: float
    terms: tuple[tuple[float, float], ...] = ()
    loose: bool = False

    @classmethod
    def of(cls, weights: Floats, counts: Floats, scale: float) -> SumLaw:
        """Return the law of Σ weight·X for geometric noise X of one scale, in few bins."""
        [most], [total] = binned(weights[None, :], counts)
        pairs = zip(most.tolist(), total.tolist(), strict=True)
        return cls(scale, tuple((weight, count) for weight, count in pairs if count))

    def reach(self, beta: float) -> float:
        """Bound the error with probability at least 1 − β.

        Law: tests/workloads/test_tails.py::TestReach
        """
        return reaches([self], beta)[0]


def binned(weights: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Put the weights of every row into 64 bins by size.

    Returns the largest weight of each bin, and the number of terms in it.
    """
    sizes = np.abs(weights)
    most = np.maximum(sizes.max(axis=1, initial=0.0), _TINY)[:, None]
    # A weight of 0 has an infinite logarithm: it falls into the last bin and counts 0 times.
    with np.errstate(divide="ignore"):
        place = np.log(most / sizes) * (1 / math.log(_RATIO))
    row_starts = np.arange(len(sizes))[:, None] * _BINS
    place = np.minimum(place, _BINS - 1).astype(np.int64) + row_starts
    occurrences = (sizes > 0) * counts
    bins = len(sizes) * _BINS
    counted = np.bincount(place.ravel(), occurrences.ravel(), bins)
    total = np.asarray(counted, dtype=np.float64)
    largest = np.zeros(bins)
    np.maximum.at(largest, place.ravel(), sizes.ravel())
    return largest.reshape(-1, _BINS), total.reshape(-1, _BINS)


_CACHE: OrderedDict[tuple[SumLaw, float], float] = OrderedDict()


def reaches(laws: Sequence[SumLaw], beta: float) -> list[float]:
    """Bound the errors of many sums: each law once, and all new laws at once; results are cached.

    >>> from discreet.workloads.tail import SumLaw, reaches
    >>> [round(found, 1) for found in reaches([SumLaw(10.0), SumLaw(20.0)], 0.05)]
    [19.6, 39.2]
    """
    found: dict[SumLaw, float] = {}
    fresh: list[SumLaw] = []
    sums: list[SumLaw] = []
    for law in dict.fromkeys(laws):
        cached = _CACHE.get((law, beta))
        if cached is None:
            fresh.append(law)
        else:
            found[law] = cached
    for law in fresh:
        if not law.terms:
            found[law] = float(normal_reach(law.scale, beta))
        elif law.loose:
            largest = law.terms[0][0]
            found[law] = float(loose_reach(np.array(law.scale**2), largest, beta))
        else:
            sums.append(law)
    for start in range(0, len(sums), _CHUNK):
        chunk = sums[start : start + _CHUNK]
        found |= zip(chunk, _law_reach(chunk, beta), strict=True)
    for law in fresh:
        _CACHE[law, beta] = found[law]
    # The oldest entries go first.
    while len(_CACHE) > _MAX_CACHED:
        _CACHE.popitem(last=False)
    return [found[law] for law in laws]


def _law_reach(laws: Sequence[SumLaw], beta: float) -> list[float]:
    """Return the reach of laws of terms, side by side."""
    width = max(len(law.terms) for law in laws)
    # Shorter laws are filled up with weights of 0 that occur 0 times.
    terms = np.zeros((len(laws), width, 2))
    for row, law in zip(terms, laws, strict=True):
        row[: len(law.terms)] = law.terms
    multiple, lattice = unit_reach(terms[:, :, 0], terms[:, :, 1], beta)
    scales = np.array([law.scale for law in laws])
    return [float(reach) for reach in multiple * wider(scales) + lattice]


def wider(scale: Floats | float) -> Floats:
    """Return the scale of the Laplace law further from 0 than geometric plus uniform noise."""
    return np.asarray(1 / (2 * np.tanh(0.5 / np.asarray(scale))))


def unit_reach(weights: Floats, counts: Floats, beta: float) -> tuple[Floats, Floats]:
    """Return a bound on each sum: a multiple of the noise's scale, plus the lattice's part.

    `counts` is the number of terms of each weight, by column or one for each weight.
    """
    spread = np.sqrt(2 * _weighted_sum(weights**2, counts))
    scales = np.abs(weights) / np.maximum(spread, _TINY)[:, None]
    multiple = _quantile(scales, counts, beta - _LATTICE_BETA) * spread
    return np.asarray(multiple), _lattice_part(weights, counts)


def _weighted_sum(values: Floats, counts: Floats) -> Floats:
    """Return the sum of every row, each term as often as it occurs."""
    if counts.ndim == 1:
        return np.asarray(values @ counts)
    return np.asarray((values * counts).sum(axis=1))


def _lattice_part(weights: Floats, counts: Floats) -> Floats:
    """Return a bound on the change of each sum by its lattice, in its own unit."""
    worst = _weighted_sum(np.abs(weights), counts) / 2
    hoeffding = 3 * np.sqrt(_weighted_sum(weights**2, counts))
    return np.asarray(np.minimum(worst, hoeffding))


def normal_reach(deviation: Floats | float, beta: float) -> Floats:
    """Bound a sum of discrete Gaussian noise of at least 2^13 steps each."""
    # The quantile is rounded up, and the lattice adds at most 3·2^-13 of a deviation.
    multiple = quantile(beta - _LATTICE_BETA) * (1 + _ROUNDING) + 3 / 2**13
    return np.asarray(deviation) * multiple


def laplace_reach(weights: Floats, counts: Floats, scale: Floats | float, beta: float) -> Floats:
    """Bound |Σ c·X| with probability at least 1 − β for geometric noise.

    Each sum has a row of weights. `counts` is the number of terms of each column of weights,
    `scale` that of their noise.

    >>> import numpy as np
    >>> from discreet.workloads.tail import laplace_reach
    >>> found = laplace_reach(np.array([[1.0], [0.5]]), np.array([1.0]), 1e6, 0.05)
    >>> (found / 1e6).round(3).tolist()
    [2.996, 1.498]
    """
    multiple, _ = unit_reach(weights * wider(scale), counts, beta)
    return np.asarray(multiple + _lattice_part(weights, counts))


def _quantile(scales: Floats, counts: Floats, beta: float) -> Floats:
    """Return z with P(|S| > z) ≤ β for sums of Laplace laws of these scales, each of variance 1."""
    step = 2 * math.pi / _WRAP
    coefficients = np.exp(-_logs(1.0, scales, step * _TERMS[None, :], counts))
    # P(|S| > high) ≤ β throughout: Chernoff's bound first, then only points that were checked.
    low = np.zeros(len(scales))
    high = _chernoff(scales, counts, beta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        angle = step * middle
        waves = np.sin(angle[:, None] * _TERMS) / _TERMS
        inside = angle / math.pi + 2 / math.pi * (waves * coefficients).sum(axis=1)
        # Bound on the terms of the series that are left out.
        last = 2 / math.pi * coefficients[:, -1] / len(_TERMS)
        rest = last / np.sin(np.minimum(angle, 1.5) / 2)
        # Near the far side of the circle the wrapped law tells too little: Chernoff's bound stays.
        kept = (1 - inside + rest + _ROUNDING <= beta) & (middle < _WRAP / 3)
        low = np.where(kept, low, middle)
        high = np.where(kept, middle, high)
    return np.asarray(high)


def _chernoff(scales: Floats, counts: Floats, beta: float) -> Floats:
    """Return z with 2·e^(−λz)·E e^(λS) ≤ β at the best of some λ."""
    rates = _CHERNOFF_RATES / scales.max(axis=1)[:, None]
    logs = -_logs(-1.0, scales, rates, counts)
    return np.asarray(((logs + math.log(2 / beta)) / rates).min(axis=1))


def _logs(sign: float, scales: Floats, factors: Floats, counts: Floats) -> Floats:
    """Return Σ ln(1 ± (factor·scale)²) over the terms of every row, for each of its factors."""
    squares = sign * scales[:, None, :] ** 2
    factor_squares = factors[:, :, None] ** 2
    # As many factors at once as fit into memory.
    width = max(1, _AT_ONCE // max(1, scales.size))
    found: list[Floats] = []
    for start in range(0, factors.shape[1], width):
        values = np.log1p(squares * factor_squares[:, start : start + width])
        if counts.ndim == 1:
            found.append(values @ counts)
        else:
            found.append((values @ counts[:, :, None])[:, :, 0])
    return np.concatenate(found, axis=1)


def loose_reach(variance: Floats, largest: float, beta: float) -> Floats:
    """Bound a sum of Laplace laws of known variance and largest scale: Chernoff's worst case.

    Σ −ln(1 − λ²b²) is convex in the b². So at a given Σ 2b² it is largest with all of them as large
    as possible.
    """
    found = np.full(np.shape(variance), math.inf)
    for rate in _CHERNOFF_RATES:
        logs = -np.log1p(-(rate**2)) * variance / (2 * largest**2)
        found = np.minimum(found, (logs + math.log(2 / beta)) * largest / rate)
    return np.asarray(found)
