"""One direction of a composition: bounds on its curve, refined until the bracket is narrow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .pair_atoms import Atoms
from .pair_cells import Array, Pair
from .pld_comb import Comb, aligned, dots
from .pld_lower import Evidence, exceeds, interpolate, spread_law
from .pld_ring import Profile, compose
from .pld_tilt import Cumulants
from .rounding import down, up

__all__ = ["Bracket", "Composed", "Side"]

LEAST = 1e-280
"""Smallest δ that is told from 0."""
ROUNDS = 5
"""How often a grid is refined before the bracket is given as it is."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """A certified lower and upper bound on one number."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """The composed combs and what they prove: δ(ε) ≤ top + e^a · upper(ε − 2a), and lower bounds by evidence."""

    evidence: Evidence
    slack: float

    def deltas(self, epsilon: Array) -> Array:
        """Bound δ from above at each ε."""
        profile, a = self.evidence.profile, self.slack
        raw = interpolate(profile.losses, profile.upper, epsilon - 2 * a, below=1.0)
        return np.minimum(1.0, self.evidence.top[1] + math.exp(a) * raw)

    def epsilon(self, delta: float) -> float:
        """Give the least ε whose bound is at most δ: chords in e^ε are solved exactly."""
        profile = self.evidence.profile
        wanted = (delta - self.evidence.top[1]) * math.exp(-self.slack)
        if wanted < profile.upper[-1] or wanted <= 0:
            return math.inf
        after = int(np.searchsorted(-profile.upper, -wanted, side="left"))  # first point at or below what is wanted
        if after == 0:
            return float(profile.losses[0]) + 2 * self.slack
        high, low = float(profile.upper[after - 1]), float(profile.upper[after])
        start, step = float(profile.losses[after - 1]), float(profile.losses[after] - profile.losses[after - 1])
        part = (high - wanted) / (high - low)
        return up(start + math.log1p(part * math.expm1(step))) + 2 * self.slack


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The pairs of one direction, each with how often it happens."""

    groups: tuple[tuple[Pair, int], ...]

    @property
    def top(self) -> tuple[float, float]:
        """Bounds on the P-mass at an infinite loss: 1 − Π(1 − top)^k."""
        log = sum(k * math.log1p(-min(pair.top, 1 - 2.0**-53)) for pair, k in self.groups if pair.top > 0)
        mass = -math.expm1(log)
        return (mass * (1 - 1e-9), up(mass)) if mass > 0 else (0.0, 0.0)

    @property
    def limit(self) -> Fraction | None:
        """The largest finite loss: the sum of the parts' limits."""
        total = Fraction(0)
        for pair, k in self.groups:
            if pair.limit is None:
                return None
            total += k * pair.limit
        return total

    def epsilon(self, delta: float, gap: float) -> Bracket:
        """Bracket the least ε for a δ."""
        cap = self._capped(delta)
        if delta < max(LEAST, self.top[1] * (1 + 1e-12)):
            return Bracket(0.0 if delta >= self.top[0] else cap, cap)
        if len(self.groups) == 1 and self.groups[0][1] == 1:
            return self._single(delta, cap)
        count = sum(k for _, k in self.groups)
        tail = max(delta * 1e-9 / count, 1e-300)
        tilt, rough = Cumulants(self.groups, tail).for_delta(max(delta - self.top[1], delta * 1e-3))
        best, step = Bracket(0.0, cap), _first_step(max(rough, 0.5 / tilt), tilt, count, gap)
        for _ in range(ROUNDS):
            made = self._compose(step, tilt, tail)
            if made is None:
                break
            upper = min(best.upper, max(0.0, made.epsilon(delta)))
            best = Bracket(max(best.lower, _last_above(made.evidence, delta, upper, gap)), upper)
            wide = best.upper / best.lower - 1 if best.lower > 0 else best.upper * tilt
            if wide <= gap:
                break
            step *= max(0.2, 0.8 * math.sqrt(gap / wide))
        return best

    def around(self, delta: float) -> Composed | None:
        """Compose for an upper bound near a δ; its curve is sound everywhere and tight there."""
        count = sum(k for _, k in self.groups)
        tail = max(delta * 1e-9 / count, 1e-300)
        tilt, rough = Cumulants(self.groups, tail).for_delta(delta)
        return self._compose(_first_step(max(rough, 0.5 / tilt), tilt, count, 1e-3), tilt, tail)

    def delta(self, epsilon: float, gap: float) -> Bracket:
        """Bracket δ for an ε."""
        limit = self.limit
        if limit is not None and epsilon >= limit:
            return Bracket(*self.top)
        if len(self.groups) == 1 and self.groups[0][1] == 1:
            pair = self.groups[0][0]
            return Bracket(pair.lower_delta(epsilon), pair.delta(epsilon))
        count = sum(k for _, k in self.groups)
        tilt, log = Cumulants(self.groups, 1e-30).for_epsilon(epsilon)
        tail = max(math.exp(max(log - 5, -690)) * 1e-9 / count, 1e-300)
        tilt, log = Cumulants(self.groups, tail).for_epsilon(epsilon)
        best, step = Bracket(0.0, 1.0), _first_step(max(epsilon, 0.5 / tilt), tilt, count, gap)
        for _ in range(ROUNDS):
            made = self._compose(step, tilt, tail)
            if made is None:
                break
            upper = min(best.upper, float(made.deltas(np.array([epsilon]))[0]))
            best = Bracket(max(best.lower, _most_below(made.evidence, epsilon, upper)), upper)
            wide = best.upper / best.lower - 1 if best.lower > 0 else math.inf
            if wide <= gap * max(1.0, tilt * abs(epsilon)):
                break
            step *= 0.5
        return best

    def _capped(self, delta: float) -> float:
        limit = self.limit
        if limit is None or delta < self.top[1]:
            return math.inf
        near = float(limit)
        return near if Fraction(near) >= limit else math.nextafter(near, math.inf)

    def _single(self, delta: float, cap: float) -> Bracket:
        """Solve the closed form of one pair from both sides."""
        pair = self.groups[0][0]
        return Bracket(_solve(pair.lower_delta, delta, cap)[0], min(cap, _solve(pair.delta, delta, cap)[1]))

    def _compose(self, step: float, tilt: float, tail: float) -> Composed | None:
        combs = self.combs(step, tail)
        counts = [k for _, k in self.groups]
        profile = compose(combs, counts, tilt)
        return None if profile is None else self.composed(profile, combs)

    def combs(self, step: float, tail: float) -> list[Comb]:
        """Place every pair on one grid, on its own lattice if the grid can refine it without much cost."""
        pitch = _common_pitch(self.groups, step)
        split = sum(k for pair, k in self.groups if not _fits(pair, pitch))
        if pitch is None:
            return [dots(pair, step, tail) for pair, _ in self.groups]
        if split:
            pitch /= math.ceil(float(pitch) / step)
        h = float(pitch)
        return [
            aligned(pair, pitch) if isinstance(pair, Atoms) and _fits(pair, pitch) else dots(pair, h, tail)
            for pair, _ in self.groups
        ]

    def composed(self, profile: Profile, combs: list[Comb]) -> Composed:
        """Add up what was given up in the combs."""
        counts = [k for _, k in self.groups]
        both = list(zip(combs, counts, strict=True))
        log = sum(k * math.log1p(-min(c.top, 1 - 2.0**-53)) for c, k in both)
        top = up(-math.expm1(log)) if log < 0 else 0.0
        blur = sum(k * c.error for c, k in both)
        raised = sum(k * c.leak * c.step for c, k in both)
        low = sum(k * c.low for c, k in both)
        split = sum(k for c, k in both if c.spread)
        spread = spread_law(combs[0].step, split, profile.tilt) if split else None
        evidence = Evidence(profile, (self.top[0], top), blur + raised, low, spread)
        return Composed(evidence, blur + sum(k * pair.slack for pair, k in self.groups))


def _first_step(epsilon: float, tilt: float, count: int, gap: float) -> float:
    """Give a grid whose bracket is about `gap`: splitting adds at most k h²/4 of variance, so ε moves by λ k h²/4."""
    return math.sqrt(4 * gap * epsilon / (0.9 * tilt * count))


def _fits(pair: Pair, pitch: Fraction | None) -> bool:
    return pitch is not None and pair.lattice is not None and (pair.lattice.pitch / pitch).denominator == 1


def _common_pitch(groups: tuple[tuple[Pair, int], ...], step: float) -> Fraction | None:
    """Give the coarsest lattice that serves as many pairs as it can without being much finer than is needed."""
    with_lattice = [(k, pair.lattice.pitch) for pair, k in groups if pair.lattice is not None]
    common: Fraction | None = None
    for _, pitch in sorted(with_lattice, reverse=True)[:64]:
        both = pitch if common is None else _gcd(common, pitch)
        if both >= step / 2:
            common = both
    return common


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    d = a.denominator * b.denominator
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), d)


def _last_above(evidence: Evidence, delta: float, upper: float, gap: float) -> float:
    """Give the largest ε found at which the true curve is certainly above δ, 0 if there is none."""
    if not math.isfinite(upper) or upper <= 0:
        return 0.0
    high, back = upper, gap * upper / 4
    while not exceeds(evidence, high - back, delta):
        high, back = high - back, back * 2
        if high <= 0:
            return 0.0
    low = high - back
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(evidence, middle, delta) else (low, middle)
    return max(0.0, down(low))


def _most_below(evidence: Evidence, epsilon: float, upper: float) -> float:
    """Give the largest δ found that the true curve at ε certainly exceeds, 0 if there is none."""
    high, part = upper, 1e-4
    while not exceeds(evidence, epsilon, high * (1 - part)):
        high, part = high * (1 - part), min(part * 2, 0.9)
        if high < upper * 1e-6:
            return 0.0
    low = high * (1 - part)
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(evidence, epsilon, middle) else (low, middle)
    return down(low)


def _solve(curve: Callable[[float], float], delta: float, cap: float) -> tuple[float, float]:
    """Give ε ≥ 0 on both sides of curve(ε) = δ for a falling curve, to the last digits."""
    if curve(0.0) <= delta:
        return 0.0, 0.0
    low, high = 0.0, min(1.0, cap)
    while curve(high) > delta:
        low, high = high, min(2 * high, cap)
        if low >= cap or high > 1e9:
            return low, math.inf
    while high - low > 2.0**-50 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return low, high
