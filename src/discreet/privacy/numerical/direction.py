"""One direction of a composition: bounds on its curve, refined until the bracket is narrow."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ...arithmetic.rounding import fraction_up, up
from ...frozen import frozen
from ..pairs.atoms import Atoms
from ..pairs.loss_masses import Array, LossPair, ceiling
from .convolution import Profile, compose
from .crossing import last_above, most_below, solve
from .loss_grid import LossGrid, aligned, common_pitch, dots, fits_pitch
from .lower_bound import Proof, interpolate, spread_law
from .tilting import Cumulants

LEAST = 1e-280
"""Smallest δ that is told from 0."""
CUT = 1e-140
"""Masses at infinity below this may stand for tails that were cut off."""
FEW = 64
"""Most events whose mass at infinity is multiplied out exactly."""
STEEPEST = 2e4
"""Largest product of tilt and ε: finer than 1e-4 near the largest loss is not looked at."""
COARSEST = 600.0
"""Widest step of a grid that says anything from below."""
ROUNDS = 4
"""How often a grid is refined before the bracket is given as it is."""
OFTENEST = 2**44
"""Most pairs composed on a grid: rounding errors grow with their number, and would reach a part in 30 there."""
FARTHEST = 1e18
"""Largest sum of losses that is followed on a grid."""
LONGEST = 2**22
"""Most points of a grid; refinements stop at a quarter of that."""


@frozen
class Bracket:
    """A certified lower and upper bound on one number."""

    lower: float
    upper: float


@frozen(eq=False)
class Composed:
    """The composed combs and what they prove: δ(ε) ≤ top + e^a · upper(ε − 2a), and lower bounds by evidence."""

    evidence: Proof
    slack: float

    def deltas(self, epsilon: Array) -> Array:
        """Bound δ from above at each ε."""
        profile, a = self.evidence.profile, self.slack
        raw = interpolate(profile.losses, profile.upper, epsilon - 2 * a, below=1.0)
        return np.minimum(1.0, self.evidence.top[1] + math.exp(min(a, 700.0)) * raw)

    def epsilon(self, delta: float) -> float:
        """Return the least ε whose bound is at most δ: chords in e^ε are solved exactly."""
        profile = self.evidence.profile
        wanted = (delta - self.evidence.top[1]) * math.exp(-self.slack)
        if wanted < profile.upper[-1] or wanted <= 0:
            return math.inf
        after = int(
            np.searchsorted(-profile.upper, -wanted, side="left")
        )  # first point at or below what is wanted
        if after == 0:
            return float(profile.losses[0]) + 2 * self.slack
        high, low = float(profile.upper[after - 1]), float(profile.upper[after])
        start, step = (
            float(profile.losses[after - 1]),
            float(profile.losses[after] - profile.losses[after - 1]),
        )
        part = (high - wanted) / (high - low)
        grown = (
            math.log1p(part * math.expm1(step))
            if step < 1
            else step + math.log(part + (1 - part) * math.exp(-step))
        )
        return up(start + grown) + 2 * self.slack


_Goal: TypeAlias = tuple[Callable[[Composed, Bracket], Bracket], Callable[[Bracket], float], float]
"""How a composition narrows a bracket, how wide a bracket counts, and how wide it may stay."""


@frozen(eq=False)
class DirectionBounds:
    """The pairs of one direction, each with how often it happens."""

    groups: tuple[tuple[LossPair, int], ...]

    @property
    def count(self) -> int:
        """How many pairs are composed."""
        return sum(k for _, k in self.groups)

    @property
    def is_single(self) -> bool:
        """Whether there is one pair, once: closed forms do."""
        return len(self.groups) == 1 and self.groups[0][1] == 1

    @property
    def is_beyond(self) -> bool:
        """Whether there are so many pairs, or so large losses, that a grid says nothing: the largest loss does."""
        far = sum(k * max(pair.span(1e-300)[1], 0.0) for pair, k in self.groups)
        return self.count > OFTENEST or not far <= FARTHEST

    @property
    def top(self) -> tuple[float, float]:
        """Bounds on the P-mass at an infinite loss."""
        sure = [
            (pair.lower_delta(math.inf), k) for pair, k in self.groups if pair.top > 0
        ]  # tails cut off apart
        least = -math.expm1(
            sum(k * math.log1p(-mass) if mass < 1 else -math.inf for mass, k in sure)
        )
        return least * (1 - 1e-9), ceiling(self.certain)

    @property
    def certain(self) -> Fraction:
        """The P-mass at an infinite loss, 1 − Π(1 − top)^k: exact for few events, else rounded up."""
        some = [(pair.top, k) for pair, k in self.groups if pair.top > 0]
        if sum(k for _, k in some) <= FEW:
            return Fraction(1 - math.prod((1 - top) ** k for top, k in some))
        log = sum(k * math.log1p(-min(ceiling(top), 1 - 2.0**-53)) for top, k in some)
        return fraction_up(-math.expm1(log), 2.0**-48)

    @property
    def limit(self) -> Fraction | None:
        """The largest finite loss: the sum of the parts' limits."""
        total = Fraction(0)
        for pair, k in self.groups:
            if pair.limit is None:
                return None
            total += k * pair.limit
        return total

    @property
    def distance(self) -> float:
        """A bound on δ(0), and so on δ from there on: distances in total variation add up, however small they are."""
        return min(1.0, up(sum(k * pair.delta(0.0) for pair, k in self.groups)))

    def epsilon(self, exact: Fraction, gap: float, enough: float = 0.0) -> Bracket:
        """Bracket the least ε for a δ, to a relative gap, or as far as to see that it is at most `enough`."""
        delta, cap = -ceiling(-exact), self._capped(exact)
        if cap == 0 or delta < max(LEAST, self.top[1] * (1 + 1e-9)):
            never = (delta < self.top[0] and self.top[0] > CUT) or (
                delta == 0 and self.limit is None
            )
            return Bracket(math.inf if never else 0.0, cap)
        if self.is_single:
            return self._single(delta, cap)
        if delta >= self.distance:
            return Bracket(0.0, 0.0)
        if self.is_beyond:
            return Bracket(0.0, cap)
        tilt, rough, tail = self._aim(delta, gap, cap)

        def look(made: Composed, best: Bracket) -> Bracket:
            upper = min(best.upper, max(0.0, made.epsilon(delta)))
            return Bracket(max(best.lower, last_above(made.evidence, delta, upper, gap)), upper)

        def width(best: Bracket) -> float:
            if best.upper <= max(enough, 1e-12):
                return 0.0
            return best.upper / best.lower - 1 if best.lower > 0 else math.inf

        step = _first_step(max(rough, 0.5 / tilt), tilt, self.count, gap)
        return self._refine(Bracket(0.0, cap), step, tilt, tail, (look, width, gap))

    def _aim(self, delta: float, gap: float, cap: float) -> tuple[float, float, float]:
        """Choose a tilt for a δ, the ε to expect, and the tails to give up.

        Close to the largest loss the best tilt grows without end; there it is enough to look a little below.
        """
        tail = max(delta * 1e-9 / self.count, 1e-300)
        cumulants = Cumulants(self.groups, tail)
        tilt, rough = cumulants.for_delta(max(delta - self.top[1], delta * 1e-3))
        near = min(cap, rough) * (1 - gap / 2)
        if rough > cap * (1 - gap / 2) or tilt * gap * rough > 4:
            return min(tilt, cumulants.for_epsilon(near)[0], STEEPEST / near), near, tail
        return tilt, rough, tail

    def _refine(self, best: Bracket, step: float, tilt: float, tail: float, goal: _Goal) -> Bracket:
        """Compose on finer and finer grids until the bracket is as narrow as the goal says, or the work too much."""
        look, width, gap = goal
        rounds = 0
        while rounds < ROUNDS:
            made = self._compose(step, tilt, tail, LONGEST if rounds == 0 else LONGEST // 4)
            if made is None and rounds > 0:
                break
            if made is None:
                step *= 4
                continue
            best, rounds = look(made, best), rounds + 1
            wide = width(best)
            if wide <= gap:
                break
            step *= max(0.3, 0.8 * math.sqrt(gap / wide))
        return best

    def around(self, delta: float) -> Composed | None:
        """Compose for an upper bound near a δ; its curve is sound everywhere and tight there."""
        if self.is_beyond:
            return None
        tilt, rough, tail = self._aim(delta, 1e-3, self._capped(Fraction(delta)))
        return self._compose(
            _first_step(max(rough, 0.5 / tilt), tilt, self.count, 1e-3), tilt, tail, LONGEST
        )

    def delta(self, epsilon: float, gap: float, enough: float = 0.0) -> Bracket:
        """Bracket δ for an ε, as narrowly as a relative gap of ε moves it, or to see that it is at most `enough`."""
        limit = self.limit
        if limit is not None and epsilon >= limit:
            return Bracket(*self.top)
        if self.is_single:
            pair = self.groups[0][0]
            return Bracket(pair.lower_delta(epsilon), pair.delta(epsilon))
        if self.is_beyond:
            return Bracket(0.0, self.distance if epsilon >= 0 else 1.0)
        tail, tilt = 1e-20, 1.0
        near = min(
            epsilon, sum(k * max(pair.span(1e-300)[1], 0.0) for pair, k in self.groups)
        )  # nothing is above
        for _ in range(2):
            tilt, log = Cumulants(self.groups, tail).for_epsilon(epsilon)
            tilt = min(tilt, STEEPEST / max(abs(near), 1e-9))
            tail = max(math.exp(min(max(log - 5, -690), 0)) * 1e-9 / self.count, 1e-300)

        def look(made: Composed, best: Bracket) -> Bracket:
            upper = min(best.upper, float(made.deltas(np.array([epsilon]))[0]))
            return Bracket(max(best.lower, most_below(made.evidence, epsilon, upper)), upper)

        def width(best: Bracket) -> float:
            if best.upper <= enough:
                return 0.0
            return (
                (best.upper / best.lower - 1) / max(1.0, tilt * abs(epsilon))
                if best.lower > 0
                else math.inf
            )

        step = _first_step(max(near, 0.5 / tilt), tilt, self.count, gap)
        return self._refine(
            Bracket(0.0, self.distance if epsilon >= 0 else 1.0),
            step,
            tilt,
            tail,
            (look, width, gap),
        )

    def _capped(self, delta: Fraction) -> float:
        """Return the largest loss as a bound on ε: at every δ from the mass at infinity on."""
        limit = self.limit
        return math.inf if limit is None or delta < self.certain else ceiling(limit)

    def _single(self, delta: float, cap: float) -> Bracket:
        """Solve the closed form of one pair from both sides."""
        pair = self.groups[0][0]
        return Bracket(
            solve(pair.lower_delta, delta, cap)[0], min(cap, solve(pair.delta, delta, cap)[1])
        )

    def _compose(self, step: float, tilt: float, tail: float, longest: int) -> Composed | None:
        """Compose on a grid, or not at all if that takes more than `longest` points."""
        combs = self.combs(step, tail, longest)
        if combs is None:
            return None
        counts = [k for _, k in self.groups]
        profile = compose(combs, counts, tilt, longest)
        if (
            profile is None or not profile.losses[0] < profile.losses[1]
        ):  # too long, or too fine for such large losses
            return None
        return self.composed(profile, combs)

    def combs(self, step: float, tail: float, longest: int) -> list[LossGrid] | None:
        """Place every pair on one grid, on its own lattice if the grid can refine it without much cost."""
        pitch = common_pitch(self.groups, step)
        if pitch is not None and any(not fits_pitch(pair, pitch) for pair, _ in self.groups):
            pitch /= math.ceil(float(pitch) / step)
        h = step if pitch is None else float(pitch)
        combs: list[LossGrid] = []
        for pair, _ in self.groups:
            low, high = pair.span(tail)
            if high - low > longest * h:
                return None
            if pitch is not None and isinstance(pair, Atoms) and fits_pitch(pair, pitch):
                combs.append(aligned(pair, pitch))
            else:
                combs.append(dots(pair, h, tail))
        return combs

    def composed(self, profile: Profile, combs: list[LossGrid]) -> Composed:
        """Add up what was given up in the combs."""
        counts = [k for _, k in self.groups]
        both = list(zip(combs, counts, strict=True))
        log = sum(k * math.log1p(-min(c.top, 1 - 2.0**-53)) for c, k in both)
        top = up(-math.expm1(log)) if log < 0 else 0.0
        blur = sum(k * c.error for c, k in both)
        raised = sum(k * c.leak * c.step for c, k in both)
        low = sum(k * c.low for c, k in both)
        split = sum(k for c, k in both if c.spread)
        if split and combs[0].step > COARSEST:
            low, split = math.inf, 0
        spread = spread_law(combs[0].step, split, profile.tilt) if split else None
        evidence = Proof(profile, (self.top[0], top), blur + raised, low, spread)
        return Composed(evidence, blur + sum(k * pair.slack for pair, k in self.groups))


def _first_step(epsilon: float, tilt: float, count: int, gap: float) -> float:
    """Return a grid whose bracket is about `gap`.

    Splitting adds at most κ = k h²/4 to the variance of the loss. With the curve falling like e^{−λε} the upper bound
    moves by κ(1+λ)/3 and the lower one by about 1.6 κ(1+λ).
    """
    return math.sqrt(4 * gap * epsilon / (2.2 * (1 + tilt) * count))
