"""A running total of a long list of events: each is added in constant time, however many came before.

The losses so far live on one tilted ring in the frequency domain; the latest few are kept apart in a short exact buffer
and merged into the ring when it is full. A question is a dot product of the buffer with the ring's curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...arithmetic.rational import Number, rational, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ..events import Event
from ..measures import ApproxDP
from ..neighbours import Neighbours
from ..pairs.cells import Array, Pair
from ..pairs.dominating import pairs_of, parts_of
from .comb import dots
from .ring import Tilted, Wave, curve_of, power, raised, tilted

__all__ = ["Running"]

EPS = 2.0**-52
BUFFER = 2**18
"""Most multiplications spent on adding to the buffer; a longer one is merged first."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A ring of `size` points `step` apart from loss `first` on, tilted by `tilt`; losses rarer than `tail` go up."""

    step: float
    first: int
    size: int
    tilt: float
    thetas: Array
    tail: float


def _plan(budget: ApproxDP, events: int) -> _Plan:
    """Size a ring for a composition that just fills the budget, as if it were Gaussian."""
    from ..pairs.gauss import Gauss

    epsilon, delta = float(budget.epsilon), float(budget.delta)
    low, high = 1e-9, 1.0
    while Gauss(high).delta(epsilon) < delta:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Gauss(middle).delta(epsilon) < delta else (low, middle)
    tilt = max(epsilon / high**2 - 0.5, 0.1 / high)
    step = math.sqrt(4 * 4e-3 * epsilon / (2.2 * (1 + tilt) * events))
    wide = 10 * high
    size = 1 << math.ceil(math.log2((epsilon + 2 * wide) / step))
    thetas = 9 / high / 2.0 ** np.arange(6, dtype=np.float64)
    return _Plan(step, math.floor(-wide / step), size, tilt, thetas, max(delta * 1e-9 / events, 1e-300))


@dataclass(slots=True, eq=False)
class _Direction:
    """One direction: the ring's spectrum and curve, the buffer, and all that was given up."""

    plan: _Plan
    spectrum: Wave
    outer: Array
    curve: Array
    buffer: Array = field(default_factory=lambda: np.ones(1))
    start: int = 0
    above: Array = field(default_factory=lambda: np.zeros(6))
    base: int = 0
    log_moment: float = 0.0
    log_rest: float = 0.0
    slack: float = 0.0
    powers: float = 0.0

    def copy(self) -> _Direction:
        """Go on separately from here."""
        return replace(self)

    def add(self, pair: Pair, times: int) -> None:
        """Take in a pair: into the buffer if that is short work, else into the ring."""
        low, high = pair.span(self.plan.tail)
        if high - low > 2 * self.plan.size * self.plan.step:
            self.log_rest = -math.inf  # far beyond the budget: nothing is promised any more
            return
        comb = dots(pair, self.plan.step, self.plan.tail)
        part = tilted(comb, times, self.plan.tilt)
        self.log_moment += times * part.log_moment
        self.log_rest += times * math.log1p(-min(comb.top, 1 - EPS))
        self.slack += times * (comb.error + pair.slack + 16 * EPS)
        self.above = self.above + times * _log_moments(part, self.plan.thetas)
        if times > 1 or len(part.weight) * len(self.buffer) > BUFFER:
            self.flush()
            self._merge(part)
        else:
            self.buffer = np.convolve(self.buffer, part.weight)
            self.start += part.start

    def flush(self) -> None:
        """Merge the buffer into the ring."""
        whole_buffer = Tilted(self.start, 0.0, self.buffer, 1, 0.0, 0.0, 0.0, self.buffer)
        self.buffer, self.start = np.ones(1), 0
        self._merge(whole_buffer)

    def _merge(self, part: Tilted) -> None:
        plan, each = self.plan, 8 * math.log2(self.plan.size) * EPS
        place = np.zeros(plan.size)
        for begin in range(0, len(part.weight), plan.size):
            piece = part.weight[begin : begin + plan.size]
            place[: len(piece)] += piece
        wave = np.fft.rfft(place)
        self.spectrum = self.spectrum * (wave if part.count == 1 else power(wave, part.count))
        self.outer = self.outer * raised(np.abs(wave) + each, part.count)
        self.base += part.count * part.start
        self.powers += 32 * part.count * EPS
        error = np.maximum(self.outer - np.abs(self.spectrum), 0.0) + self.powers * self.outer
        noise = (2 * float(error.sum()) + 2 * each * float(self.outer.sum())) / plan.size
        ring = np.roll(np.fft.irfft(self.spectrum, plan.size), (self.base - plan.first) % plan.size)
        back = np.exp(-plan.tilt * plan.step * np.arange(plan.size))
        self.curve = curve_of((np.maximum(ring, 0.0) + noise) * back, plan.step)

    def epsilon(self, delta: float) -> float:
        """Give the least ε on the ring whose bound is at most δ, by chords between grid points."""
        plan, lost = self.plan, -math.expm1(self.log_rest)
        top = plan.step * (plan.first + plan.size)
        far = float((self.above - plan.thetas * top).min()) + self.log_moment - plan.tilt * top
        wanted = (delta - lost - math.exp(min(far, 1.0))) * math.exp(-self.slack)
        log_scale = self.log_moment - plan.tilt * plan.step * plan.first
        if log_scale > 700:
            return math.inf
        scale = math.exp(log_scale) * (1 + 16 * plan.size * EPS)
        length = len(self.buffer)
        back = (self.buffer * np.exp(-plan.tilt * plan.step * (self.start + np.arange(length))))[::-1]
        curve = np.append(self.curve, np.zeros(length + max(0, -self.start)))

        def bound(index: int) -> float:  # at the loss first + index: the buffer's losses against the ring's curve
            begin = index - self.start - length + 1
            return scale * float(back @ curve[begin : begin + length]) if begin >= 0 else math.inf

        low, high = 0, plan.size - 1
        if wanted <= 0 or bound(high) > wanted:
            return math.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if bound(middle) > wanted else (low, middle)
        over, under = bound(low), bound(high)
        part = 1.0 if not math.isfinite(over) else (over - wanted) / (over - under)
        found = plan.step * (plan.first + low) + math.log1p(part * math.expm1(plan.step))
        return max(0.0, up(found) + 2 * self.slack)


def _log_moments(part: Tilted, thetas: Array) -> Array:
    """Give ln E[e^{θL}] of a tilted part at several rates θ: Chernoff bounds for what leaves the ring at its top."""
    exponents = np.outer(thetas, part.centred)
    peaks = exponents.max(axis=1)
    logs: Array = peaks + np.log(np.exp(exponents - peaks[:, None]) @ part.weight) + thetas * part.mean
    return logs


class Running:
    """Price a growing list of events; each addition takes the same time, however many came before.

    Made for a budget: the ring is sized so that a composition of about `events` events that just fills the budget is
    priced to half a percent; far beyond the budget the price becomes ∞. The price is an upper bound, as `numerical`
    gives it, for events whose slots were fixed beforehand.

    It is NOT valid as a filter: if what is asked next, or whether to stop, depends on the answers seen, then the
    running (ε, δ) is no guarantee at the time of stopping. Use the filters for that.

    >>> from ..events import LaplaceNoise
    >>> total = Running(ApproxDP(1, 1e-6), events=1000)
    >>> for i in range(50):
    ...     total.add(LaplaceNoise(100 + i, 1))
    >>> 0.2 < total.epsilon(1e-6) < 0.3
    True

    Refuses a budget without δ, and events of another neighbour relation than the first.
    """

    __slots__ = ("_add", "_neighbours", "_remove")

    def __init__(self, budget: ApproxDP, *, events: int = 10_000) -> None:
        if not isinstance(budget, ApproxDP) or budget.epsilon == 0 or budget.delta == 0:
            raise InvalidArgument("Running is sized by a budget ApproxDP(epsilon, delta) with both above 0")
        plan = _plan(budget, whole(events, "events", least=1))
        ones = np.ones(plan.size // 2 + 1)
        self._remove = _Direction(plan, ones.astype(np.complex128), ones, np.zeros(0))
        self._add: _Direction | None = None
        self._neighbours: Neighbours | None = None
        self._remove.flush()

    def add(self, event: Event) -> None:
        """Add an event to the total."""
        if self._neighbours not in (None, event.neighbours):
            raise InvalidArgument(f"the events so far are stated under {self._neighbours!r}; restate this one")
        self._neighbours = event.neighbours
        for part, times in parts_of(event):
            pairs = pairs_of(part)
            if self._add is None and pairs.remove is not pairs.add:
                self._add = self._remove.copy()
            self._remove.add(pairs.remove, times)
            if self._add is not None:
                self._add.add(pairs.add, times)

    def epsilon(self, delta: Number) -> float:
        """Give an ε, rounded up, such that all so far is (ε, δ)-DP; ∞ if it is far beyond the budget."""
        exact = rational(delta, "delta")
        if not 0 < exact < 1:
            raise InvalidArgument(f"delta must lie between 0 and 1, got {delta}")
        sides = [self._remove] if self._add is None else [self._remove, self._add]
        return max(side.epsilon(float(exact)) for side in sides)
