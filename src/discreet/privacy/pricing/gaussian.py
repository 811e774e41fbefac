"""The curve of N(0, 1) against N(μ, 1), which is Gaussian differential privacy: numbers in, numbers out."""

from __future__ import annotations

import math

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.special import erfcx, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp

_SMALL = 0.25  # below this μ the two tails nearly cancel and are integrated instead


def delta(mu: float, epsilon: float) -> float:
    """Return the exact δ(ε) of μ-Gaussian DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle, Wang 2018, Theorem 8).

    Not rounded; its relative error is below 1e-12 down to δ = 1e-300 and for every μ ≥ 1e-9, also at negative ε.

    >>> from discreet.privacy.pricing.gaussian import delta
    >>> round(delta(1.0, 1.0), 12)
    0.126936737507
    """
    if epsilon < 0:  # by symmetry δ(ε) = 1 − e^ε + e^ε δ(−ε)
        return -math.expm1(epsilon) + math.exp(epsilon) * delta(mu, -epsilon)
    if mu == 0:
        return 0.0
    if not math.isfinite(mu):
        return 1.0
    return math.exp(log_delta(mu, epsilon))


def _ends(mu: float, epsilon: float) -> tuple[float, float]:
    return (epsilon / mu - mu / 2) / math.sqrt(2), (epsilon / mu + mu / 2) / math.sqrt(2)


def log_delta(mu: float, epsilon: float) -> float:
    """Return ln δ(ε) for ε ≥ 0 and μ > 0, in the form ½ e^−a² (erfcx(a) − erfcx(b)), a, b = (ε/μ ∓ μ/2)/√2."""
    a, b = _ends(mu, epsilon)
    if a > 1e4:
        return (
            -a * a
        )  # the factor left out is below 1, so this is on the safe side, at e^-100000000
    if mu < _SMALL:
        return -a * a + math.log(_slab((a + b) / 2, mu / math.sqrt(8)) / 2)
    if a > 0:
        return -a * a + math.log((float(erfcx(a)) - float(erfcx(b))) / 2)
    top = float(log_ndtr(-a * math.sqrt(2)))
    rest = -a * a + math.log(float(erfcx(b)) / 2)  # e^ε Φ(−b√2) without the large ε, as b² − a² = ε
    return top + math.log1p(-math.exp(rest - top))


# Gauss–Legendre nodes and weights on (−1, 1), ten points: exact far beyond double precision over a width of 0.18
_NODES = (
    0.1488743389816312,
    0.4333953941292472,
    0.6794095682990244,
    0.8650633666889845,
    0.9739065285171717,
)
_WEIGHTS = (
    0.2955242247147529,
    0.2692667193099963,
    0.2190863625159821,
    0.1494513491505806,
    0.0666713443086881,
)


def _slab(middle: float, half: float) -> float:
    """Integrate −erfcx' = 2/√π − 2x erfcx(x) over middle ± half: the difference of two nearly equal numbers."""
    area = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        for x in (middle - half * node, middle + half * node):
            area += weight * (
                _far(x) if x > 8 else 2 / math.sqrt(math.pi) - 2 * x * float(erfcx(x))
            )
    return half * area


def _far(x: float) -> float:
    """Return 2/√π − 2x erfcx(x) for large x by its alternating asymptotic series, stopped at the least term."""
    term, area, k = 1.0, 0.0, 1
    while True:
        term *= (2 * k - 1) / (2 * x * x)
        if term < 1e-18 * max(area, 1e-300) or (2 * k + 1) > 2 * x * x:
            return 2 / math.sqrt(math.pi) * area
        area += term if k % 2 else -term
        k += 1


def epsilon(mu: float, delta: float) -> float:
    """Return the least ε with δ(ε) ≤ delta, from the safe side of the root.

    >>> from discreet.privacy.pricing.gaussian import epsilon
    >>> round(epsilon(1.0, 1e-10), 9)
    6.547924067
    """
    if mu == 0:
        return 0.0
    if delta <= 0:
        return math.inf
    target = math.log(delta)
    if log_delta(mu, 0.0) <= target:
        return 0.0
    guess = mu * (
        mu / 2 + math.sqrt(-2 * target)
    )  # the tail bound P[L > ε] ≤ δ is always on the safe side
    return crossing(lambda e: log_delta(mu, e) - target, 0.0, guess)[1]


def mu(epsilon: float, delta: float) -> float:
    """Return the largest μ whose curve passes under (ε, δ), from the safe side of the root.

    >>> from discreet.privacy.pricing.gaussian import mu
    >>> round(1 / mu(1.0, 1e-6), 9)
    4.224678889
    """
    if delta <= 0:
        return 0.0
    target = math.log(delta)
    noise = bracket(lambda s: log_delta(1 / s, epsilon) - target, 1.0)
    return 1 / crossing(lambda s: log_delta(1 / s, epsilon) - target, *noise)[1]


def tradeoff(mu: float, false_positive: float) -> float:
    """Return the least false-negative rate of a test with this false-positive rate, Φ(Φ⁻¹(1 − α) − μ).

    >>> from discreet.privacy.pricing.gaussian import tradeoff
    >>> round(tradeoff(1.0, 0.05), 6)
    0.740489
    """
    return float(ndtr(-ndtri(false_positive) - mu))


def mu_of_pure(epsilon: float) -> float:
    """Return the least μ with G(μ) dominating every ε-DP mechanism, −2Φ⁻¹(1/(1+e^ε)).

    Randomized response dominates all ε-DP mechanisms; its trade-off function has one corner, at α = β = 1/(1+e^ε), and
    G(μ) passes through it. G(μ) is convex and meets the ends (0, 1), (1, 0), so it lies under both chords everywhere.
    (Dong, Roth, Su 2022, in the language of trade-off functions.)

    >>> from discreet.privacy.pricing.gaussian import mu_of_pure
    >>> round(mu_of_pure(1.0), 6)
    1.232035
    """
    if (
        epsilon < 1
    ):  # near ½ the quantile would lose its digits; the same number, by 1 − 2/(1+e^ε) = tanh(ε/2)
        return math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2)))
    return float(-2 * ndtri_exp(-math.log1p(math.exp(epsilon)) if epsilon < 700 else -epsilon))
