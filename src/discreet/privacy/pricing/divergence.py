"""Rényi divergences of the laws that are sampled, in closed form, for arrays of orders α > 1. Nothing here rounds.

With K(λ) = ln E e^(λL), L the privacy loss and λ = α − 1, the divergence of order α is K(λ)/λ. Each K is written so
that no two nearly equal numbers are subtracted: small losses keep their digits.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...arithmetic.series import Array, convex_power, sinhc, xcoth
from ...arithmetic.special import gammaln, logsumexp


def response_renyi(epsilon: float, options: int, alphas: Array) -> Array:
    """Return ln((e^αε + e^((1−α)ε) + k − 2)/(e^ε + k − 1))/(α−1): randomized response among k (Mironov 2017, Prop. 5).

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import response_renyi
    >>> response_renyi(1.0, 2, np.array([2.0])).round(12).tolist()
    [0.735325664056]
    """
    lam, epsilon = (
        alphas - 1,
        max(epsilon, 1e-300),
    )  # a smaller one, which costs no more, has no logarithm
    spread = (
        np.log(-np.expm1(-lam * epsilon)) + np.log(-np.expm1(-alphas * epsilon)) + alphas * epsilon
    )
    grown = (
        spread - epsilon - math.log1p((options - 1) * math.exp(-epsilon))
    )  # ln of the part above 1
    return np.logaddexp(0.0, grown) / lam


def range_renyi(epsilon: float, alphas: Array) -> Array:
    """Return the largest divergence of a mechanism of bounded range ε.

    The likelihood ratio has mean 1 and lies in an interval [e^(t−ε), e^t], so a convex function of it is largest when
    it takes only the two ends; the worst t has e^t = (λ/α)(e^ε − e^−λε)/(1 − e^−λε) (cf. Dong, Durfee, Rogers 2020).

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import range_renyi
    >>> bool(range_renyi(1.0, np.array([2.0]))[0] < 2 / 8)
    True
    """
    lam = alphas - 1
    up = (
        epsilon
        + np.log(-np.expm1(-alphas * epsilon))
        - np.log(-np.expm1(-lam * epsilon))
        + np.log(lam / alphas)
    )
    up = np.clip(up, 0.0, epsilon)  # t: the larger loss
    log_mean = (
        lam * up
        + np.log(-np.expm1(-alphas * epsilon))
        - np.log(alphas)
        - math.log(-math.expm1(-epsilon))
    )
    down = epsilon - up
    high = -np.expm1(-down) / -math.expm1(-epsilon)  # P[L = t]
    with np.errstate(over="ignore", invalid="ignore"):  # where it is not taken
        exact = np.log1p(
            np.maximum(high * np.expm1(lam * up) + (1 - high) * np.expm1(-lam * down), 0.0)
        )
    eighth = alphas * epsilon * epsilon / 8
    value = np.minimum(np.where(lam * up > 1, log_mean, exact) / lam, eighth)
    return np.where(
        alphas * epsilon < 2e-3, eighth, value
    )  # there the two agree to 1e-7, and the first keeps its digits


def laplace_renyi(ratio: float, steps: int, alphas: Array) -> Array:
    """Return the divergence of Laplace noise with Δ1/b = ratio, continuous (steps 0) or on a lattice (steps in Δ1).

    Under √(pq) the loss has mass at its ends ±x and is even in between, so e^K is a mean of hyperbolic cosines. With
    t = α − ½ and h = x/steps it is 1 + (c(t) − c(½))/c(½), where c(t) = ½h·coth(½h)·cosh tx + ½h·coth(th)·sinh tx, and
    for h → 0 this is cosh tx + sinh(tx)/2t: Mironov 2017, Prop. 6. One step is randomized response.

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import laplace_renyi
    >>> laplace_renyi(1.0, 0, np.array([2.0])).round(12).tolist()
    [0.619123629999]
    """
    if ratio > 500:
        return np.full_like(alphas, ratio)
    x, h = ratio, ratio / steps if steps else 0.0
    ends, lean = 1 + xcoth(h / 2), xcoth(h / 2)
    t = np.minimum(alphas - 0.5, 300 / x)
    outer = 2 * np.sinh((t + 0.5) * x / 2) * np.sinh((t - 0.5) * x / 2)  # cosh tx − cosh ½x
    inner = (
        sinhc(t * x) - sinhc(x / 2) + xcoth(t * h) * (1 + sinhc(t * x)) - lean * (1 + sinhc(x / 2))
    )
    near = np.log1p((ends * outer + x / 2 * inner) / (ends * math.exp(x / 2))) / (t - 0.5)
    t = alphas - 0.5  # beyond tx = 300 only the growing exponentials count
    far = x + np.log(0.5 + (1 + xcoth(t * h)) / (4 * t * ends)) / (alphas - 1)
    return np.minimum(np.where(t * x > 300, far, near), x)


def discrete_gaussian_renyi(variance: float, shift: int, alphas: Array) -> Array:
    """Return the divergence of the discrete Gaussian on the integers and its shift by a whole Δ, never above αΔ²/2σ².

    Σ p^α q^(1−α) = e^(α(α−1)Δ²/2σ²)·θ((α−1)Δ)/θ(0) with θ(c) = Σ_x e^(−(x−c)²/2σ²) (Canonne, Kamath, Steinke 2020).

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import discrete_gaussian_renyi
    >>> discrete_gaussian_renyi(1.0, 1, np.array([2.0])).tolist()
    [1.0]
    """
    lam = alphas - 1
    top = alphas * shift * shift / (2 * variance)
    if variance > 4:  # θ(c)/θ(0) differs from 1 by less than 4e^(−2π²σ²) < 1e-33
        return top
    offset = np.abs(np.remainder(lam * shift + 0.5, 1.0) - 0.5)  # θ has period 1
    x = np.arange(-30, 31)[:, None]
    theta = np.sum(np.exp(-((x - offset) ** 2 - offset**2) / (2 * variance)), axis=0)
    none = float(np.sum(np.exp(-(x**2) / (2 * variance))))
    exact: Array = np.minimum(top, top + (np.log(theta / none) - offset**2 / (2 * variance)) / lam)
    return exact


def sampled_gaussian_renyi(mu: float, rate: float, alphas: Array) -> Array:
    """Return the larger divergence of G(μ) on a Poisson sample, over removing and adding a unit.

    Mironov, Talwar, Zhang 2019: removing is E[(1 − q + qe^L)^α], a binomial sum at whole orders, and never smaller than
    adding (their Theorem 5). Between whole orders above 64 the convex K is bounded by its chord; below, the integral is
    a trapezoid sum of an analytic function, exponentially exact.

    >>> import numpy as np
    >>> from discreet.privacy.pricing.divergence import sampled_gaussian_renyi
    >>> round(float(sampled_gaussian_renyi(1.0, 0.01, np.array([8.0]))[0]), 15)
    0.000893643907606
    """
    return np.array([_sampled(mu, rate, float(a)) / (float(a) - 1) for a in alphas])


@lru_cache(maxsize=4096)
def _sampled(mu: float, rate: float, alpha: float) -> float:
    floor = math.floor(alpha)
    if alpha == floor:
        return _whole_order(mu, rate, floor)
    if alpha <= 64:
        return _any_order(mu, rate, alpha)
    part = alpha - floor
    return (1 - part) * _whole_order(mu, rate, floor) + part * _whole_order(mu, rate, floor + 1)


def _whole_order(mu: float, rate: float, alpha: int) -> float:
    """Sum ln(1 + Σ_{k≥2} C(α,k)(1−q)^(α−k) q^k (e^(k(k−1)μ²/2) − 1)): no cancellation."""
    if rate == 1:
        return alpha * (alpha - 1) * mu * mu / 2
    k = np.arange(2, alpha + 1)
    choose = gammaln(alpha + 1) - gammaln(k + 1) - gammaln(alpha - k + 1)
    gain = k * (k - 1) * mu * mu / 2
    logs = (
        choose
        + (alpha - k) * math.log1p(-rate)
        + k * math.log(rate)
        + gain
        + np.log(-np.expm1(-gain))
    )
    slip = alpha * math.log(alpha) * 2.0**-50  # what the log-factorials may lose
    return float(np.logaddexp(0.0, logsumexp(logs) + slip))


def _any_order(mu: float, rate: float, alpha: float) -> float:
    """Integrate E[(1 + y)^α − 1 − αy], y = q(e^L − 1), over L ~ N(−μ²/2, μ²): the subtracted terms have mean zero.

    The integrand is never negative, and analytic in a strip of half-width π in L, so a trapezoid sum converges
    exponentially. What cancellation may lose near α = 1 is added.
    """
    width = (
        min(1.0, math.pi / mu) / 8
    )  # in standard deviations; the error is e^(−2π·strip/width) < 1e-20
    z = np.arange(-12.0, 12 + alpha * mu + width, width)
    loss = mu * z - mu * mu / 2
    log_weight = -z * z / 2 + math.log(width / math.sqrt(2 * math.pi))
    large = np.maximum(loss, 1.0)
    log_y = math.log(rate) + large + np.log1p(-np.exp(-large))
    power = alpha * np.logaddexp(0.0, log_y)
    far = (loss > 1) & (power > 30)  # there (1 + y)^α may overflow, and its logarithm is taken
    y = rate * np.expm1(np.where(far, 0.0, loss))
    near = float(np.sum(np.where(far, 0.0, convex_power(y, alpha) * np.exp(log_weight))))
    rest = np.exp(np.logaddexp(0.0, math.log(alpha) + log_y) - power)  # (1 + αy)/(1 + y)^α, below 1
    peak = np.where(far, power + np.log1p(-np.where(far, rest, 0.0)) + log_weight, -np.inf)
    return (1 + 2e-10) * float(np.logaddexp(math.log1p(near), np.logaddexp.reduce(peak)))
