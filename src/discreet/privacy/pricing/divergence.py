"""Rényi divergences of the laws of mechanisms, for arrays of orders α > 1; callers add the margin.

All have a closed form but that of Gaussian noise on a Poisson sample, which may be an integral.
With K(λ) = ln E e^(λL), L the privacy loss and λ = α − 1, the divergence of order α is K(λ)/λ. Each
K is written so that no two nearly equal numbers are subtracted: small losses keep their digits.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...arithmetic.series import Array, convex_power, sinhc, xcoth
from ...arithmetic.special import gammaln, logsumexp

# Least loss whose logarithm is taken.
_MIN_LOSS = 1e-300
# Below this αε the two bounds of bounded range agree to 1e-7, and αε²/8 keeps its digits.
_SMALL_RANGE = 2e-3
# Beyond this exponent hyperbolic functions would overflow when multiplied.
_MAX_EXPONENT = 300
# Above this variance θ(c)/θ(0) differs from 1 by less than 4e^(−2π²σ²) < 1e-33.
_SMOOTH_VARIANCE = 4
# Up to this order a fractional order of a sampled Gaussian is integrated; beyond, a chord is taken.
_MAX_INTEGRATED_ORDER = 64
# Relative loss by cancellation near α = 1 in `_any_order`; added, so that the result is no less.
_CANCELLATION = 2e-10
# e^700 is a float, and e^710 is none.
_MAX_LOSS = 700.0


def response_renyi(epsilon: float, options: int, alphas: Array) -> Array:
    """Return the divergence of randomized response among k options.

    ln((e^αε + e^((1−α)ε) + k − 2)/(e^ε + k − 1))/(α−1): Mironov 2017, Proposition 5.

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import response_renyi
    >>> response_renyi(1.0, 2, np.array([2.0])).round(12).tolist()
    [0.735325664056]

    Law: tests/privacy/test_divergence.py::test_response
    """
    lam = alphas - 1
    # A smaller loss, which costs no more, has no logarithm.
    epsilon = max(epsilon, _MIN_LOSS)
    # (e^αε − e^ε)(1 − e^−αε) is the numerator minus the denominator, factored.
    log_lam_part = np.log(-np.expm1(-lam * epsilon))
    log_alpha_part = np.log(-np.expm1(-alphas * epsilon))
    log_difference = log_lam_part + log_alpha_part + alphas * epsilon
    log_denominator = math.log1p((options - 1) * math.exp(-epsilon))
    # Logarithm of the part of the ratio above 1.
    log_excess = log_difference - epsilon - log_denominator
    return np.logaddexp(0.0, log_excess) / lam


def range_renyi(epsilon: float, alphas: Array) -> Array:
    """Return the largest divergence of a mechanism of bounded range ε.

    The likelihood ratio has mean 1 and lies in an interval [e^(t−ε), e^t], so a convex function of
    it is largest when it takes only the two ends. The worst t has
    e^t = (λ/α)(e^ε − e^−λε)/(1 − e^−λε) (cf. Dong, Durfee, Rogers 2020).

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import range_renyi
    >>> bool(range_renyi(1.0, np.array([2.0]))[0] < 2 / 8)
    True

    Law: tests/privacy/test_divergence.py::TestBoundedRange
    """
    lam = alphas - 1
    log_alpha_part = np.log(-np.expm1(-alphas * epsilon))
    log_lam_part = np.log(-np.expm1(-lam * epsilon))
    # t, the larger loss; rounding may leave the interval that it lies in.
    worst = epsilon + log_alpha_part - log_lam_part + np.log(lam / alphas)
    up = np.clip(worst, 0.0, epsilon)
    # Two forms of K: this one does not overflow, the exact one below keeps the digits of small K.
    width = -math.expm1(-epsilon)
    log_mean = lam * up + log_alpha_part - np.log(alphas) - math.log(width)
    down = epsilon - up
    # P[L = t] follows from the mean 1 of the likelihood ratio.
    high = -np.expm1(-down) / width
    # Overflow happens only at entries that `where` does not take.
    with np.errstate(over="ignore", invalid="ignore"):
        gain_up = high * np.expm1(lam * up)
        gain_down = (1 - high) * np.expm1(-lam * down)
        gain = gain_up + gain_down
        exact = np.log1p(np.maximum(gain, 0.0))
    # αε²/8 holds for every bounded range (Cesar, Rogers 2021), so the minimum does.
    eighth = alphas * epsilon * epsilon / 8
    cumulant = np.where(lam * up > 1, log_mean, exact)
    value = np.minimum(cumulant / lam, eighth)
    return np.where(alphas * epsilon < _SMALL_RANGE, eighth, value)


def laplace_renyi(ratio: float, steps: int, alphas: Array) -> Array:
    """Return the divergence of Laplace noise with Δ1/b = ratio.

    Continuous (steps 0) or on a lattice (`steps` in Δ1). Under √(pq) the loss has mass at its ends
    ±x and is even in between, so e^K is a mean of hyperbolic cosines. With t = α − ½ and
    h = x/steps it is 1 + (c(t) − c(½))/c(½), where
    c(t) = ½h·coth(½h)·cosh tx + ½h·coth(th)·sinh tx. For h → 0 this is cosh tx + sinh(tx)/2t:
    Mironov 2017, Proposition 6. One step is randomized response.

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import laplace_renyi
    >>> laplace_renyi(1.0, 0, np.array([2.0])).round(12).tolist()
    [0.619123629999]

    Law: tests/privacy/test_divergence.py::test_laplace_on_a_lattice_is_exact
    """
    # The pure ε is a bound of every divergence; beyond 500 no float is below it.
    if ratio > 500:
        return np.full_like(alphas, ratio)
    x = ratio
    h = ratio / steps if steps else 0.0
    # `xcoth(y)` is y·coth(y) − 1 and `sinhc(y)` is sinh(y)/y − 1: both keep the digits near 0.
    lean = xcoth(h / 2)
    ends = 1 + lean
    t = np.minimum(alphas - 0.5, _MAX_EXPONENT / x)
    # cosh tx − cosh ½x as a product, without cancellation.
    sum_sinh = np.sinh((t + 0.5) * x / 2)
    difference_sinh = np.sinh((t - 0.5) * x / 2)
    outer = 2 * sum_sinh * difference_sinh
    sinhc_t = sinhc(t * x)
    sinhc_half = sinhc(x / 2)
    lean_t = xcoth(t * h)
    lean_part = lean_t * (1 + sinhc_t)
    inner = sinhc_t - sinhc_half + lean_part - lean * (1 + sinhc_half)
    scale = ends * math.exp(x / 2)
    growth = (ends * outer + x / 2 * inner) / scale
    near = np.log1p(growth) / (t - 0.5)
    # Beyond tx = 300 only the growing exponentials count.
    t = alphas - 0.5
    far_factor = 0.5 + (1 + xcoth(t * h)) / (4 * t * ends)
    far = x + np.log(far_factor) / (alphas - 1)
    divergence = np.where(t * x > _MAX_EXPONENT, far, near)
    return np.minimum(divergence, x)


def discrete_gaussian_renyi(variance: float, shift: int, alphas: Array) -> Array:
    """Return the divergence of the discrete Gaussian on the integers and its shift by a whole Δ.

    It is never above αΔ²/2σ². Σ p^α q^(1−α) = e^(α(α−1)Δ²/2σ²)·θ((α−1)Δ)/θ(0) with
    θ(c) = Σ_x e^(−(x−c)²/2σ²) (Canonne, Kamath, Steinke 2020).

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import discrete_gaussian_renyi
    >>> discrete_gaussian_renyi(1.0, 1, np.array([2.0])).tolist()
    [1.0]

    Law: tests/privacy/test_divergence.py::test_discrete_gaussian
    """
    lam = alphas - 1
    continuous = alphas * shift * shift / (2 * variance)
    if variance > _SMOOTH_VARIANCE:
        return continuous
    # θ has period 1: reduce its argument to [−½, ½].
    fractional = np.remainder(lam * shift + 0.5, 1.0)
    offset = np.abs(fractional - 0.5)
    # Thirty terms on each side: with variance ≤ 4 the next one is below e^−100.
    x = np.arange(-30, 31)[:, None]
    # The common factor e^(−offset²/2σ²) is taken out, so that small variances do not underflow.
    squares = (x - offset) ** 2 - offset**2
    terms = np.exp(-squares / (2 * variance))
    theta = np.sum(terms, axis=0)
    terms_at_zero = np.exp(-(x**2) / (2 * variance))
    theta_zero = float(np.sum(terms_at_zero))
    log_ratio = np.log(theta / theta_zero) - offset**2 / (2 * variance)
    correction = log_ratio / lam
    exact: Array = np.minimum(continuous, continuous + correction)
    return exact


def sampled_gaussian_renyi(mu: float, rate: float, alphas: Array) -> Array:
    """Return the larger divergence of G(μ) on a Poisson sample, over removing and adding a unit.

    Mironov, Talwar, Zhang 2019: removing is E[(1 − q + qe^L)^α], a binomial sum at whole orders,
    and never smaller than adding (their Theorem 5). Between whole orders above 64 the convex K is
    bounded by its chord. Below, the integral is a trapezoid sum of an analytic function,
    exponentially exact.

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import sampled_gaussian_renyi
    >>> round(float(sampled_gaussian_renyi(1.0, 0.01, np.array([8.0]))[0]), 15)
    0.000893643907606

    Law: tests/privacy/test_divergence.py::TestSampledGaussian
    """
    divergences = list[float]()
    for alpha in map(float, alphas):
        divergences.append(_sampled_cumulant(mu, rate, alpha) / (alpha - 1))
    return np.array(divergences)


@lru_cache(maxsize=4096)
def _sampled_cumulant(mu: float, rate: float, alpha: float) -> float:
    """Return K(α − 1): a sum at whole orders, else an integral up to order 64, a chord beyond."""
    floor = math.floor(alpha)
    if alpha == floor:
        return _whole_order(mu, rate, floor)
    if alpha <= _MAX_INTEGRATED_ORDER:
        return _any_order(mu, rate, alpha)
    # K is convex, so the chord between whole orders is an upper bound.
    weight = alpha - floor
    at_floor = _whole_order(mu, rate, floor)
    at_next = _whole_order(mu, rate, floor + 1)
    return (1 - weight) * at_floor + weight * at_next


def _whole_order(mu: float, rate: float, alpha: int) -> float:
    """Sum ln(1 + Σ_{k≥2} C(α,k)(1−q)^(α−k) q^k (e^(k(k−1)μ²/2) − 1)): no cancellation."""
    if rate == 1:
        return alpha * (alpha - 1) * mu * mu / 2
    k = np.arange(2, alpha + 1)
    log_choose = gammaln(alpha + 1) - gammaln(k + 1) - gammaln(alpha - k + 1)
    gain = k * (k - 1) * mu * mu / 2
    log_gain = np.log(-np.expm1(-gain))
    log_stays_out = (alpha - k) * math.log1p(-rate)
    log_binomial = log_choose + log_stays_out + k * math.log(rate)
    logs = log_binomial + gain + log_gain
    # Upper bound of the rounding error of the log-factorials; added, so that K is no less.
    error = alpha * math.log(alpha) * 2.0**-50
    return float(np.logaddexp(0.0, logsumexp(logs) + error))


def _any_order(mu: float, rate: float, alpha: float) -> float:
    """Integrate E[(1 + y)^α − 1 − αy], y = q(e^L − 1), over L ~ N(−μ²/2, μ²).

    The subtracted terms have mean zero. The integrand is never negative, and analytic in a strip of
    half-width π in L, so a trapezoid sum converges exponentially.
    """
    # In standard deviations; the error is e^(−2π·strip/width) < 1e-20.
    width = min(1.0, math.pi / mu) / 8
    last = 12 + alpha * mu + width
    z = np.arange(-12.0, last, width)
    loss = mu * z - mu * mu / 2
    log_width = math.log(width / math.sqrt(2 * math.pi))
    log_weight = -z * z / 2 + log_width
    # ln y, used only where the loss is above 1: below, the maximum keeps the logarithm defined.
    large_loss = np.maximum(loss, 1.0)
    log_gain = np.log1p(-np.exp(-large_loss))
    log_y = math.log(rate) + large_loss + log_gain
    log_power = alpha * np.logaddexp(0.0, log_y)
    # There (1 + y)^α may overflow, and its logarithm is taken.
    far = (loss > 1) & (log_power > 30)
    y = rate * np.expm1(np.where(far, 0.0, np.minimum(loss, _MAX_LOSS)))
    # e^loss leaves the floats where a tiny rate keeps y small: there y is taken by its logarithm.
    beyond = (loss > _MAX_LOSS) & ~far
    y = np.where(beyond, np.exp(np.where(beyond, log_y, 0.0)), y)
    near_terms = convex_power(y, alpha) * np.exp(log_weight)
    near_sum = float(np.sum(np.where(far, 0.0, near_terms)))
    # (1 + αy)/(1 + y)^α, below 1.
    log_linear = np.logaddexp(0.0, math.log(alpha) + log_y)
    subtracted = np.exp(log_linear - log_power)
    log_kept = np.log1p(-np.where(far, subtracted, 0.0))
    log_terms = log_power + log_kept + log_weight
    far_logs = np.where(far, log_terms, -np.inf)
    log_far_sum = np.logaddexp.reduce(far_logs)
    cumulant = float(np.logaddexp(math.log1p(near_sum), log_far_sum))
    return (1 + _CANCELLATION) * cumulant
