"""Residue charge: the least part c of a Gaussian budget s that a step M provably takes.

Wanted is the least c such that M followed by G(√t), t = s − c, is no easier to distinguish than
G(√s): δ_{M⊗G(√t)}(e) ≤ δ_{G(√s)}(e) at **every** real e, in both directions. `gdp` has the proof
that this makes a filter; cf. arXiv 2602.15815.

**Certified for all e, by signs instead of a grid.** Multiply by e^(−e/2):
D̃(e) = e^(−e/2)(δ_{G(√s)} − δ_{M⊗G(√t)}) obeys D̃'' − D̃/4 = h, where h is the difference of the
two densities of the loss under √(pq), and D̃ vanishes at ±∞. Where h ≤ 0, D̃ has no negative
minimum; where h ≥ 0 up to ±∞, D̃ ≥ 0. For M symmetric (its loss ℓ under √(pq) has an even law ν),

    ratio of the densities = C·e^(−κu²/2)·∫cosh(uℓ/t)e^(−ℓ²/2t)dν,  κ = 1/t − 1/s.

Suppose the ratio crosses 1 at most twice on u > 0 (below, above, below). Then one of two holds:

- h ≤ 0 in the middle, and D̃ ≥ 0 at once;
- h ≥ 0 in the middle too, where D̃ is even and D̃'' ≥ D̃/4, so that D̃ grows away from 0 as soon as
  D̃(0) ≥ 0.

So for all e it is enough that **e = 0** holds: the total variation of M⊗G(√t) is at most that of
G(√s), 2Φ(√s/2) − 1. That number has a closed form, and its root is the *exact* least c.

**Crossings.** In v = u², ∫cosh(uℓ/t)… − e^(κu²/2)/C is a power series whose coefficients have the
signs of a_k − 1, a_k ∝ m_2k/((2k−1)!!(κt²)^k), m_2k = ∫ℓ^2k e^(−ℓ²/2t)dν. If r_k = m_2k/m_(2k−2)
has r_k/(2k−1) decreasing, a_k is log-concave and a_k − 1 changes sign at most twice. Descartes'
rule then gives at most two crossings. The condition holds

- for randomized response ε, ℓ = ±ε: r_k = ε² always;
- among k options (a loss of 0 too): if k − 2 ≤ 4e^(ε/2 − ε²/2t), which is r_2 ≤ 3r_1;
- for Laplace noise with x = Δ/b, on a lattice or not: if x·e^(x²/2t) ≤ 2. The ends ±x weigh so
  much that x²(1 − 2/(2k+1)) ≤ r_k ≤ x² for all k (the interior summed exactly for k = 1, by
  integral and maximum for k ≥ 2).

**In closed form.** If moreover a_1 ≤ a_0 the ratio only falls. Nothing need be compared, and
c(s − c) ≥ s·r_1 is enough, checked in exact rationals.

**Selections.** With bounded range ε the worst loss takes two values ε apart, at any offset. Every
such pair, followed by G(√t), is a chord of the curve of G(√t). All of them together are one
symmetric pair, and where ε ≤ 1.77 and t ≥ 2ε² its ratio of densities is unimodal on u > 0
(docs/explanation/filters.md has the proof). Again e = 0 is enough, and there the worst offset is the middle,
randomized response ε/2. Elsewhere, for each offset the logarithm of the ratio has second derivative
at most −κ + (ε/2t)², so c(s − c) ≥ s·ε²/4 makes it concave: at most two crossings for all real u.

**Monotone.** If c is enough at s it is enough at every s' ≥ s: compose both sides with G(√(s'−s)).
So costs are tabulated at s rounded down to six bits. Near exhaustion, and for every other event,
the cost is the plain μ² of `gdp`.
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
from ..measures import ADD_REMOVE
from ..pricing.event_parts import flatten
from ..pricing.gdp import exact_square, price_gdp
from ..pricing.limits import LEAST
from ..pricing.pure import price_pure
from ..pricing.zcdp import laplace_shape

# Significant bits to which the remaining part is rounded down: about 32 table entries a doubling.
_TABLE_BITS = 6
# Panels of the trapezoid sum for the interior of Laplace noise.
_PANELS = 128
# Above the rounding error of a distance, a sum of at most 131 terms of total weight 1.
_DISTANCE_ERROR = 2.0**-46
# `limit` of a loss whose crossings are proved at every t.
_ALWAYS_PROVED = 1e300
# `limit` of a loss whose crossings are proved at no t.
_NEVER_PROVED = -1.0


@frozen
class SymmetricLoss:
    """Symmetric privacy loss distribution of a step, or one at least as easy to tell at e = 0.

    | field | meaning |
    |---|---|
    | `losses`, `weights` | its law under D |
    | `square` | r_1, the mean square of the loss under √(pq), rounded up |
    | `largest` | the largest loss x |
    | `limit` | the crossings are proved for t with x²/2t at most this |
    """

    losses: Array
    weights: Array
    square: Fraction
    largest: float
    limit: float

    def distance(self, t: float) -> float:
        """Return the total variation of this step followed by G(√t): Σ P(ℓ)·δ_{G(√t)}(−ℓ)."""
        root = math.sqrt(t)
        # exp(−ℓ) would overflow below −709. δ(e) falls in e, so raising ℓ to −600 raises the
        # distance (the safe direction), and such losses weigh less than e^−600.
        losses = np.maximum(self.losses, -600.0)
        z = losses / root
        curve = ndtr(z + root / 2) - np.exp(-losses) * ndtr(z - root / 2)
        return float(np.dot(self.weights, curve))

    def proved(self, t: float) -> bool:
        """Return whether the ratio of densities is proved to cross 1 at most twice."""
        # x² is rounded up and the limit down: a doubtful case is not proved.
        square = self.largest**2 * (1 + MARGIN)
        limit = self.limit - abs(self.limit) * MARGIN
        return square <= 2 * t * limit


def response(epsilon: float, options: int = 2) -> SymmetricLoss:
    """Loss of randomized response among `options`; with two it dominates every ε-DP mechanism.

    >>> import math
    >>> from discreet.privacy.filters.residue import response
    >>> round(response(1.0).distance(1e-9) - math.tanh(0.5), 9)
    0.0
    """
    ends = np.array([1.0, math.exp(-epsilon)])
    middle = (options - 2) * math.exp(-epsilon)
    weights = np.array([*ends, middle]) / (ends.sum() + middle)
    losses = np.array([epsilon, -epsilon, 0.0])
    # Both ends under √(pq), where the middle weighs (k − 2)e^−ε.
    ends_root = 2 * math.exp(-epsilon / 2)
    square = epsilon**2
    # Where both weights underflow to 0, ε² itself is an upper bound of r_1.
    if ends_root:
        square = epsilon**2 * ends_root / (ends_root + middle)
    limit = _ALWAYS_PROVED
    if options > 2:
        limit = epsilon / 2 - math.log((options - 2) / 4)
    return SymmetricLoss(losses, weights, fraction_up(square), epsilon, limit)


def laplace(ratio: float, steps: int) -> SymmetricLoss:
    """Loss of Laplace noise with Δ1/b = ratio and `steps` lattice steps in Δ1 (0: continuous).

    Beyond 128 steps the interior atoms are bounded by an integral, and the integral by a trapezoid
    sum: e^(ℓ/2)δ(−ℓ) is convex, so both bounds are from above.

    >>> import math
    >>> from discreet.privacy.filters.residue import laplace
    >>> round(laplace(1.0, 0).distance(1e-9) + math.expm1(-0.5), 6)
    0.0
    >>> round(laplace(1.0, 1).distance(1e-9), 9)
    0.462117157
    """
    # h is the loss of one lattice step; 0 is the continuous limit.
    h = ratio / steps if steps else 0.0
    end = 1 / (1 + math.exp(-h))
    if 0 < steps <= _PANELS:
        inner = ratio - 2 * h * np.arange(1, steps)
        flat = np.full(steps - 1, math.tanh(h / 2))
    else:
        reach = ratio - h
        inner = np.linspace(-reach, reach, _PANELS + 1)
        # tanh(h/2)/2h is the density of the atoms; its limit at h = 0 is 1/4.
        density = math.tanh(h / 2) / (2 * h) if h else 0.25
        flat = np.full(_PANELS + 1, density * 2 * reach / _PANELS)
        flat[[0, -1]] /= 2
    inner_weights = flat * np.exp((inner - ratio) / 2)
    losses = np.array([ratio, -ratio, *inner])
    weights = np.array([end, end * math.exp(-ratio), *inner_weights])
    # x·e^(x²/2t) ≤ 2, solved for x²/2t.
    limit = math.log(2 / ratio) if ratio < 2 else _NEVER_PROVED
    square = fraction_up(_laplace_square(ratio, steps))
    return SymmetricLoss(losses, weights, square, ratio, limit)


def selection(epsilon: float) -> SymmetricLoss:
    """Loss of the worst mechanism of bounded range ε at e = 0: randomized response ε/2.

    Proved for t ≥ 2ε² where ε ≤ 1.77.

    >>> from discreet.privacy.filters.residue import selection
    >>> selection(1.0).proved(2.1), selection(1.0).proved(1.9), selection(1.8).proved(100.0)
    (True, False, False)
    """
    half = response(epsilon / 2)
    # The largest loss of the half is ε/2, so (ε/2)²/2t ≤ 1/16 says t ≥ 2ε².
    limit = 1 / 16 if epsilon <= 1.77 else _NEVER_PROVED
    return replace(half, limit=limit)


def _laplace_square(x: float, steps: int) -> float:
    """Return the mean square of the loss of Laplace noise under √(pq).

    It is an upper bound of r_1: the factor e^(−ℓ²/2t) only makes r_1 smaller.
    """
    if not steps:
        return x * x * (1 + x / 6) / (1 + x / 2)
    ends = -2 / math.expm1(-x / steps)
    n = float(steps)
    return x * x * (ends + (n - 1) * (n - 2) / (3 * n)) / (ends + n - 1)


@lru_cache(maxsize=2**10)
def charge(atom: Event, times: int, left: Fraction) -> Fraction | None:
    """Return the cost of `times` copies of an atom, one after the other; None if it has no price.

    A cost above `left` means that the copies do not fit.

    >>> from discreet.privacy import Response
    >>> from discreet.privacy.filters.residue import charge
    >>> from fractions import Fraction
    >>> float(charge(Response("1/100"), 500, Fraction("0.056"))) < 500 * 1.001e-4
    True

    Law: tests/privacy/test_residue.py::TestCharge
    """
    s = left
    remaining = times
    while remaining:
        table_left = _round_down(s)
        each = cost(atom, table_left)
        if each is None:
            return None
        if each > s or not each:
            # The next copy does not fit, or copies are free: the same cost for all that remain.
            return left - s + remaining * each
        run = 1
        if remaining > 1:
            # All copies that begin at or above the table's s have its cost: charge them at once.
            run = min(remaining, int((s - table_left) / each) + 1)
        s -= run * each
        remaining -= run
    return left - s


def _round_down(s: Fraction) -> Fraction:
    """Round down to six significant bits; a negative remainder is 0.

    Down is safe: a cost that is enough at s is enough at every larger s.
    """
    if s <= 0:
        return Fraction()
    shift = s.numerator.bit_length() - s.denominator.bit_length() - _TABLE_BITS
    if shift < 0:
        return Fraction((s.numerator << -shift) // s.denominator, 1 << -shift)
    return Fraction(s.numerator // (s.denominator << shift) << shift)


@lru_cache(maxsize=2**14)
def cost(atom: Event, left: Fraction) -> Fraction | None:
    """Return the least provable cost of one atom when at least `left` is left; None without price.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.filters.residue import cost
    >>> from fractions import Fraction
    >>> cost(GaussianNoise.of(scale=10, sensitivity=1), Fraction(1))
    Fraction(1, 100)

    Guarantee: where cost ≤ left, δ of the atom followed by G(√(left − cost)) is at most δ of
        G(√left), at every e and in both directions.

    Law: tests/privacy/test_residue.py::TestEnoughAtEveryEpsilon
    Law: tests/privacy/test_residue.py::TestLeast
    Law: tests/privacy/test_residue.py::TestMonotone
    Proved: proofs/Enough.v::one_number_is_enough, proofs/Residue.v::descartes
    """
    exact = exact_square(atom)
    if exact is not None:
        return exact
    if isinstance(atom, Parallel) and atom.neighbours == ADD_REMOVE:
        return _parallel_cost(atom, left)
    # Every candidate is proved to be enough, so the least of them is.
    best = price_gdp(atom)
    for candidate in _candidates(atom, left):
        if candidate is not None and (best is None or candidate < best):
            best = candidate
    return best


def _parallel_cost(atom: Parallel, left: Fraction) -> Fraction | None:
    """Return the largest cost of any part, since one unit is in one part; None without a price."""
    worst = Fraction()
    for part in atom.parts:
        flattened = flatten(part)
        if flattened.leaks:
            return None
        total = Fraction()
        for inner, times in flattened.atoms:
            each = charge(inner, times, left - total)
            if each is None:
                return None
            total += each
        worst = max(worst, total)
    return worst


def _candidates(atom: Event, left: Fraction) -> Iterator[Fraction | None]:
    """Yield costs that are each proved to be enough."""
    if not left:
        return
    if isinstance(atom, ExponentialSelection) and atom.epsilon >= LEAST:
        closed = _closed_form(atom.epsilon**2 / 4, left)
        yield closed
        yield _balanced(selection(float(atom.epsilon)), left, closed)
        return
    pure = price_pure(atom)
    # Near exhaustion (ε² > 4s) nothing is proved; below LEAST floats lose their digits.
    if not pure or pure < LEAST or float(pure) ** 2 > 4 * left:
        return
    yield _closed_form(pure * pure, left)
    for loss in _losses(atom, float(pure)):
        closed = _closed_form(loss.square, left)
        if closed is not None and loss.proved(float(left - closed)):
            yield closed
        balanced = _balanced(loss, left, closed)
        yield balanced
        # The losses are listed best first: a later one cannot cost less.
        if balanced is not None:
            return


def _losses(atom: Event, pure: float) -> Iterator[SymmetricLoss]:
    """List losses that dominate the atom's, the tightest first."""
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            yield laplace(*laplace_shape(atom))
        case Response() if atom.options > 2:
            yield response(pure, atom.options)
    yield response(pure)


def _closed_form(square: Fraction, left: Fraction) -> Fraction | None:
    """Return a c with c(s − c) ≥ s·r, in exact rationals, if there is one."""
    # The quadratic has real roots only where s > 4r.
    if left <= 4 * square:
        return None
    root = math.sqrt(1 - float(4 * square / left))
    c = fraction_up(float(2 * square) / (1 + root))
    # The float only proposes c: exact rationals decide that it is enough.
    is_enough = c * (left - c) >= left * square
    # Only the smaller root is wanted.
    is_smaller_root = 2 * c <= left
    return c if is_enough and is_smaller_root else None


def _balanced(loss: SymmetricLoss, left: Fraction, closed: Fraction | None) -> Fraction | None:
    """Return the least c at which the total variations balance, if it is proved to be enough."""
    s = float(left)
    # Total variation of G(√s): 2Φ(√s/2) − 1.
    target = math.erf(math.sqrt(s / 8))

    def excess(c: float) -> float:
        # The distance is rounded up, so that no excess here is none in exact numbers.
        return loss.distance(s - c) * (1 + MARGIN) + _DISTANCE_ERROR - target

    high = s * 0.9 if closed is None else float(closed)
    if excess(high) > 0:
        return None
    # The root is usually near here: the closed form exceeds it by a part of c/s.
    guess = high * (1 - 2 * high / s)
    low = 0.0
    if guess > 0 and excess(guess) > 0:
        low = guess
    # [1] is the end of the bracket without excess: the safe side of the root.
    c = crossing(excess, low, high, relative=2.0**-36)[1]
    if loss.proved(s - c * (1 + MARGIN)):
        return fraction_up(c)
    return None
