"""Pairs of noise on the integers: exact atoms where they are few, sound blocks of atoms where they are many."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import fraction_up, up
from ...arithmetic.special import gammaln, ndtr, xlogy
from ...frozen import frozen, replace
from .atoms import Atoms, binary
from .hyperbola import Hyperbola, discrete_laplace_hull
from .loss_masses import Array, Lattice

ERROR = 2.0**-40
"""Relative error of the masses below, stated generously."""
REACH = 26.5
"""Deviations kept on each side: what lies beyond has mass below 1e-154 and is given up as an infinite loss."""
FEW = 2**14
"""Largest number of atoms listed one by one."""
MOST = 2**62
"""Trials that noise can have; beyond, floats no longer tell the losses apart."""


@frozen
class _Law:
    """P at y and the loss at y, increasing, for whole y in low..high and smooth between."""

    mass: Callable[[Array], Array]
    loss: Callable[[Array], Array]
    low: int
    high: int


def discrete_laplace(rate: Fraction, steps: int) -> Atoms | Hyperbola:
    """Make the pair of discrete Laplace noise a^|x|, a = e^−rate, shifted by whole steps n: losses rate·(n − 2j).

    P-masses: 1/(1+a) at +n·rate, a^n/(1+a) at −n·rate, (1−a)a^j/(1+a) between. Vector shifts reduce to their L1 norm as
    for `laplace` (on the integers the trade-off functions of whole shifts have matching knots). Very long shifts take
    the hyperbola through the same points, which dominates.

    >>> from discreet.privacy.pairs.lattice import discrete_laplace
    >>> from fractions import Fraction
    >>> discrete_laplace(Fraction(1, 2), 1).losses.tolist(), len(discrete_laplace(Fraction(1, 2), 3).losses)
    ([-0.5, 0.5], 4)
    """
    if steps == 1:
        return binary(rate)
    if steps > FEW:
        return discrete_laplace_hull(rate, steps)
    a, j = float(rate), np.arange(steps, -1, -1.0)
    share = np.exp(-a * j) / (1 + math.exp(-a))
    share[1:-1] *= -math.expm1(-a)
    limit = rate * steps
    return Atoms(
        float(rate) * (steps - 2 * j), share, Fraction(0), limit, Lattice(2 * rate, -limit)
    )


def discrete_gauss(variance: Fraction, shift: int) -> Atoms:
    """Make the pair of the discrete Gaussian e^{−x²/2σ²} on the integers, moved by `shift` = n.

    The loss at y steps from the centre of P is n(2y + n)/2σ², its P-mass the law itself. The law is symmetric, so both
    directions have the same pair.

    >>> from discreet.privacy.pairs.lattice import discrete_gauss
    >>> from fractions import Fraction
    >>> round(discrete_gauss(Fraction(1), 1).delta(1.0), 9)
    0.141351339
    """
    v = float(variance)
    reach = math.ceil(REACH * math.sqrt(v)) + 2
    few = np.arange(-min(reach, 100), min(reach, 100) + 1.0)  # above σ = 3 the sum is σ√2π to 1e-70
    total = math.sqrt(2 * math.pi * v) if v > 9 else float(np.exp(-few * few / (2 * v)).sum())
    pitch, offset = shift / variance, Fraction(shift * shift) / (2 * variance)
    slope, start = float(pitch), float(offset)
    law = _Law(
        lambda y: np.exp(-y * y / (2 * v)) / total, lambda y: slope * y + start, -reach, reach
    )
    return _pair(law, float(ndtr(-reach / math.sqrt(v))), Lattice(pitch, offset))


def binomial(trials: int, shift: int) -> Atoms:
    """Make the pair of Bin(N, ½) noise moved by `shift` = n: exact masses, infinite loss where only P can be.

    The law is symmetric and log-concave, so both directions agree and vector shifts reduce to their L1 norm.

    >>> from discreet.privacy.pairs.lattice import binomial
    >>> binomial(4, 1).top, binomial(4, 5).top
    (Fraction(1, 16), Fraction(1, 1))
    """
    if trials > MOST:  # the further trials are noise on top of a release: that can only cost less
        return replace(binomial(MOST, shift), spare=1.0)
    if trials <= 1000:
        ways = [math.comb(trials, y) for y in range(trials + 1)]
        counts = [way / 2**trials for way in ways]
        p = np.array(counts[: max(0, trials + 1 - shift)])
        q = np.array(counts[shift:])
        losses = np.log(p / q) if len(p) else np.zeros(1)
        return Atoms(losses, p if len(p) else np.zeros(1), Fraction(sum(ways[len(p) :]), 2**trials))
    reach = math.ceil(REACH * math.sqrt(trials) / 2)
    low, high = max(trials // 2 - reach, 0), min((trials + 1) // 2 + reach, trials)
    if trials - shift < low:
        return Atoms(np.zeros(1), np.zeros(1), Fraction(1))
    beyond = math.exp(-2 * reach * (reach / trials))  # Hoeffding
    law = _Law(
        lambda y: np.exp(_log_binomial(trials, y)),
        _binomial_loss(trials, shift),
        low,
        min(high, trials - shift),
    )
    pair = _pair(law, beyond, None)
    if trials - shift >= high:
        return pair
    top = Fraction(min(1.0, max(0.0, 1 - float(pair.p.sum())) + ERROR))
    return replace(pair, top=top, spare=pair.spare + 2 * ERROR)


def _log_binomial(trials: int, y: Array, more: int = 0) -> Array:
    """Return ln of C(N, y + more) 2^−N to 1e-13, also for huge N: Stirling's main parts cancel by hand (Loader 2000).

    Beyond 2^53 a float y has no room for what is added to it; its distance from N/2 has.
    """
    u = ((2 * y - trials) + 2 * more) / trials
    y = y + more
    inside = np.clip(u, -1 + 2.0**-50, 1 - 2.0**-50)
    main = inside * (np.log1p(inside) - np.log1p(-inside)) + np.log1p(-inside * inside)
    main[np.abs(u) >= 1] = 2 * math.log(2)
    small = np.abs(u) < 0.05
    v = u[small] ** 2
    main[small] = v * (
        1 + v * (1 / 6 + v * (1 / 15 + v * (1 / 28 + v * (1 / 45 + v * (1 / 66 + v / 91)))))
    )
    logs: Array = (
        _rest(np.array([float(trials)])) - _rest(y) - _rest(trials - y) - trials / 2 * main
    )
    return logs


def _rest(z: Array) -> Array:
    """Return ln Γ(z+1) − z ln z + z: what Stirling's formula leaves."""
    w = np.maximum(z, 16.0)
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / w**2) / w**2) / w**2) / w**2
    ) / w
    large = np.log(2 * math.pi * w) / 2 + series
    small: Array = gammaln(z + 1) - xlogy(z, z) + z
    return np.where(z >= 16, large, small)


def _binomial_loss(trials: int, shift: int) -> Callable[[Array], Array]:
    """Return ln f(y)/f(y+n) = Σ_i ln((y+i)/(N−y−i+1)); long shifts take the difference of the logarithms."""

    def loss(y: Array) -> Array:
        if shift > 64:
            return _log_binomial(trials, y) - _log_binomial(trials, y, shift)
        total = np.zeros(len(y))
        for i in range(1, shift + 1):
            rest = trials - y - i + 1
            total += np.log1p((2 * (y + i) - trials - 1) / rest)
        return total

    return loss


def _pair(law: _Law, beyond: float, lattice: Lattice | None) -> Atoms:
    """List the atoms of a law with increasing loss; what lies beyond its range goes up, at worst to infinity."""
    if law.high - law.low >= 4 * FEW:
        losses, p = _blocks(law)
        lattice = None
    else:
        y = np.arange(law.low, law.high + 1.0)
        losses, p = law.loss(y), law.mass(y)
    p[0] += beyond
    return Atoms(losses, p, fraction_up(beyond), None, lattice, 0.0, ERROR, up(2 * beyond))


def _blocks(law: _Law) -> tuple[Array, Array]:
    """Merge runs of atoms, then put the mass of a run on its two end losses so that P and Q are kept.

    A law between its ends is dominated by the ends (convexity). A run of B values sums to 1e-13 by the three-point rule
    that is exact for polynomials of degree 5, as B is a small part of a deviation.
    """
    half = max(1, (law.high - law.low) // FEW // 2)
    center = np.arange(float(law.low + half), law.high + 1.0, float(2 * half + 1))
    second, fourth = _powers(half)
    reach = math.sqrt(fourth / second)
    side = second * second / (2 * fourth)
    p = q = np.zeros(len(center))
    for weight, at in (
        (2 * half + 1 - 2 * side, center),
        (side, center - reach),
        (side, center + reach),
    ):
        mass = weight * law.mass(at)
        p, q = p + mass, q + mass * np.exp(-law.loss(at))
    low, high = law.loss(center - half), law.loss(center + half)
    with np.errstate(
        divide="ignore"
    ):  # a run that Q never reaches, or whose ends floats do not tell apart, goes up
        upper = (-np.expm1(low + np.log(q / p)) + 4 * ERROR) / -np.expm1(low - high)
    upper = np.clip(upper, 0.0, 1.0)
    return np.stack((low, high), 1).ravel(), np.stack((p * (1 - upper), p * upper), 1).ravel()


def _powers(half: int) -> tuple[int, int]:
    """Return Σ j² and Σ j⁴ over −half..half."""
    n = half
    return n * (n + 1) * (2 * n + 1) // 3, n * (n + 1) * (2 * n + 1) * (3 * n * n + 3 * n - 1) // 15
