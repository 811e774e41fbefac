"""Dominating pair of Gaussian noise: N(μ, 1) against N(0, 1).

A discrete Gaussian on many coordinates is dominated by it with a small slack (`lattice_gauss`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...arithmetic.series import legendre
from ...arithmetic.special import erfcx, log_ndtr, ndtr, ndtri
from ...frozen import frozen
from ..loss.loss_masses import EPS, Array, Lattice, LossCells, narrowest

_ROOT_TWO = math.sqrt(2)
_ERFCX_SLOPE = 2 / math.sqrt(math.pi)
"""−erfcx'(0)."""


@frozen
class Gauss:
    """Pair G(μ): Gaussian noise of deviation σ and any shift of L2 length Δ is exactly G(Δ/σ).

    The noise is symmetric, so that any shift can be rotated onto one axis. The loss is
    N(μ²/2, μ²) under P and N(−μ²/2, μ²) under Q (Dong, Roth, Su 2022; Balle, Wang 2018).

    Guarantee: `delta` rounds up and `lower_delta` down, both to 1e-12 relative.

    Law: tests/privacy/test_pair.py::TestGauss

    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> round(Gauss(1.0).delta(1.0), 12)
    0.126936737507
    """

    mu: float
    slack: float = 0.0
    limit: Fraction | None = None
    top: Fraction = Fraction(0)
    lattice: Lattice | None = None
    split: float = 0.0

    def cells(self, edges: Array) -> LossCells:
        """Return differences of Φ, taken on the side where Φ is small: relatively exact."""
        # Beyond 40 deviations no mass is left in doubles.
        far_edge = 40 + self.mu
        z = np.clip(edges / self.mu, -far_edge, far_edge)
        far = float(np.abs(z).max()) + self.mu
        # A difference loses digits as its width shrinks; Φ(z) itself errs by z² units.
        by_width = (1 + far) / narrowest(z)
        error = 16 * EPS * (4 + by_width + far * far)
        p = _normal_masses(z - self.mu / 2)
        q = _normal_masses(z + self.mu / 2)
        return LossCells(p, q, 0.0, error)

    def delta(self, epsilon: float) -> float:
        """Return Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), rounded up.

        It is right to 1e-12 relative, also where it is 1e-300. A `slack` raises it (`LossPair`).
        """
        raw = _curve(self.mu, epsilon - 2 * self.slack)
        raised = math.exp(self.slack) * raw
        return min(1.0, up(raised))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) of the pair, rounded down."""
        return down(_curve(self.mu, epsilon))

    def span(self, tail: float) -> tuple[float, float]:
        """Return the loss at the two quantiles, a little outside."""
        quantile = abs(float(ndtri(max(tail, 1e-300))))
        # Outward by 0.1 %, far above the error of the quantile: less mass is left out than asked.
        z = 1.001 * quantile + 1e-9
        half = self.mu / 2
        low = self.mu * (half - z)
        high = self.mu * (half + z)
        return low, high


def _normal_masses(z: Array) -> Array:
    """Return the masses of N(0, 1) up to the first z, between them, and above the last."""
    below = np.concatenate(([0.0], ndtr(z), [1.0]))
    above = np.concatenate(([1.0], ndtr(-z), [0.0]))
    # Right of 0 the upper tail is small, so that its differences lose no digits.
    is_right = np.concatenate(([False], z >= 0))
    by_upper_tail = above[:-1] - above[1:]
    by_lower_tail = below[1:] - below[:-1]
    return np.where(is_right, by_upper_tail, by_lower_tail)


def _curve(mu: float, epsilon: float) -> float:
    """Evaluate δ = ½ e^{−t²/2} (erfcx(t/√2) − erfcx((t+μ)/√2)), t = ε/μ − μ/2.

    No digits are lost: erfcx' = 2s·erfcx(s) − 2/√π, so for short μ the difference is an integral
    of a positive smooth function.
    """
    t = epsilon / mu - mu / 2
    if t < -6 and epsilon <= 0:
        # Far left erfcx overflows. δ is near 1 − e^ε, and small corrections are added to that.
        lacking = float(ndtr(t))
        upper_tail = float(ndtr(t + mu))
        tail = math.exp(epsilon) * upper_tail
        return -math.expm1(epsilon) - lacking + tail
    if t < -6:
        # Far left with e^ε > 1: the product with Φ is formed in logarithms.
        log_tail = epsilon + float(log_ndtr(-t - mu))
        return float(ndtr(-t)) - math.exp(log_tail)
    if t > 38.5:
        # δ is below the least float. `up` still makes the upper bound positive.
        return 0.0
    if mu > 1:
        near = erfcx(t / _ROOT_TWO)
        far = erfcx((t + mu) / _ROOT_TWO)
        difference = float(near - far)
    else:
        # Twenty Gauss-Legendre nodes are exact to doubles on an interval of length 1.
        nodes, weights = legendre(20)
        s = (t + mu * (1 + nodes) / 2) / _ROOT_TWO
        slope = _ERFCX_SLOPE - 2 * s * erfcx(s)
        integral = float(weights @ slope)
        difference = integral * mu / (2 * _ROOT_TWO)
    density = math.exp(-t * t / 2)
    return 0.5 * density * difference


def lattice_gauss(variance: float, squared: float, dimension: int) -> Gauss | None:
    """Make a pair that dominates the discrete Gaussian on ℤ^d; None if σ is too small for it.

    Let η(s) = 2 Σ_{k≥1} e^{−2π²s²k²}. Draw X ~ N(x, σ²−s²) and round it to z with weight
    ∝ e^{−(z−X)²/2s²}. Poisson's sum gives the normaliser s√2π(1 ± η), the integral over X the
    Gaussian e^{−(z−x)²/2σ²}. So the discrete Gaussian is within [1−η, 1+η] of a post-processing
    of a continuous one with variance σ²−s², up to a factor common to all centres. This is the
    convolution of discrete Gaussians (Peikert 2010). In d coordinates,

        H_disc(ε) ≤ e^a H_G(ε − 2a)   with   a = d·artanh η   and   μ² = Δ²/(σ²−s²).

    Any s is sound; the one taken keeps a near 1e-12, or s² at σ²/4.

    Law: tests/privacy/test_pair.py::TestGauss

    >>> from discreet.privacy.pairs.gauss import lattice_gauss
    >>> lattice_gauss(10_000, 4, 8).mu  # doctest: +ELLIPSIS
    0.0200...
    """
    # s² with 4d·e^{−2π²s²} = 1e-12, so that the slack a is near that.
    rate = 2 * math.pi**2
    s_squared = math.log(4e12 * dimension) / rate
    s_squared = min(s_squared, variance / 4)
    first = math.exp(-rate * s_squared)
    # The sum over k is at most the geometric series of its first term. The floor only keeps a
    # ratio of 1 from dividing by 0: such an η is refused below.
    eta = 2 * first / max(1 - first, EPS)
    if eta > 0.01 / dimension:
        return None
    # Both the shift and the slack round up: the pair dominates more.
    continuous_variance = variance - s_squared
    mu = up(math.sqrt(squared / continuous_variance))
    slack = up(dimension * math.atanh(eta))
    return Gauss(mu, slack)
