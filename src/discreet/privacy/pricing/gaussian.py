"""Curve δ(ε) of N(0, 1) against N(μ, 1): Gaussian differential privacy, in floats.

δ at an ε, ε at a δ, the largest μ for an (ε, δ), and the μ of an ε-DP mechanism. Results are not
rounded up here: callers add the margin.
"""

from __future__ import annotations

import math

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.special import erfcx, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp

# Below this μ the two tails nearly cancel and their difference is integrated instead.
_SMALL_MU = 0.25
# Beyond this a the factor beside e^(−a²) is left out; e^(−10⁸) is no float in any case.
_FAR_TAIL = 1e4
# Above this ε, e^ε would leave the floats (e^709 is the last).
_MAX_EXPONENT = 700
# Gauss–Legendre nodes and weights on (−1, 1), ten points, symmetric about 0: exact far beyond
# double precision over a width of 0.18.
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


def delta(mu: float, epsilon: float) -> float:
    """Return the exact δ(ε) of μ-Gaussian DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

    Balle, Wang 2018, Theorem 8. Not rounded; its relative error is below 1e-12 down to δ = 1e-300
    and for every μ ≥ 1e-9, also at negative ε.

    >>> from discreet.privacy.pricing.gaussian import delta
    >>> round(delta(1.0, 1.0), 12)
    0.126936737507

    Law: tests/privacy/test_gdp.py::TestTheCurve
    """
    if epsilon < 0:
        # By symmetry δ(ε) = 1 − e^ε + e^ε δ(−ε).
        mirrored = delta(mu, -epsilon)
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored
    if mu == 0:
        return 0.0
    if not math.isfinite(mu):
        return 1.0
    return math.exp(log_delta(mu, epsilon))


def log_delta(mu: float, epsilon: float) -> float:
    """Return ln δ(ε) for ε ≥ 0 and μ > 0: ½ e^−a² (erfcx(a) − erfcx(b)), a, b = (ε/μ ∓ μ/2)/√2.

    Law: tests/privacy/test_gdp.py::TestTheCurve
    """
    ratio = epsilon / mu
    a = (ratio - mu / 2) / math.sqrt(2)
    b = (ratio + mu / 2) / math.sqrt(2)
    if a > _FAR_TAIL:
        # The factor left out is below 1, so this is on the safe side.
        return -a * a
    if mu < _SMALL_MU:
        difference = _erfcx_difference((a + b) / 2, mu / math.sqrt(8))
        return -a * a + math.log(difference / 2)
    if a > 0:
        difference = float(erfcx(a)) - float(erfcx(b))
        return -a * a + math.log(difference / 2)
    log_first = float(log_ndtr(-a * math.sqrt(2)))
    # e^ε Φ(−b√2) without the large ε, as b² − a² = ε.
    second_tail = float(erfcx(b)) / 2
    log_second = -a * a + math.log(second_tail)
    return log_first + math.log1p(-math.exp(log_second - log_first))


def _erfcx_difference(middle: float, half: float) -> float:
    """Integrate −erfcx' = 2/√π − 2x erfcx(x) over middle ± half.

    It is the difference of two nearly equal numbers, without subtracting them.
    """
    area = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        for x in (middle - half * node, middle + half * node):
            area += weight * _erfcx_slope(x)
    return half * area


def _erfcx_slope(x: float) -> float:
    """Return −erfcx'(x) = 2/√π − 2x erfcx(x)."""
    # Beyond 8 the two terms cancel too many digits.
    if x > 8:
        return _erfcx_slope_series(x)
    subtracted = 2 * x * float(erfcx(x))
    return 2 / math.sqrt(math.pi) - subtracted


def _erfcx_slope_series(x: float) -> float:
    """Return 2/√π − 2x erfcx(x) for large x by its alternating asymptotic series.

    It stops at the least term, as an asymptotic series must.
    """
    term = 1.0
    area = 0.0
    k = 1
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
    # The tail bound P[L > ε] ≤ δ is always on the safe side: an upper end of the bracket.
    deviations = math.sqrt(-2 * target)
    high = mu * (mu / 2 + deviations)

    def excess(at: float) -> float:
        return log_delta(mu, at) - target

    return crossing(excess, 0.0, high)[1]


def mu(epsilon: float, delta: float) -> float:
    """Return the largest μ whose curve passes under (ε, δ), from the safe side of the root.

    >>> from discreet.privacy.pricing.gaussian import mu
    >>> round(1 / mu(1.0, 1e-6), 9)
    4.224678889
    """
    if delta <= 0:
        return 0.0
    target = math.log(delta)

    def excess(scale: float) -> float:
        return log_delta(1 / scale, epsilon) - target

    # The search is in the scale 1/μ: its upper end has no excess, so μ is from below.
    return 1 / crossing(excess, *bracket(excess, 1.0))[1]


def tradeoff(mu: float, false_positive: float) -> float:
    """Return the trade-off function of G(μ), the least false-negative rate: Φ(Φ⁻¹(1 − α) − μ).

    >>> from discreet.privacy.pricing.gaussian import tradeoff
    >>> round(tradeoff(1.0, 0.05), 6)
    0.740489
    """
    return float(ndtr(-ndtri(false_positive) - mu))


def mu_of_pure(epsilon: float) -> float:
    """Return the least μ with G(μ) dominating every ε-DP mechanism, −2Φ⁻¹(1/(1+e^ε)).

    Randomized response dominates all ε-DP mechanisms. Its trade-off function has one corner, at
    α = β = 1/(1+e^ε), and G(μ) passes through it. G(μ) is convex and meets the ends (0, 1), (1, 0),
    so it lies under both chords everywhere (Dong, Roth, Su 2022, by trade-off functions).

    >>> from discreet.privacy.pricing.gaussian import mu_of_pure
    >>> round(mu_of_pure(1.0), 6)
    1.232035

    Law: tests/privacy/test_gdp.py::TestPureToGaussian
    """
    if epsilon < 1:
        # Near ½ the quantile would lose digits; the same number, by 1 − 2/(1+e^ε) = tanh(ε/2).
        return math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2)))
    # Beyond 700 ln(1 + e^ε) is ε to every digit.
    log_odds = math.log1p(math.exp(epsilon)) if epsilon < _MAX_EXPONENT else epsilon
    return float(-2 * ndtri_exp(-log_odds))
