"""Dominating pairs of noise on the integers: discrete Laplace, discrete Gaussian, binomial.

Few atoms are listed one by one. Many atoms are merged into blocks that dominate them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import fraction_up, up
from ...arithmetic.special import gammaln, ndtr, xlogy
from ...frozen import frozen, replace
from ..loss.atoms import Atoms, binary
from ..loss.loss_masses import Array, Lattice
from .hyperbola import Hyperbola, discrete_laplace_hull

ERROR = 2.0**-40
"""Relative error of the masses below, stated generously."""
REACH = 26.5
"""Deviations kept on each side.

The mass beyond is below 1e-154 and is given up as an infinite loss.
"""
MAX_LISTED_ATOMS = 2**14
"""Largest number of atoms listed one by one."""
MAX_TRIALS = 2**62
"""Trials that noise can have; beyond, floats no longer tell the losses apart."""
_FEW_TRIALS = 1000
"""Trials whose binomial coefficients are computed as whole numbers."""
_LONG_SHIFT = 64
"""Shift from which a difference of two logarithms is faster than a sum, and exact enough."""


@frozen
class _Law:
    """P at y and the loss at y, increasing, for whole y in low..high and smooth between."""

    mass: Callable[[Array], Array]
    loss: Callable[[Array], Array]
    low: int
    high: int


def discrete_laplace(rate: Fraction, steps: int) -> Atoms | Hyperbola:
    """Make the pair of discrete Laplace noise a^|x|, a = e^−rate, shifted by n steps.

    Losses rate·(n − 2j). P-masses: 1/(1+a) at +n·rate, a^n/(1+a) at −n·rate, (1−a)a^j/(1+a)
    between. Vector shifts reduce to their L1 norm as for `laplace` (on the integers the trade-off
    functions of whole shifts have matching knots). Very long shifts take the hyperbola through
    the same points, which dominates.

    Law: tests/privacy/test_pair.py::TestLatticeNoise

    >>> from discreet.privacy.pairs.lattice import discrete_laplace
    >>> from fractions import Fraction
    >>> discrete_laplace(Fraction(1, 2), 1).losses.tolist()
    [-0.5, 0.5]
    >>> len(discrete_laplace(Fraction(1, 2), 3).losses)
    4
    """
    if steps == 1:
        return binary(rate)
    if steps > MAX_LISTED_ATOMS:
        return discrete_laplace_hull(rate, steps)
    float_rate = float(rate)
    j = np.arange(steps, -1, -1.0)
    total = 1 + math.exp(-float_rate)
    p = np.exp(-float_rate * j) / total
    p[1:-1] *= -math.expm1(-float_rate)
    losses = float_rate * (steps - 2 * j)
    limit = rate * steps
    lattice = Lattice(2 * rate, -limit)
    return Atoms(losses, p, Fraction(0), limit, lattice)


def discrete_gauss(variance: Fraction, shift: int) -> Atoms:
    """Make the pair of the discrete Gaussian e^{−x²/2σ²} on the integers, moved by `shift` = n.

    The loss at y steps from the centre of P is n(2y + n)/2σ², its P-mass the law itself. The law
    is symmetric, so both directions have the same pair.

    Law: tests/privacy/test_pair.py::TestLatticeNoise

    >>> from discreet.privacy.pairs.lattice import discrete_gauss
    >>> from fractions import Fraction
    >>> round(discrete_gauss(Fraction(1), 1).delta(1.0), 9)
    0.141351339
    """
    float_variance = float(variance)
    deviation = math.sqrt(float_variance)
    reach = math.ceil(REACH * deviation) + 2
    if float_variance > 9:
        # Above σ = 3 the sum is σ√2π to 1e-70 (Poisson summation).
        total = math.sqrt(2 * math.pi * float_variance)
    else:
        last = min(reach, 100)
        few = np.arange(-last, last + 1.0)
        weights = np.exp(-few * few / (2 * float_variance))
        total = float(weights.sum())
    pitch = shift / variance
    offset = Fraction(shift * shift) / (2 * variance)
    slope = float(pitch)
    start = float(offset)

    def mass(y: Array) -> Array:
        weights = np.exp(-y * y / (2 * float_variance))
        return weights / total

    def loss(y: Array) -> Array:
        return slope * y + start

    beyond = float(ndtr(-reach / deviation))
    law = _Law(mass, loss, -reach, reach)
    return _pair(law, beyond, Lattice(pitch, offset))


def binomial(trials: int, shift: int) -> Atoms:
    """Make the pair of Bin(N, ½) noise moved by `shift` = n.

    The loss is infinite where only P has mass. The law is symmetric and log-concave, so both
    directions agree and vector shifts reduce to their L1 norm.

    Law: tests/privacy/test_pair.py::TestLatticeNoise

    >>> from discreet.privacy.pairs.lattice import binomial
    >>> binomial(4, 1).top, binomial(4, 5).top
    (Fraction(1, 16), Fraction(1, 1))
    """
    if trials > MAX_TRIALS:
        # The further trials are noise on top of a release: they can only make it cost less. The
        # pair is too large by an unknown amount, so that it says nothing from below (`spare`).
        return replace(binomial(MAX_TRIALS, shift), spare=1.0)
    if trials <= _FEW_TRIALS:
        return _exact_binomial(trials, shift)
    reach = math.ceil(REACH * math.sqrt(trials) / 2)
    low = max(trials // 2 - reach, 0)
    high = min((trials + 1) // 2 + reach, trials)
    if trials - shift < low:
        # All of P lies where Q has next to nothing: the whole mass counts as an infinite loss.
        return Atoms(np.zeros(1), np.zeros(1), Fraction(1))
    # Hoeffding bounds each of the two tails beyond the reach.
    beyond = math.exp(-2 * reach * (reach / trials))

    def mass(y: Array) -> Array:
        return np.exp(_log_binomial(trials, y))

    last = min(high, trials - shift)
    law = _Law(mass, _binomial_loss(trials, shift), low, last)
    pair = _pair(law, beyond, None)
    if trials - shift >= high:
        return pair
    # P-mass above N − n has no Q-mass. It is 1 minus all other mass, and the masses' error on top.
    missing = max(0.0, 1 - float(pair.p.sum()))
    top = Fraction(min(1.0, missing + ERROR))
    return replace(pair, top=top, spare=pair.spare + 2 * ERROR)


def _exact_binomial(trials: int, shift: int) -> Atoms:
    """Make the pair of binomial noise from whole binomial coefficients."""
    ways = [math.comb(trials, y) for y in range(trials + 1)]
    chances = [way / 2**trials for way in ways]
    both = max(0, trials + 1 - shift)
    # Outputs that only P can have: their mass is at an infinite loss, exactly.
    top = Fraction(sum(ways[both:]), 2**trials)
    if both == 0:
        return Atoms(np.zeros(1), np.zeros(1), top)
    p = np.array(chances[:both])
    q = np.array(chances[shift:])
    return Atoms(np.log(p / q), p, top)


def _log_binomial(trials: int, y: Array, more: int = 0) -> Array:
    """Return ln of C(N, y + more) 2^−N to 1e-13, also for huge N.

    The main parts of Stirling's formula are cancelled algebraically (Loader 2000). Beyond 2^53 the
    sum y + more is no float; its distance from N/2 is.
    """
    # u = (2k − N)/N is exact where k = y + more is not.
    u = ((2 * y - trials) + 2 * more) / trials
    y = y + more
    # main = (1+u)ln(1+u) + (1−u)ln(1−u), whose ends at ±1 are 2 ln 2.
    largest = 1 - 2.0**-50
    inside = np.clip(u, -largest, largest)
    odds = np.log1p(inside) - np.log1p(-inside)
    main = inside * odds + np.log1p(-inside * inside)
    at_end = np.abs(u) >= 1
    main[at_end] = 2 * math.log(2)
    # Near the middle its two parts cancel, so that the power series takes over.
    small = np.abs(u) < 0.05
    main[small] = _entropy_series(u[small] ** 2)
    all_trials = np.array([float(trials)])
    rests = _stirling_rest(all_trials) - _stirling_rest(y) - _stirling_rest(trials - y)
    logs: Array = rests - trials / 2 * main
    return logs


def _entropy_series(v: Array) -> Array:
    """Return Σ v^m/(m(2m−1)) up to v^7: (1+u)ln(1+u) + (1−u)ln(1−u) at v = u² < 0.0025."""
    # Horner's scheme, from the last coefficient to the first.
    sums = 1 / 66 + v / 91
    for coefficient in (1 / 45, 1 / 28, 1 / 15, 1 / 6, 1):
        sums = coefficient + v * sums
    return v * sums


def _stirling_rest(z: Array) -> Array:
    """Return ln Γ(z+1) − z ln z + z: the part that Stirling's formula leaves."""
    w = np.maximum(z, 16.0)
    # Stirling's series in 1/w²; from 16 on its next term is below 1e-16.
    square = w**2
    sums = 1 / 1680 - 1 / 1188 / square
    for coefficient in (1 / 1260, 1 / 360, 1 / 12):
        sums = coefficient - sums / square
    main = np.log(2 * math.pi * w) / 2
    large = main + sums / w
    small: Array = gammaln(z + 1) - xlogy(z, z) + z
    return np.where(z >= 16, large, small)


def _binomial_loss(trials: int, shift: int) -> Callable[[Array], Array]:
    """Return the loss ln f(y)/f(y+n) = Σ_i ln((y+i)/(N−y−i+1)) as a function of y."""

    def loss(y: Array) -> Array:
        if shift > _LONG_SHIFT:
            return _log_binomial(trials, y) - _log_binomial(trials, y, shift)
        total = np.zeros(len(y))
        for i in range(1, shift + 1):
            # ln of a ratio near 1, as ln(1 + (numerator − denominator)/denominator).
            denominator = trials - y - i + 1
            difference = 2 * (y + i) - trials - 1
            total += np.log1p(difference / denominator)
        return total

    return loss


def _pair(law: _Law, beyond: float, lattice: Lattice | None) -> Atoms:
    """List the atoms of a law with increasing loss.

    The mass beyond its range goes up: from below to the first atom, from above to infinity.
    """
    split = 0.0
    below = None
    if law.high - law.low >= 4 * MAX_LISTED_ATOMS:
        losses, p, below = _blocks(law)
        split = up(float(np.diff(losses)[::2].max()))
        lattice = None
    else:
        y = np.arange(law.low, law.high + 1.0)
        losses = law.loss(y)
        p = law.mass(y)
    p[0] += beyond
    # A lower bound takes off both tails, as neither is known to be there.
    spare = up(2 * beyond)
    top = fraction_up(beyond)
    return Atoms(losses, p, top, None, lattice, 0.0, ERROR, spare, split, below)


def _blocks(law: _Law) -> tuple[Array, Array, tuple[Array, Array]]:
    """Merge runs of atoms: put the mass of a run on its two end losses so that P and Q are kept.

    A law between its ends is dominated by the ends (convexity). A run of B values is summed by the
    three-point rule that is exact for polynomials of degree 5. It errs by 1e-13, as B is a small
    part of a deviation. For lower bounds each run is one output (a post-processing): one loss.
    """
    count = law.high - law.low
    half = max(1, count // MAX_LISTED_ATOMS // 2)
    width = 2 * half + 1
    first = float(law.low + half)
    center = np.arange(first, law.high + 1.0, float(width))
    second, fourth = _power_sums(half)
    node = math.sqrt(fourth / second)
    side = second * second / (2 * fourth)
    weights = (width - 2 * side, side, side)
    nodes = (center, center - node, center + node)
    p = q = np.zeros(len(center))
    for weight, at in zip(weights, nodes, strict=True):
        mass = weight * law.mass(at)
        ratio = np.exp(-law.loss(at))
        p = p + mass
        q = q + mass * ratio
    low = law.loss(center - half)
    high = law.loss(center + half)
    # A run that Q never reaches, or whose ends floats do not tell apart, goes up entirely.
    with np.errstate(divide="ignore"):
        # Keeping P and Q gives the part at the upper end; four errors more move it up, safely.
        log_ratio = low + np.log(q / p)
        kept = -np.expm1(log_ratio) + 4 * ERROR
        upper = kept / -np.expm1(low - high)
    upper = np.clip(upper, 0.0, 1.0)
    masses = np.stack((p * (1 - upper), p * upper), 1)
    losses = np.stack((low, high), 1)
    # ln P/Q of a run as one output, rounded down. It is never below the run's least loss, which
    # stands for it where Q is below the least float.
    merged = np.where(q > 0, low - log_ratio - 8 * ERROR, low)
    return losses.ravel(), masses.ravel(), (np.clip(merged, low, high), p)


def _power_sums(half: int) -> tuple[int, int]:
    """Return Σ j² and Σ j⁴ over −half..half."""
    product = half * (half + 1) * (2 * half + 1)
    second = product // 3
    factor = 3 * half * half + 3 * half - 1
    fourth = product * factor // 15
    return second, fourth
