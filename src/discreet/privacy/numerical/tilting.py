"""Where to look: the exponential tilt that brings the asked part of a composition to the middle.

Nothing here needs to be exact: a poor tilt costs tightness, never soundness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..pairs.atoms import Atoms
from ..pairs.loss_masses import Array, LossPair

COARSE = 64
"""Cells of the rough copy of a pair."""


def log_share(tilt: float) -> float:
    """Return ln of the largest of (1 − e^−u)e^{−λu} over u > 0, λ^λ/(1+λ)^{1+λ}: δ(ε) ≤ share · E[e^{λ(L−ε)}].

    >>> import math
    >>> from discreet.privacy.numerical.tilting import log_share
    >>> round(math.exp(log_share(1.0)), 9)
    0.25
    """
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt) if tilt > 0 else 0.0


class Cumulants:
    """The logarithmic moment generating function of a composed loss, from a rough copy of each pair.

    >>> from discreet.privacy.numerical.tilting import Cumulants
    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> 0.9 < Cumulants([(Gauss(0.1), 100)], 1e-20).at(1.0)[0] < 1.1
    True
    """

    def __init__(self, groups: Sequence[tuple[LossPair, int]], tail: float) -> None:
        copies = [_rough(pair, tail) for pair, _ in groups]
        width = max(len(losses) for losses, _ in copies)
        self.counts = np.array([float(k) for _, k in groups])
        self.losses = np.zeros((len(groups), width))
        self.logs = np.full((len(groups), width), -np.inf)
        for i, (losses, p) in enumerate(copies):
            self.losses[i, : len(losses)] = losses
            self.logs[i, : len(losses)] = np.log(np.maximum(p, 1e-320))

    def at(self, tilt: float) -> tuple[float, float, float]:
        """Return K(λ) and its first two derivatives: ln of the moment, tilted mean, tilted variance."""
        weights = self.logs + tilt * self.losses
        peak = weights.max(axis=1, keepdims=True)
        weights = np.exp(weights - peak)
        sums = weights.sum(axis=1)
        mean = (weights * self.losses).sum(axis=1) / sums
        square = (weights * (self.losses - mean[:, None]) ** 2).sum(axis=1) / sums
        value = peak[:, 0] + np.log(sums)
        return float(self.counts @ value), float(self.counts @ mean), float(self.counts @ square)

    def for_delta(self, delta: float) -> tuple[float, float]:
        """Return the best tilt for a δ, and the ε that the Rényi bound gives there."""

        def bound(tilt: float) -> float:
            return (self.at(tilt)[0] + log_share(tilt) - math.log(delta)) / tilt

        tilt = self._least(bound, math.sqrt(-2 * math.log(min(delta, 0.5))))
        return tilt, bound(tilt)

    def for_epsilon(self, epsilon: float) -> tuple[float, float]:
        """Return the best tilt for an ε, and ln of the δ that the Rényi bound gives there."""

        def bound(tilt: float) -> float:
            return self.at(tilt)[0] + log_share(tilt) - tilt * epsilon

        tilt = self._least(bound, 1.0)
        return tilt, bound(tilt)

    def _least(self, bound: Callable[[float], float], deviations: float) -> float:
        """Find the least of a bound over tilts: double or halve from a guess, then a few golden sections."""
        middle = deviations / math.sqrt(max(self.at(0.0)[2], 1e-300))
        value, up, down = bound(middle), bound(2 * middle), bound(middle / 2)
        factor, beside = (2.0, up) if up < down else (0.5, down)
        for _ in range(16):
            if beside >= value:
                break
            middle, value = factor * middle, beside
            beside = bound(factor * middle)
        return _golden(bound, middle / 2, 2 * middle)


def _golden(bound: Callable[[float], float], low: float, high: float) -> float:
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = bound(a), bound(b)
    for _ in range(8):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = bound(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = bound(b)
    return (low + high) / 2


def _rough(pair: LossPair, tail: float) -> tuple[Array, Array]:
    if isinstance(pair, Atoms) and len(pair.p) <= COARSE:
        return pair.losses, pair.p
    low, high = pair.span(tail)
    edges = np.concatenate(
        (np.linspace(low, high, COARSE)[:-1], high - (high - low) * 2.0 ** -np.arange(7, 20))
    )
    cells = pair.cells(edges)
    keep = (cells.p > 0) & (
        cells.q > 0
    )  # cells grow narrower upwards, as compositions near their limit need it
    return np.log(cells.p[keep] / cells.q[keep]), cells.p[keep]
