"""The residue: the least part c of what is left, s, that a step M can be proved to take from a Gaussian budget.

Wanted is the least c such that M followed by G(√t), t = s − c, is no easier to tell apart than G(√s): δ_{M⊗G(√t)}(e) ≤
δ_{G(√s)}(e) at **every** real e, in both directions (`gdp` says why that makes a filter; cf. arXiv 2602.15815).

**Certified for all e, by signs instead of a grid.** Multiply by e^(−e/2): D̃(e) = e^(−e/2)(δ_{G(√s)} − δ_{M⊗G(√t)})
obeys D̃'' − D̃/4 = h, where h is the difference of the two densities of the loss under √(pq), and D̃ vanishes at ±∞.
Where h ≤ 0, D̃ has no negative minimum; where h ≥ 0 up to ±∞, D̃ ≥ 0. For M symmetric (its loss ℓ under √(pq) has an
even law ν),

    ratio of the densities = C·e^(−κu²/2)·∫cosh(uℓ/t)e^(−ℓ²/2t)dν,  κ = 1/t − 1/s.

If it crosses 1 at most twice on u > 0 (below, above, below) then either h ≤ 0 in the middle and D̃ ≥ 0 at once; or h
≥ 0 in the middle too, where D̃ is even and D̃'' ≥ D̃/4, so that D̃ grows away from 0 as soon as D̃(0) ≥ 0. So for all
e it is enough that **e = 0** holds: the total variation of M⊗G(√t) is at most that of G(√s), 2Φ(√s/2) − 1. That one
number has a closed form, and its root is the *exact* least c.

The crossings: in v = u², ∫cosh(uℓ/t)… − e^(κu²/2)/C is a power series whose coefficients have the signs of a_k − 1,
a_k ∝ m_2k/((2k−1)!!(κt²)^k), m_2k = ∫ℓ^2k e^(−ℓ²/2t)dν. If r_k = m_2k/m_(2k−2) has r_k/(2k−1) decreasing, a_k is
log-concave, a_k − 1 changes sign at most twice, and Descartes' rule gives at most two crossings. That holds
- for randomized response ε, ℓ = ±ε: r_k = ε² always;
- among k options (a loss of 0 too): if k − 2 ≤ 4e^(ε/2 − ε²/2t), which is r_2 ≤ 3r_1;
- for Laplace noise with x = Δ/b, on a lattice or not: if x·e^(x²/2t) ≤ 2. The ends ±x weigh so much that
  x²(1 − 2/(2k+1)) ≤ r_k ≤ x² for all k (the interior summed exactly for k = 1, by integral and maximum for k ≥ 2).

**In closed form.** If moreover a_1 ≤ a_0 the ratio only falls: nothing need be compared, and c(s − c) ≥ s·r_1 is
enough, checked in exact rationals.

**Selections.** With bounded range ε the worst loss takes two values ε apart, at any offset. Every such pair, followed
by G(√t), is a chord of the curve of G(√t); all of them together are one symmetric pair, and where ε ≤ 1.77 and t ≥
2ε² its ratio of densities is unimodal on u > 0 (docs/filters.md has the proof): again e = 0 is enough, and there the
worst offset is the middle, randomized response ε/2. Elsewhere, for each offset the logarithm of the ratio has second
derivative at most −κ + (ε/2t)², so c(s − c) ≥ s·ε²/4 makes it concave: at most two crossings on the whole line.

**Monotone.** If c is enough at s it is enough at every s' ≥ s: compose both sides with G(√(s'−s)). So costs are
tabulated at s rounded down to six bits. Near exhaustion, and for every other event, the cost is the plain μ² of
`gdp`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.root_finder import crossing
from ...arithmetic.rounding import MARGIN, fraction_up
from ...arithmetic.series import Array
from ...arithmetic.special import ndtr
from ...frozen import frozen, replace
from ..events import (
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    LaplaceNoise,
    Parallel,
    Response,
    TruncatedGeometricNoise,
)
from ..neighbours import ADD_REMOVE
from ..pricing.event_parts import flatten
from ..pricing.gdp import exact_square, price_gdp
from ..pricing.limits import LEAST
from ..pricing.pure import price_pure
from ..pricing.zcdp import laplace_shape

_BITS = 6
_PANELS = 128
_NOISE = (
    2.0**-46
)  # above the rounding error of a distance, a sum of at most 131 terms of total weight 1


@frozen
class SymmetricLoss:
    """A symmetric loss: its law under D (or one no better at e = 0), its r_1, and where the crossings are proved."""

    losses: Array
    weights: Array
    square: Fraction
    largest: float
    limit: float  # the crossings are proved for t with x²/2t at most this

    def distance(self, t: float) -> float:
        """Return the total variation of this followed by G(√t): Σ P(ℓ)·δ_{G(√t)}(−ℓ)."""
        root = math.sqrt(t)
        losses = np.maximum(
            self.losses, -600.0
        )  # δ falls, so this is no less, and weighs less than e^−600
        z = losses / root
        curve = ndtr(z + root / 2) - np.exp(-losses) * ndtr(z - root / 2)
        return float(np.dot(self.weights, curve))

    def proved(self, t: float) -> bool:
        """Return whether the ratio of densities is proved to cross 1 at most twice."""
        return self.largest**2 * (1 + MARGIN) <= 2 * t * (self.limit - abs(self.limit) * MARGIN)


def response(epsilon: float, options: int = 2) -> SymmetricLoss:
    """Spread of randomized response among `options`; with two it dominates every ε-DP mechanism.

    >>> import math
    >>> from discreet.privacy.filters.residue import response
    >>> round(response(1.0).distance(1e-9) - math.tanh(0.5), 9)
    0.0
    """
    ends, middle = np.array([1.0, math.exp(-epsilon)]), (options - 2) * math.exp(-epsilon)
    weights = np.array([*ends, middle]) / (ends.sum() + middle)
    losses = np.array([epsilon, -epsilon, 0.0])
    side = 2 * math.exp(-epsilon / 2)  # both ends under √(pq), where the middle weighs (k − 2)e^−ε
    square = fraction_up(epsilon**2 * side / (side + middle) if side else epsilon**2)
    limit = (
        epsilon / 2 - math.log((options - 2) / 4) if options > 2 else 1e300
    )  # with two options it is always proved
    return SymmetricLoss(losses, weights, square, epsilon, limit)


def laplace(ratio: float, steps: int) -> SymmetricLoss:
    """Spread of Laplace noise with Δ1/b = ratio and `steps` lattice steps in Δ1 (0: continuous).

    Beyond 128 steps the interior atoms are bounded by an integral and that by a trapezoid sum: e^(ℓ/2)δ(−ℓ) is convex.

    >>> import math
    >>> from discreet.privacy.filters.residue import laplace
    >>> round(laplace(1.0, 0).distance(1e-9) + math.expm1(-0.5), 6), round(laplace(1.0, 1).distance(1e-9), 9)
    (0.0, 0.462117157)
    """
    h = ratio / steps if steps else 0.0
    end = 1 / (1 + math.exp(-h))
    if 0 < steps <= _PANELS:
        inner = ratio - 2 * h * np.arange(1, steps)
        flat = np.full(steps - 1, math.tanh(h / 2))
    else:
        reach = ratio - h
        inner = np.linspace(-reach, reach, _PANELS + 1)
        flat = np.full(
            _PANELS + 1, (math.tanh(h / 2) / (2 * h) if h else 0.25) * 2 * reach / _PANELS
        )
        flat[[0, -1]] /= 2
    losses = np.array([ratio, -ratio, *inner])
    weights = np.array([end, end * math.exp(-ratio), *(flat * np.exp((inner - ratio) / 2))])
    limit = math.log(2 / ratio) if ratio < 2 else -1.0
    return SymmetricLoss(losses, weights, fraction_up(_second(ratio, steps)), ratio, limit)


def selection(epsilon: float) -> SymmetricLoss:
    """Spread of the worst mechanism of bounded range ε, at e = 0: randomized response ε/2; proved for t ≥ 2ε².

    >>> from discreet.privacy.filters.residue import selection
    >>> selection(1.0).proved(2.1), selection(1.0).proved(1.9), selection(1.8).proved(100.0)
    (True, False, False)
    """
    half = response(epsilon / 2)
    return replace(half, limit=1 / 16 if epsilon <= 1.77 else -1.0)


def _second(x: float, steps: int) -> float:
    """Return the mean square of the loss of Laplace noise under √(pq); the factor e^(−ℓ²/2t) only makes r_1 smaller."""
    if not steps:
        return x * x * (1 + x / 6) / (1 + x / 2)
    ends, n = -2 / math.expm1(-x / steps), float(steps)
    return x * x * (ends + (n - 1) * (n - 2) / (3 * n)) / (ends + n - 1)


@lru_cache(maxsize=2**10)
def charge(atom: Event, times: int, left: Fraction) -> Fraction | None:
    """Return what `times` copies of an atom take, one after the other, from what is left; None if it has no price.

    More than is left means that they do not fit. The copies are charged in runs, each at one tabulated cost.

    >>> from discreet.privacy import Response
    >>> from discreet.privacy.filters.residue import charge
    >>> from fractions import Fraction
    >>> float(charge(Response("1/100"), 500, Fraction("0.056"))) < 500 * 1.001e-4
    True
    """
    s, remaining = left, times
    while remaining:
        floor = _rounded(s)
        each = cost(atom, floor)
        if each is None:
            return None
        if each > s or not each:
            return left - s + remaining * each
        run = min(remaining, int((s - floor) / each) + 1) if remaining > 1 else 1
        s, remaining = s - run * each, remaining - run
    return left - s


def _rounded(s: Fraction) -> Fraction:
    """Round down to six significant bits; nothing left is 0."""
    if s <= 0:
        return Fraction()
    shift = s.numerator.bit_length() - s.denominator.bit_length() - _BITS
    if shift < 0:
        return Fraction((s.numerator << -shift) // s.denominator, 1 << -shift)
    return Fraction(s.numerator // (s.denominator << shift) << shift)


@lru_cache(maxsize=2**14)
def cost(atom: Event, left: Fraction) -> Fraction | None:
    """Return the least cost we can prove for one atom when at least `left` is left; None if it has no price.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.filters.residue import cost
    >>> from fractions import Fraction
    >>> cost(GaussianNoise.of(scale=10, sensitivity=1), Fraction(1))
    Fraction(1, 100)
    """
    exact = exact_square(atom)
    if exact is not None:
        return exact
    if isinstance(atom, Parallel) and atom.neighbours == ADD_REMOVE:
        return _parallel(atom, left)
    best = price_gdp(atom)
    for candidate in _candidates(atom, left):
        if candidate is not None and (best is None or candidate < best):
            best = candidate
    return best


def _parallel(atom: Parallel, left: Fraction) -> Fraction | None:
    """One unit is in one part: what is enough for the worst part is enough for each."""
    worst = Fraction()
    for part in atom.parts:
        parts, total = flatten(part), Fraction()
        if parts.leaks:
            return None
        for inner, times in parts.atoms:
            each = charge(inner, times, left - total)
            if each is None:
                return None
            total += each
        worst = max(worst, total)
    return worst


def _candidates(atom: Event, left: Fraction) -> Iterator[Fraction | None]:
    if not left:
        return
    if isinstance(atom, ExponentialSelection) and atom.epsilon >= LEAST:
        closed = _closed(atom.epsilon**2 / 4, left)
        yield closed
        yield _balanced(selection(float(atom.epsilon)), left, closed)
        return
    pure = price_pure(atom)
    if not pure or pure < LEAST or float(pure) ** 2 > 4 * left:
        return
    yield _closed(pure * pure, left)
    for spread in _spreads(atom, float(pure)):
        closed = _closed(spread.square, left)
        if closed is not None and spread.proved(float(left - closed)):
            yield closed
        balanced = _balanced(spread, left, closed)
        yield balanced
        if balanced is not None:  # the spreads are listed best first
            return


def _spreads(atom: Event, pure: float) -> Iterator[SymmetricLoss]:
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            yield laplace(*laplace_shape(atom))
        case Response() if atom.options > 2:
            yield response(pure, atom.options)
    yield response(pure)


def _closed(square: Fraction, left: Fraction) -> Fraction | None:
    """Return a c with c(s − c) ≥ s·r, in exact rationals, if there is one."""
    if left <= 4 * square:
        return None
    c = fraction_up(float(2 * square) / (1 + math.sqrt(1 - float(4 * square / left))))
    return c if c * (left - c) >= left * square and 2 * c <= left else None


def _balanced(spread: SymmetricLoss, left: Fraction, closed: Fraction | None) -> Fraction | None:
    """Return the least c at which the total variations balance, from the safe side of the root, if it is proved."""
    s = float(left)
    target = math.erf(math.sqrt(s / 8))

    def excess(c: float) -> float:
        return spread.distance(s - c) * (1 + MARGIN) + _NOISE - target

    high = s * 0.9 if closed is None else float(closed)
    if excess(high) > 0:
        return None
    close = high * (
        1 - 2 * high / s
    )  # where the root usually is: the closed form exceeds it by a part of c/s
    low = close if close > 0 and excess(close) > 0 else 0.0
    c = crossing(excess, low, high, relative=2.0**-36)[1]
    return fraction_up(c) if spread.proved(s - c * (1 + MARGIN)) else None
