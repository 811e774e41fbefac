"""Bounds on the privacy curve of one direction of a composition, refined until they are close.

One direction is a multiset of dominating pairs. The accountant takes the worse of both directions.

| the composition is | its bracket comes from |
|---|---|
| asked at a δ below its mass at infinity, or below 1e-280 | the largest loss, or nothing |
| one pair, once | the pair's closed form |
| asked at a δ above the sum of all total variation distances | ε = 0 |
| too many pairs, or too large losses | the largest loss, or the sum of the distances |
| anything else | FFT convolution on finer and finer grids |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import fraction_up, up
from ...frozen import frozen
from ..loss.atoms import Atoms
from ..loss.loss_masses import Array, LossPair, ceiling
from .convolution import Profile, compose
from .loss_grid import LossGrid, align_lattice, common_pitch, connect_dots, fits_pitch
from .lower_bound import Proof, interpolate, last_above, most_below, spread_law
from .tilting import Cumulants

LEAST = 1e-280
"""Smallest δ that is distinguished from 0: a 1e-9 part of it is still a float."""
CUT = 1e-140
"""Masses at infinity below this may be tails that were cut off (`lattice.REACH`)."""
MAX_EXACT_TOPS = 64
"""Most events whose mass at infinity is multiplied out exactly."""
MAX_TILTED_EPSILON = 2e4
"""Largest product of tilt and ε: finer than 1e-4 near the largest loss is not looked at."""
COARSEST = 600.0
"""Widest step of a grid that says anything from below: e^600 is a float."""
ROUNDS = 4
"""How often a grid is refined before the bracket is given as it is."""
MAX_COUNT = 2**44
"""Most pairs composed on a grid: rounding errors grow with their number, to 1/30 there."""
MAX_LOSS = 1e18
"""Largest sum of losses that is followed on a grid."""
MAX_SIZE = 2**22
"""Most points of a grid; refinements stop at a quarter of that."""
_LEAST_TAIL = 1e-300
"""Smallest P-mass that a span may leave out."""
_SPLIT_SHIFT = 2.0**-37
"""Bound on the mean loss by which a pair may raise the masses that it splits (`lattice._blocks`)."""
_LAST_BELOW_ONE = 1 - 2.0**-53
"""Largest float below 1: its logarithm of 1 − x is finite."""


@frozen
class Bracket:
    """Certified lower and upper bound on one number."""

    lower: float
    upper: float


@frozen(eq=False)
class Composed:
    """Composed loss grids: upper bounds on δ and ε, and evidence for lower bounds.

    Guarantee: δ(ε) ≤ top + e^a · upper(ε − 2a), where a is `slack`.

    Law: tests/privacy/test_pld.py::TestOracle
    """

    evidence: Proof
    slack: float

    def deltas(self, epsilon: Array) -> Array:
        """Bound δ from above at each ε."""
        profile = self.evidence.profile
        # A smaller ε, a larger factor, and 1 below the grid: every step rounds δ up.
        at = epsilon - 2 * self.slack
        raw = interpolate(profile.losses, profile.upper, at, below=1.0)
        factor = math.exp(min(self.slack, 700.0))
        most_top = self.evidence.top[1]
        return np.minimum(1.0, most_top + factor * raw)

    def epsilon(self, delta: float) -> float:
        """Return the least ε whose bound on δ is at most δ: chords in e^ε are solved exactly."""
        profile = self.evidence.profile
        losses = profile.losses
        upper = profile.upper
        finite_delta = delta - self.evidence.top[1]
        wanted = finite_delta * math.exp(-self.slack)
        if wanted < upper[-1] or wanted <= 0:
            return math.inf
        # The first grid point at or below the wanted value; the crossing is on the chord before.
        after = int(np.searchsorted(-upper, -wanted, side="left"))
        if after == 0:
            return float(losses[0]) + 2 * self.slack
        before = after - 1
        high = float(upper[before])
        low = float(upper[after])
        start = float(losses[before])
        step = float(losses[after] - losses[before])
        part = (high - wanted) / (high - low)
        # ln(1 + part·(e^step − 1)), in a form that loses no digits and does not overflow.
        if step < 1:
            distance = math.log1p(part * math.expm1(step))
        else:
            remainder = (1 - part) * math.exp(-step)
            distance = step + math.log(part + remainder)
        return up(start + distance) + 2 * self.slack


@frozen(eq=False)
class _Goal:
    """Aim of a refinement: narrow a bracket by a composition until its `width` is at most `gap`."""

    narrow: Callable[[Composed, Bracket], Bracket]
    width: Callable[[Bracket], float]
    gap: float


@frozen(eq=False)
class DirectionBounds:
    """Pairs of one direction, each with how often it happens.

    Guarantee: `epsilon` and `delta` bracket the curve of the product of the pairs.

    Law: tests/privacy/test_pld.py::TestOracle
    """

    groups: tuple[tuple[LossPair, int], ...]

    @property
    def count(self) -> int:
        """The number of composed pairs."""
        return sum(times for _, times in self.groups)

    @property
    def is_single(self) -> bool:
        """True if there is one pair, once: its closed form answers."""
        return [times for _, times in self.groups] == [1]

    @property
    def max_loss(self) -> float:
        """The sum of the pairs' largest losses; above them lies a P-mass of 1e-300 at most."""
        losses = []
        for pair, times in self.groups:
            _, highest = pair.span(_LEAST_TAIL)
            losses.append(times * max(highest, 0.0))
        return sum(losses)

    @property
    def is_beyond(self) -> bool:
        """True if a grid says nothing, for too many pairs or too large losses."""
        # The negation also covers a sum that is not a number.
        return self.count > MAX_COUNT or not self.max_loss <= MAX_LOSS

    @property
    def top(self) -> tuple[float, float]:
        """Bounds on the P-mass at an infinite loss, from below and from above."""
        logs = []
        for pair, times in self.groups:
            if pair.top > 0:
                # H(∞) of the pair rounded down leaves out tails that were cut off.
                mass = pair.lower_delta(math.inf)
                log_kept = math.log1p(-mass) if mass < 1 else -math.inf
                logs.append(times * log_kept)
        least = -math.expm1(sum(logs))
        # 1e-9 is far above the rounding of the sum: the lower bound stays below.
        return least * (1 - 1e-9), ceiling(self.certain)

    @property
    def certain(self) -> Fraction:
        """The P-mass at an infinite loss, 1 − Π(1 − top)^k.

        It is exact for few events, else rounded up.
        """
        tops = []
        count = 0
        for pair, times in self.groups:
            if pair.top > 0:
                tops.append((pair.top, times))
                count += times
        if count <= MAX_EXACT_TOPS:
            kept = Fraction(1)
            for top, times in tops:
                kept *= (1 - top) ** times
            return 1 - kept
        logs = []
        for top, times in tops:
            # Each mass rounds up. One that rounds to 1 is followed as the last float below 1.
            rounded = min(ceiling(top), _LAST_BELOW_ONE)
            logs.append(times * math.log1p(-rounded))
        leaked = -math.expm1(sum(logs))
        return fraction_up(leaked, 2.0**-48)

    @property
    def limit(self) -> Fraction | None:
        """The largest finite loss: the sum of the pairs' limits; None if any pair has none."""
        total = Fraction(0)
        for pair, times in self.groups:
            if pair.limit is None:
                return None
            total += times * pair.limit
        return total

    @property
    def distance(self) -> float:
        """A bound on δ(0), and so on δ at every ε ≥ 0, however small it is.

        Total variation distances add up in a composition.
        """
        distances = []
        for pair, times in self.groups:
            distances.append(times * pair.delta(0.0))
        return min(1.0, up(sum(distances)))

    def epsilon(self, exact_delta: Fraction, gap: float, enough: float = 0.0) -> Bracket:
        """Bracket the least ε for a δ, to a relative gap.

        The refinement also ends when ε is seen to be at most `enough`.
        """
        # δ rounds down: a smaller δ asks for a larger ε.
        delta = -ceiling(-exact_delta)
        cap = self._epsilon_cap(exact_delta)
        least_top, most_top = self.top
        # Within 1e-9 of the mass at infinity nothing is left to tell finite losses apart.
        if cap == 0 or delta < max(LEAST, most_top * (1 + 1e-9)):
            leaks_more = delta < least_top and least_top > CUT
            is_unbounded = delta == 0 and self.limit is None
            if leaks_more or is_unbounded:
                return Bracket(math.inf, cap)
            return Bracket(0.0, cap)
        if self.is_single:
            return self._single_epsilon(delta, cap)
        if delta >= self.distance:
            return Bracket(0.0, 0.0)
        if self.is_beyond:
            return Bracket(0.0, cap)
        tilt, rough, tail = self._aim(delta, gap, cap)

        def narrow(made: Composed, best: Bracket) -> Bracket:
            bound = max(0.0, made.epsilon(delta))
            upper = min(best.upper, bound)
            proven = last_above(made.evidence, delta, upper, gap)
            return Bracket(max(best.lower, proven), upper)

        def width(best: Bracket) -> float:
            # An ε of 1e-12 is as good as 0; its relative width would never shrink.
            if best.upper <= max(enough, 1e-12):
                return 0.0
            if best.lower <= 0:
                return math.inf
            return best.upper / best.lower - 1

        step = _first_step(rough, tilt, self.count, gap)
        goal = _Goal(narrow, width, gap)
        return self._refine(Bracket(0.0, cap), step, tilt, tail, goal)

    def _aim(self, delta: float, gap: float, cap: float) -> tuple[float, float, float]:
        """Choose a tilt for a δ, the ε to expect, and the tails to give up.

        Close to the largest loss the best tilt grows without end; there it is enough to look a
        little below.
        """
        # All tails together are a part of 1e-9 of δ; they go to infinity, hence up.
        tail = max(delta * 1e-9 / self.count, _LEAST_TAIL)
        cumulants = Cumulants(self.groups, tail)
        finite_delta = max(delta - self.top[1], delta * 1e-3)
        tilt, rough = cumulants.for_delta(finite_delta)
        near = min(cap, rough) * (1 - gap / 2)
        if rough > cap * (1 - gap / 2) or tilt * gap * rough > 4:
            near_tilt = cumulants.for_epsilon(near)[0]
            return min(tilt, near_tilt, MAX_TILTED_EPSILON / near), near, tail
        return tilt, rough, tail

    def _refine(self, best: Bracket, step: float, tilt: float, tail: float, goal: _Goal) -> Bracket:
        """Compose on finer and finer grids until the goal is met, or the work is too much."""
        max_size = MAX_SIZE
        rounds = 0
        while rounds < ROUNDS:
            made = self._compose(step, tilt, tail, max_size)
            if made is None:
                if rounds > 0:
                    break
                # No bracket yet: a coarser grid gives a wider one, but a sound one.
                step *= 4
                continue
            best = goal.narrow(made, best)
            rounds += 1
            max_size = MAX_SIZE // 4
            width = goal.width(best)
            if width <= goal.gap:
                break
            # The width falls like the square of the step; 0.8 leaves a reserve.
            factor = 0.8 * math.sqrt(goal.gap / width)
            step *= max(0.3, factor)
        return best

    def around(self, delta: float) -> Composed | None:
        """Compose for an upper bound near a δ; its curve is sound everywhere and tight there."""
        if self.is_beyond:
            return None
        cap = self._epsilon_cap(Fraction(delta))
        tilt, rough, tail = self._aim(delta, 1e-3, cap)
        step = _first_step(rough, tilt, self.count, 1e-3)
        return self._compose(step, tilt, tail, MAX_SIZE)

    def delta(self, epsilon: float, gap: float, enough: float = 0.0) -> Bracket:
        """Bracket δ for an ε, as narrowly as a relative gap of ε moves it.

        The refinement also ends when δ is seen to be at most `enough`.
        """
        limit = self.limit
        if limit is not None and epsilon >= limit:
            return Bracket(*self.top)
        if self.is_single:
            pair = self.groups[0][0]
            return Bracket(pair.lower_delta(epsilon), pair.delta(epsilon))
        # Below ε = 0 the curve may be anything up to 1.
        widest = Bracket(0.0, self.distance if epsilon >= 0 else 1.0)
        if self.is_beyond:
            return widest
        # Above the largest loss there is nothing to look at.
        near = min(epsilon, self.max_loss)
        tail = 1e-20
        tilt = 1.0
        # The tails should be small against δ, which is known only with a tilt: two passes.
        for _ in range(2):
            tilt, log_delta = Cumulants(self.groups, tail).for_epsilon(epsilon)
            tilt = min(tilt, MAX_TILTED_EPSILON / max(abs(near), 1e-9))
            # The Rényi bound is up to e^5 above δ; −690 keeps the power a float.
            log_rough = min(max(log_delta - 5, -690), 0)
            rough_delta = math.exp(log_rough)
            tail = max(rough_delta * 1e-9 / self.count, _LEAST_TAIL)

        def narrow(made: Composed, best: Bracket) -> Bracket:
            bounds = made.deltas(np.array([epsilon]))
            upper = min(best.upper, float(bounds[0]))
            proven = most_below(made.evidence, epsilon, upper)
            return Bracket(max(best.lower, proven), upper)

        def width(best: Bracket) -> float:
            if best.upper <= enough:
                return 0.0
            if best.lower <= 0:
                return math.inf
            # δ falls like e^{−λε}: a relative gap of ε moves it λε times as far.
            relative = best.upper / best.lower - 1
            return relative / max(1.0, tilt * abs(epsilon))

        step = _first_step(near, tilt, self.count, gap)
        goal = _Goal(narrow, width, gap)
        return self._refine(widest, step, tilt, tail, goal)

    def _epsilon_cap(self, delta: Fraction) -> float:
        """Return the largest loss as a bound on ε, for a δ of at least the mass at infinity.

        For a smaller δ, and without a largest loss, it is infinite.
        """
        limit = self.limit
        if limit is None or delta < self.certain:
            return math.inf
        return ceiling(limit)

    def _single_epsilon(self, delta: float, cap: float) -> Bracket:
        """Solve the closed form of one pair from both sides."""
        pair = self.groups[0][0]
        # The side that is certainly above δ for the lower bound, the other for the upper one.
        lower = solve(pair.lower_delta, delta, cap)[0]
        upper = solve(pair.delta, delta, cap)[1]
        return Bracket(lower, min(cap, upper))

    def _compose(self, step: float, tilt: float, tail: float, max_size: int) -> Composed | None:
        """Compose on a grid, or not at all if that takes more than `max_size` points."""
        grids = self._grids(step, tail, max_size)
        if grids is None:
            return None
        counts = [times for _, times in self.groups]
        profile = compose(grids, counts, tilt, max_size)
        # Losses so large that floats do not tell neighbouring points apart ask for a coarser grid.
        if profile is None or not profile.losses[0] < profile.losses[1]:
            return None
        return self._evidence(profile, grids)

    def _grids(self, step: float, tail: float, max_size: int) -> list[LossGrid] | None:
        """Discretise every pair on one grid, without loss where a common lattice allows it."""
        pitch = common_pitch(self.groups, step)
        if pitch is not None and not all(fits_pitch(pair, pitch) for pair, _ in self.groups):
            # Pairs without that lattice need a grid as fine as asked: refine the lattice.
            pitch /= math.ceil(float(pitch) / step)
        if pitch is not None:
            step = float(pitch)
        grids: list[LossGrid] = []
        for pair, _ in self.groups:
            low, high = pair.span(tail)
            if high - low > max_size * step:
                return None
            if pitch is not None and isinstance(pair, Atoms) and fits_pitch(pair, pitch):
                grids.append(align_lattice(pair, pitch))
            else:
                grids.append(connect_dots(pair, step, tail))
        return grids

    def _evidence(self, profile: Profile, grids: list[LossGrid]) -> Composed:
        """Return the composition with bounds on all changes by the grids: tops, shifts, splits."""
        step = grids[0].step
        log_kept = []
        errors = []
        shifts = []
        lows = []
        slacks = []
        split = 0
        for (pair, times), grid in zip(self.groups, grids, strict=True):
            # A mass that rounds to 1 is followed as the last float below 1.
            leaked = min(grid.top, _LAST_BELOW_ONE)
            log_kept.append(times * math.log1p(-leaked))
            errors.append(times * grid.error)
            # A part `leak` of every mass is one step too high: a mean shift of leak·step.
            shifts.append(times * grid.leak * grid.step)
            lows.append(times * grid.low)
            slacks.append(times * pair.slack)
            if grid.spread:
                split += times
            if pair.split:
                # The masses of the event itself were split already, which raised each by at most
                # `split`. `blur` has half of what losses are raised by.
                raised = times * pair.split
                if raised > grid.step / 16:
                    # That is much, so it counts as a second small release of bounded range. A wider
                    # range dominates the narrower ones.
                    raised = 0.0
                    split += times
                    step = max(step, pair.split)
                shifts.append(raised / 2 + times * _SPLIT_SHIFT)
        log = sum(log_kept)
        # The mass at infinity of all grids together, rounded up; exactly 0 if there is none.
        top = up(-math.expm1(log)) if log < 0 else 0.0
        low = sum(lows)
        if split and step > COARSEST:
            # e^step is no float: no lower bound follows, as all mass may have been lifted.
            low = math.inf
            split = 0
        spread = spread_law(step, split, profile.tilt) if split else None
        blur = sum(errors)
        tops = (self.top[0], top)
        evidence = Proof(profile, tops, blur + sum(shifts), low, spread)
        return Composed(evidence, blur + sum(slacks))


def solve(curve: Callable[[float], float], delta: float, cap: float) -> tuple[float, float]:
    """Return ε ≥ 0 on both sides of curve(ε) = δ for a falling curve, to the last digits.

    The curve is above δ at the first ε and not above it at the second one.

    >>> import math
    >>> from discreet.privacy.numerical.direction import solve
    >>> low, high = solve(lambda e: math.exp(-e), 0.5, math.inf)
    >>> round(low, 12), round(high, 12)
    (0.69314718056, 0.69314718056)
    """
    if curve(0.0) <= delta:
        return 0.0, 0.0
    low = 0.0
    high = min(1.0, cap)
    while curve(high) > delta:
        low = high
        high = min(2 * high, cap)
        if low >= cap or high > 1e15:
            return low, math.inf
    while high - low > 2.0**-50 * high:
        middle = (low + high) / 2
        if curve(middle) > delta:
            low = middle
        else:
            high = middle
    return low, high


def _first_step(epsilon: float, tilt: float, count: int, gap: float) -> float:
    """Return a step of the grid whose bracket is about `gap` wide.

    Splitting adds at most κ = k h²/4 to the variance of the loss. With the curve falling like
    e^{−λε} the upper bound moves by κ(1+λ)/3 and the lower one by about 1.6 κ(1+λ).
    """
    # An expected ε near or below 0 says nothing about the width: 1/(2λ) is taken then.
    expected = max(epsilon, 0.5 / tilt)
    growth = 2.2 * (1 + tilt) * count
    return math.sqrt(4 * gap * expected / growth)
