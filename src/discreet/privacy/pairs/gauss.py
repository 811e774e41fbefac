"""The pair of Gaussian noise: N(μ, 1) against N(0, 1)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ...arithmetic.series import legendre
from ...arithmetic.special import erfcx, log_ndtr, ndtr, ndtri
from ...frozen import frozen
from .loss_masses import Array, Lattice, LossCells, narrowest

EPS = 2.0**-52


@frozen
class Gauss:
    """The pair G(μ). Gaussian noise of deviation σ and any shift of L2 length Δ is exactly G(Δ/σ): it is rotated away.

    The loss is N(μ²/2, μ²) under P and N(−μ²/2, μ²) under Q (Dong, Roth, Su 2022; Balle, Wang 2018).

    >>> from discreet.privacy.pairs.gauss import Gauss
    >>> round(Gauss(1.0).delta(1.0), 12)
    0.126936737507
    """

    mu: float
    slack: float = 0.0
    limit: Fraction | None = None
    top: Fraction = Fraction(0)
    lattice: Lattice | None = None

    def cells(self, edges: Array) -> LossCells:
        """Return differences of Φ, each taken on the side where Φ is small, so that they are relatively exact."""
        z = np.clip(
            edges / self.mu, -40 - self.mu, 40 + self.mu
        )  # beyond that no mass is left in doubles
        far = float(np.abs(z).max()) + self.mu
        error = 16 * EPS * (4 + (1 + far) / narrowest(z) + far * far)
        return LossCells(_normal(z - self.mu / 2), _normal(z + self.mu / 2), 0.0, error)

    def delta(self, epsilon: float) -> float:
        """Return Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), rounded up, to 1e-12 relative also where it is 1e-300."""
        raw = _curve(self.mu, epsilon - 2 * self.slack)
        return min(1.0, up(math.exp(self.slack) * raw))

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) of the pair, rounded down."""
        return down(_curve(self.mu, epsilon))

    def span(self, tail: float) -> tuple[float, float]:
        """Return the loss at the two quantiles, a little outside."""
        z = 1.001 * abs(float(ndtri(max(tail, 1e-300)))) + 1e-9
        return self.mu * (self.mu / 2 - z), self.mu * (self.mu / 2 + z)


def _normal(z: Array) -> Array:
    below = np.concatenate(([0.0], ndtr(z), [1.0]))
    above = np.concatenate(([1.0], ndtr(-z), [0.0]))
    right = np.concatenate(([False], z >= 0))
    return np.where(right, above[:-1] - above[1:], below[1:] - below[:-1])


def _curve(mu: float, epsilon: float) -> float:
    """Evaluate δ = ½ e^{−t²/2} (erfcx(t/√2) − erfcx((t+μ)/√2)), t = ε/μ − μ/2, without loss of digits.

    erfcx' = 2s·erfcx(s) − 2/√π, so for short μ the difference is an integral of a positive smooth function.
    """
    t = epsilon / mu - mu / 2
    if t < -6 and epsilon <= 0:
        return -math.expm1(epsilon) - float(ndtr(t)) + math.exp(epsilon) * float(ndtr(t + mu))
    if t < -6:
        return float(ndtr(-t)) - math.exp(epsilon + float(log_ndtr(-t - mu)))
    if t > 38.5:
        return 0.0
    if mu > 1:
        difference = float(erfcx(t / math.sqrt(2)) - erfcx((t + mu) / math.sqrt(2)))
    else:
        nodes, weights = legendre(20)
        s = (t + mu * (1 + nodes) / 2) / math.sqrt(2)
        slope = 2 / math.sqrt(math.pi) - 2 * s * erfcx(s)
        difference = float(weights @ slope) * mu / (2 * math.sqrt(2))
    return 0.5 * math.exp(-t * t / 2) * difference


def lattice_gauss(variance: float, squared: float, dimension: int) -> Gauss | None:
    """Make a pair that dominates the discrete Gaussian on ℤ^d, or None where σ is too small for it.

    Let η(s) = 2 Σ_{k≥1} e^{−2π²s²k²}. Draw X ~ N(x, σ²−s²) and round it to z with weight ∝ e^{−(z−X)²/2s²}. Poisson's
    sum gives the normaliser s√2π(1 ± η), the integral over X the Gaussian e^{−(z−x)²/2σ²}; so the discrete Gaussian is
    within [1−η, 1+η] (up to a factor common to all centres) of a post-processing of a continuous one with variance
    σ²−s² (convolution of discrete Gaussians, Peikert 2010). In d coordinates, H_disc(ε) ≤ e^a H_G(ε − 2a) with
    a = d·artanh η and μ² = Δ²/(σ²−s²). Any s is sound; the one taken keeps a near 1e-12, or s² at σ²/4.

    >>> from discreet.privacy.pairs.gauss import lattice_gauss
    >>> lattice_gauss(10_000, 4, 8).mu  # doctest: +ELLIPSIS
    0.0200...
    """
    s2 = math.log(4e12 * dimension) / (2 * math.pi**2)
    s2 = min(s2, variance / 4)
    first = math.exp(-2 * math.pi**2 * s2)
    if first > 0.25 / dimension or (eta := 2 * first / (1 - first)) > 0.01 / dimension:
        return None
    return Gauss(up(math.sqrt(squared / (variance - s2))), up(dimension * math.atanh(eta)))
