"""Choice of the exponential tilting (Esscher transform) for a question.

The tilt e^{λl} brings the part of the composed loss that was asked about to the middle of the
window. Nothing here needs to be exact: a poor tilt costs tightness, never soundness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..loss.atoms import Atoms
from ..loss.loss_masses import Array, LossPair

COARSE = 64
"""Cells of the rough copy of a pair."""


def log_renyi_factor(tilt: float) -> float:
    """Return ln of the largest of (1 − e^−u)e^{−λu} over u > 0: λ^λ/(1+λ)^{1+λ}.

    With it, δ(ε) ≤ share · E[e^{λ(L−ε)}]: the Rényi bound of order 1 + λ.

    >>> import math
    >>> from discreet.privacy.numerical.tilting import log_renyi_factor
    >>> round(math.exp(log_renyi_factor(1.0)), 9)
    0.25
    """
    if tilt <= 0:
        return 0.0
    # λ ln λ − (1+λ) ln(1+λ), in a form that loses no digits for large λ.
    first = -tilt * math.log1p(1 / tilt)
    return first - math.log1p(tilt)


class Cumulants:
    """Cumulant generating function of a composed loss, from a rough copy of each pair.

    >>> from discreet.privacy.numerical.tilting import Cumulants
    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> 0.9 < Cumulants([(Gauss(0.1), 100)], 1e-20).at(1.0)[0] < 1.1
    True
    """

    def __init__(self, groups: Sequence[tuple[LossPair, int]], tail: float) -> None:
        copies = [_rough_copy(pair, tail) for pair, _ in groups]
        width = max(len(losses) for losses, _ in copies)
        shape = (len(groups), width)
        self.counts = np.array([float(times) for _, times in groups])
        # One row a pair; unused columns have mass 0, hence the logarithm −∞.
        self.losses = np.zeros(shape)
        self.logs = np.full(shape, -np.inf)
        for row, (losses, masses) in enumerate(copies):
            length = len(losses)
            self.losses[row, :length] = losses
            positive = np.maximum(masses, 1e-320)
            self.logs[row, :length] = np.log(positive)

    def at(self, tilt: float) -> tuple[float, float, float]:
        """Return K(λ) and its first two derivatives: log moment, tilted mean, tilted variance."""
        logs = self.logs + tilt * self.losses
        # The largest term of each row is divided out, so that no exponential overflows.
        peak = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - peak)
        sums = weights.sum(axis=1)
        mean = (weights * self.losses).sum(axis=1) / sums
        centred = self.losses - mean[:, None]
        variance = (weights * centred**2).sum(axis=1) / sums
        log_moment = peak[:, 0] + np.log(sums)
        total_log_moment = float(self.counts @ log_moment)
        total_mean = float(self.counts @ mean)
        total_variance = float(self.counts @ variance)
        return total_log_moment, total_mean, total_variance

    def for_delta(self, delta: float) -> tuple[float, float]:
        """Return the best tilt for a δ, and the ε that the Rényi bound gives there."""
        log_delta = math.log(delta)

        def renyi_epsilon(tilt: float) -> float:
            log_bound = self.at(tilt)[0] + log_renyi_factor(tilt)
            return (log_bound - log_delta) / tilt

        # A normal law reaches δ at about √(−2 ln δ) standard deviations.
        log_small = math.log(min(delta, 0.5))
        deviations = math.sqrt(-2 * log_small)
        tilt = self._minimise(renyi_epsilon, deviations)
        return tilt, renyi_epsilon(tilt)

    def for_epsilon(self, epsilon: float) -> tuple[float, float]:
        """Return the best tilt for an ε, and ln of the δ that the Rényi bound gives there."""

        def renyi_log_delta(tilt: float) -> float:
            log_bound = self.at(tilt)[0] + log_renyi_factor(tilt)
            return log_bound - tilt * epsilon

        tilt = self._minimise(renyi_log_delta, 1.0)
        return tilt, renyi_log_delta(tilt)

    def _minimise(self, bound: Callable[[float], float], deviations: float) -> float:
        """Find the least of a bound over tilts.

        Double or halve the tilt from a guess, then narrow by golden section.
        """
        variance = self.at(0.0)[2]
        middle = deviations / math.sqrt(max(variance, 1e-300))
        value = bound(middle)
        at_double = bound(2 * middle)
        at_half = bound(middle / 2)
        if at_double < at_half:
            factor = 2.0
            beside = at_double
        else:
            factor = 0.5
            beside = at_half
        # Sixteen doublings span a factor of 65,536: a guess further off is not worth the time.
        for _ in range(16):
            if beside >= value:
                break
            middle = factor * middle
            value = beside
            beside = bound(factor * middle)
        return _golden_section(bound, middle / 2, 2 * middle)


def _golden_section(bound: Callable[[float], float], low: float, high: float) -> float:
    """Narrow an interval around the least value, eight times by the golden ratio."""
    ratio = (math.sqrt(5) - 1) / 2
    left = high - ratio * (high - low)
    right = low + ratio * (high - low)
    at_left = bound(left)
    at_right = bound(right)
    for _ in range(8):
        # One of the two inner points is an inner point of the next interval too.
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = bound(right)
    return (low + high) / 2


def _rough_copy(pair: LossPair, tail: float) -> tuple[Array, Array]:
    """Return at most 77 losses and P-masses that resemble a pair; a pair of few atoms as it is."""
    if isinstance(pair, Atoms) and len(pair.p) <= COARSE:
        return pair.losses, pair.p
    low, high = pair.span(tail)
    # The cells grow narrower upwards, as compositions near their largest loss need it.
    equal = np.linspace(low, high, COARSE)[:-1]
    parts = 2.0 ** -np.arange(7, 20)
    narrowing = high - (high - low) * parts
    cells = pair.cells(np.concatenate((equal, narrowing)))
    keep = (cells.p > 0) & (cells.q > 0)
    p = cells.p[keep]
    q = cells.q[keep]
    # All losses of a cell are replaced by its mean likelihood ratio.
    # The logarithms are subtracted because the ratio itself may be beyond the largest float.
    return np.log(p) - np.log(q), p
