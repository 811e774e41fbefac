"""Gaussian differential privacy: the exact curve of N(0, 1) against N(μ, 1), and which events are no worse than it.

Squares add: k events of μ are one of μ√k, exactly (Dong, Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ...arithmetic.root import bracket, crossing
from ...arithmetic.rounding import fraction_up
from ..events import DiscreteGaussianNoise, Event, ExponentialSelection, GaussianNoise, Parallel, Promise, Sampled
from ..measures import GaussianDP
from .parts import Parts, total
from .pure import price_pure

__all__ = ["delta", "epsilon", "exact_square", "mu", "mu_of_pure", "price_gdp", "tradeoff"]

_SMALL = 0.25  # below this μ the two tails nearly cancel and are integrated instead


def delta(mu: float, epsilon: float) -> float:
    """Give the exact δ(ε) of μ-Gaussian DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle, Wang 2018, Theorem 8).

    Not rounded; its relative error is below 1e-12 down to δ = 1e-300 and for every μ ≥ 1e-9, also at negative ε.

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
    """Give ln δ(ε) for ε ≥ 0 and μ > 0, in the form ½ e^−a² (erfcx(a) − erfcx(b)), a, b = (ε/μ ∓ μ/2)/√2."""
    from scipy.special import erfcx, log_ndtr

    a, b = _ends(mu, epsilon)
    if a > 1e4:
        return -a * a  # the factor left out is below 1, so this is on the safe side, at e^-100000000
    if mu < _SMALL:
        return -a * a + math.log(_slab((a + b) / 2, mu / math.sqrt(8)) / 2)
    if a > 0:
        return -a * a + math.log((float(erfcx(a)) - float(erfcx(b))) / 2)
    top = float(log_ndtr(-a * math.sqrt(2)))
    rest = -a * a + math.log(float(erfcx(b)) / 2)  # e^ε Φ(−b√2) without the large ε, as b² − a² = ε
    return top + math.log1p(-math.exp(rest - top))


# Gauss–Legendre nodes and weights on (−1, 1), ten points: exact far beyond double precision over a width of 0.18
_NODES = (0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717)
_WEIGHTS = (0.2955242247147529, 0.2692667193099963, 0.2190863625159821, 0.1494513491505806, 0.0666713443086881)


def _slab(middle: float, half: float) -> float:
    """Integrate −erfcx' = 2/√π − 2x erfcx(x) over middle ± half: the difference of two nearly equal numbers."""
    from scipy.special import erfcx

    area = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        for x in (middle - half * node, middle + half * node):
            area += weight * (_far(x) if x > 8 else 2 / math.sqrt(math.pi) - 2 * x * float(erfcx(x)))
    return half * area


def _far(x: float) -> float:
    """Give 2/√π − 2x erfcx(x) for large x by its alternating asymptotic series, stopped at the least term."""
    term, area, k = 1.0, 0.0, 1
    while True:
        term *= (2 * k - 1) / (2 * x * x)
        if term < 1e-18 * max(area, 1e-300) or (2 * k + 1) > 2 * x * x:
            return 2 / math.sqrt(math.pi) * area
        area += term if k % 2 else -term
        k += 1


def epsilon(mu: float, delta: float) -> float:
    """Give the least ε with δ(ε) ≤ delta, from the safe side of the root.

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
    guess = mu * (mu / 2 + math.sqrt(-2 * target))  # the tail bound P[L > ε] ≤ δ is always on the safe side
    return crossing(lambda e: log_delta(mu, e) - target, 0.0, guess)[1]


def mu(epsilon: float, delta: float) -> float:
    """Give the largest μ whose curve passes under (ε, δ), from the safe side of the root.

    >>> round(1 / mu(1.0, 1e-6), 9)
    4.224678889
    """
    if delta <= 0:
        return 0.0
    target = math.log(delta)
    noise = bracket(lambda s: log_delta(1 / s, epsilon) - target, 1.0)
    return 1 / crossing(lambda s: log_delta(1 / s, epsilon) - target, *noise)[1]


def tradeoff(mu: float, false_positive: float) -> float:
    """Give the least false-negative rate of a test with this false-positive rate, Φ(Φ⁻¹(1 − α) − μ).

    >>> round(tradeoff(1.0, 0.05), 6)
    0.740489
    """
    from scipy.special import ndtr, ndtri

    return float(ndtr(-ndtri(false_positive) - mu))


def mu_of_pure(epsilon: float) -> float:
    """Give the least μ with G(μ) dominating every ε-DP mechanism, −2Φ⁻¹(1/(1+e^ε)).

    Randomized response dominates all ε-DP mechanisms; its trade-off function has one corner, at α = β = 1/(1+e^ε), and
    G(μ) passes through it. G(μ) is convex and meets the ends (0, 1), (1, 0), so it lies under both chords everywhere.
    (Dong, Roth, Su 2022, in the language of trade-off functions.)

    >>> round(mu_of_pure(1.0), 6)
    1.232035
    """
    from scipy.special import erfinv, ndtri_exp

    if epsilon < 1:  # near ½ the quantile would lose its digits; the same number, by 1 − 2/(1+e^ε) = tanh(ε/2)
        return math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2)))
    return float(-2 * ndtri_exp(-math.log1p(math.exp(epsilon)) if epsilon < 700 else -epsilon))


def price_gdp(events: Parts | Event | Iterable[Event]) -> Fraction | None:
    """Give a μ² for which the events are μ-Gaussian DP, or None if we know none.

    Exact for Gaussian noise: Δ2²/σ². On a lattice the discrete Gaussian is a little worse than the continuous one (it
    is not Δ2/σ-GDP) and is charged for it. A pure event is charged `mu_of_pure`, one of bounded range the least that
    holds for its range (`bounded_range`), both rounded up.

    >>> price_gdp(GaussianNoise.of(scale=10, sensitivity=1))
    Fraction(1, 100)
    """
    return total(events, _one)


def _one(atom: Event) -> Fraction | None:
    exact = exact_square(atom)
    if exact is not None:
        return exact
    known = _known(atom)
    pure = price_pure(atom)
    through = None if pure is None else fraction_up(mu_of_pure(float(pure)) ** 2) if pure else Fraction()
    return min((c for c in (known, through) if c is not None), default=None)


def exact_square(atom: Event) -> Fraction | None:
    """Give μ² if the event is exactly Gaussian: no more and no less private than G(μ)."""
    match atom:
        case GaussianNoise(step=step) if step == 0:
            return atom.squared_sensitivity / atom.variance
        case Promise(measure=GaussianDP(squared=squared)):
            return squared
    return None


def nearly_exact(atom: Event) -> bool:
    """Tell whether the Gaussian price of an event is exact, or dear by less than one part in 2^28.

    >>> nearly_exact(GaussianNoise(1, 1, step="1/100000000")), nearly_exact(GaussianNoise(1, 1, step="1/2"))
    (True, False)
    """
    match atom:
        case GaussianNoise():
            return atom.variance >= 2**24 * atom.step**2
        case DiscreteGaussianNoise():
            return atom.variance >= 2**24
    return exact_square(atom) is not None


def _known(atom: Event) -> Fraction | None:
    match atom:
        case GaussianNoise():
            return atom.squared_sensitivity / atom.variance * _lattice(atom.variance / atom.step**2)
        case DiscreteGaussianNoise():
            from .zcdp import moved

            return moved(atom) / atom.variance * _lattice(atom.variance)
        case ExponentialSelection():
            from .bounded_range import range_square

            return range_square(atom.epsilon)
        case Sampled():  # a mixture with the neighbour's own law is no easier to tell apart
            return price_gdp(atom.event)
        case Parallel():
            from .group import parallel_price

            return parallel_price(atom, price_gdp, 4)
    return None


def _lattice(variance: Fraction) -> Fraction:
    """Give the factor on μ² that makes the discrete Gaussian of this variance (in steps²) Gaussian DP.

    With z_k = Φ⁻¹(P[X < k]) the shift by one step is G(μ) exactly for μ ≥ max_k z_k − z_{k−1}: both trade-off functions
    meet at the corners and the discrete one is straight between them. The maximum is at the centre (checked over all k
    in the tests; by Euler and Maclaurin σ·(z_k − z_{k−1}) = 1 + 1/24σ² + (21 − 6y²)/5760σ⁴ at y = k/σ), where it is
    2Φ⁻¹((1 + P[X = 0])/2). A shift by m steps is m such shifts, a vector of shifts adds their squares.
    """
    if variance >= 16:
        return 1 + 1 / (11 * variance)
    from scipy.special import ndtri_exp

    s2 = float(variance)
    rest = sum(math.exp((1 - k * k) / (2 * s2)) for k in range(1, 50))  # P[X > 0]/P[X = 0], over its first term
    log_tail = -1 / (2 * s2) + math.log(rest)
    unit = -2 * float(ndtri_exp(log_tail - math.log1p(2 * math.exp(log_tail))))
    return fraction_up(unit * unit * s2)
