"""Prices in 60-digit arithmetic, written straight from the definitions; shares no code with the package."""

import math

from mpmath import mp, mpf

from support.untraced import untraced

mp.dps = 60


@untraced
def gaussian_delta(mu, epsilon):
    mu, epsilon = mpf(mu), mpf(epsilon)
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@untraced
def gaussian_epsilon(mu, delta, start):
    """The root near a start."""
    return mp.findroot(lambda e: mp.log(gaussian_delta(mu, e)) - mp.log(mpf(delta)), mpf(start))


@untraced
def responses_delta(epsilon0, times, epsilon):
    epsilon0, epsilon = mpf(epsilon0), mpf(epsilon)
    p = 1 / (1 + mp.exp(-epsilon0))
    q = 1 - p
    grown = mp.exp(epsilon)
    terms = (
        math.comb(times, j) * (p**j * q ** (times - j) - grown * q**j * p ** (times - j))
        for j in range(times + 1)
    )
    return mp.fsum(term for term in terms if term > 0)


@untraced
def renyi_of_atoms(p, q, alpha):
    alpha = mpf(alpha)
    return mp.log(mp.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (
        alpha - 1
    )


def lattice_laplace(ratio, steps):
    """The atoms of two-sided geometric noise, seen from 0 and from `steps`, with equal losses merged."""
    a = mp.exp(-mpf(ratio) / steps)
    head = 1 / (1 + a)  # everything at or below 0, seen from 0
    p = [head] + [a**j * (1 - a) / (1 + a) for j in range(1, steps)] + [a**steps / (1 + a)]
    return p, p[::-1]


@untraced
def laplace_renyi(ratio, alpha):
    x, a = mpf(ratio), mpf(alpha)
    return mp.log(
        a / (2 * a - 1) * mp.exp((a - 1) * x) + (a - 1) / (2 * a - 1) * mp.exp(-a * x)
    ) / (a - 1)


def response_atoms(epsilon, options):
    e = mp.exp(mpf(epsilon))
    w = e + options - 1
    return [e / w, 1 / w] + [1 / w] * (options - 2), [1 / w, e / w] + [1 / w] * (options - 2)


@untraced
def sampled_gaussian_renyi(mu, rate, alpha, *, adds=False):
    """A trapezoid sum with a step far finer than needed, in 40 digits."""
    with mp.workdps(40):
        mu, q, a = mpf(mu), mpf(rate), mpf(alpha)
        power = 1 - a if adds else a
        step = min(mpf(1), mp.pi / mu) / 12
        first, last = int(-16 / step), int((16 + max(power, 1) * mu) / step)
        root = mp.sqrt(2 * mp.pi)
        grown, rise = mp.exp(mu * first * step - mu * mu / 2), mp.exp(mu * step)
        terms = []
        for i in range(first, last + 1):
            terms.append(mp.exp(-((i * step) ** 2) / 2) * (1 - q + q * grown) ** power)
            grown *= rise
        return mp.log(mp.fsum(terms) * step / root) / (a - 1)


def zcdp_epsilon(rho, delta, alpha):
    rho, delta, a = mpf(rho), mpf(delta), mpf(alpha)
    return rho * a + mp.log(1 / (a * delta)) / (a - 1) + mp.log(1 - 1 / a)


@untraced
def discrete_gaussian_atoms(variance, shift, reach=80):
    v = mpf(variance)
    mass = [mp.exp(-(mpf(k) ** 2) / (2 * v)) for k in range(-reach, reach + 1)]
    total = mp.fsum(mass)
    p = [m / total for m in mass]
    return p[shift:], p[: len(p) - shift]
