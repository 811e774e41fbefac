"""Two counts and what follows from them, exactly: is the promise still possible?

An event was fixed beforehand; it happened `hits` times in `runs` on one input and `false_hits` times in `false_runs` on
the other. The probabilities (p, q) that survive at level α form one set: those q inside their Clopper–Pearson interval
at α/50, and those (p, q) under which hits − slope·false_hits is as large as seen with probability above α − α/50
(Berger, Boos 1994). It holds the true pair with probability 1 − α, so whatever holds for the whole set may be said at
once. It is sharper than a rectangle of two intervals: two things rarely go wrong together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from ...arithmetic.special import ndtri
from ...frozen import frozen, replace
from .bounds import Floats, at_least, at_most, clopper_pearson_lower, clopper_pearson_upper
from .ceiling import Ceiling, PromiseFamily

_NUISANCE, _BLOCKS = 96, 360
"""How finely q and the false hits are cut; coarser is only weaker, never unsound (both cuts round up)."""


@frozen
class Evidence:
    """How often one event happened on each input.

    >>> from discreet.audit.evidence.ceiling import approximate, at_delta
    >>> from discreet.audit.evidence.counts import Evidence
    >>> seen = Evidence(hits=7311, runs=10_000, false_hits=2689, false_runs=10_000)
    >>> seen.refutes(approximate(0.9, 0), 0.001), seen.refutes(approximate(1.0, 0), 0.001)
    (True, False)
    >>> 0.94 < seen.least(at_delta(0), 0.001) < 0.96
    True
    """

    hits: int
    runs: int
    false_hits: int
    false_runs: int
    slope: float = 1.0
    """The weight of a false hit; any number fixed before the counts were seen."""

    def doubt(self, ceiling: Ceiling, gamma: float) -> float:
        """Bound the chance of evidence this strong while the promise holds: a p-value, at least gamma."""
        return min(1.0, self._chance(ceiling, gamma) + gamma)

    def _chance(self, ceiling: Ceiling, gamma: float) -> float:
        above, needed, fewer = _cut(self, gamma)
        tails = at_least(needed[None, :], self.runs, ceiling(above)[:, None])
        mixed = np.sum(fewer * (tails[:, :-1] - tails[:, 1:]), axis=1) + tails[:, -1]
        return float(np.max(mixed)) * (1 + 1e-6)

    def refutes(self, ceiling: Ceiling, alpha: float) -> bool:
        """Return whether the promise is impossible at level α.

        A slope that was chosen on other runs may stake all on few false hits, and then 492 of 500 against 12 show
        nothing. So a quarter of α is kept for the plain difference, whatever was chosen.
        """
        return self._against(ceiling, alpha) >= 0

    def _against(self, ceiling: Ceiling, alpha: float) -> float:
        """Return how strongly a promise is refuted, in deviations: below 0 it is not."""
        if self.slope == 1:
            return self._rarer(ceiling, alpha)
        plain, chosen = replace(self, slope=1.0), self._rarer(ceiling, 0.75 * alpha)
        return chosen if chosen >= 0 else max(chosen, plain._against(ceiling, 0.25 * alpha))  # noqa: SLF001 its own kind

    def _rarer(self, ceiling: Ceiling, alpha: float) -> float:
        """Return by how many deviations evidence this strong is rarer than level α allows."""
        return _deviations(self._chance(ceiling, alpha / 50)) - _deviations(alpha * 49 / 50)

    def least(self, family: PromiseFamily, alpha: float) -> float:
        """Return the largest member of the family that is refuted: the truth is above it with probability 1 − α.

        Ceilings rise along a family and the statistic is the same for all, so the first that survives settles the rest.
        It is known to 2e-4 of itself.
        """

        @cache
        def against(number: float) -> float:
            return self._against(family.member(number), alpha)

        low, high = 0.0, min(1.0, family.most) / 16
        if against(low) <= 0:
            return 0.0
        while high < family.most and against(high) > 0:
            low, high = high, min(2 * high, family.most)
        return high if against(high) > 0 else _last(against, low, high)


def _deviations(chance: float) -> float:
    """Return about how far out in a normal law so little lies: straight along a family, where a chance is not."""
    return math.sqrt(-2 * math.log(min(chance, 1.0))) if chance else math.inf


def _last(against: Callable[[float], float], low: float, high: float) -> float:
    """Return a number up to which a falling function is above 0, and not 2e-4 of itself further on.

    Straight lines through both ends come near soon; half the gap, every third time, comes near in any case.
    """
    above, below, step = against(low), against(high), 0
    while (gap := high - low) > (close := 2e-4 * high + 1e-12):
        step += 1
        part = above / (above - below) if step % 3 and math.isfinite(above) else 0.5
        point = min(max(low + gap * part, low + close / 2), high - close / 2)
        found = against(point)
        low, above, high, below = (
            (point, found, high, below) if found > 0 else (low, above, point, found)
        )
    return low


@lru_cache(maxsize=8)
def _cut(seen: Evidence, gamma: float) -> tuple[Floats, Floats, Floats]:
    """Return the cells of q at their upper ends, the hits needed beside each block of false hits, and the chance of
    fewer of those: no ceiling has a say in them, and the search for a bound tries some twenty.

    In a cell p is taken at the upper and q at the lower end, where the tail is largest.
    """
    cuts = _grid(seen, gamma)
    edges = _edges(seen.false_runs, cuts[0], cuts[-1])
    needed = seen.hits + seen.slope * (edges - seen.false_hits)
    return cuts[1:], needed, at_most(edges[None, 1:] - 1, seen.false_runs, cuts[:-1, None])


def _grid(seen: Evidence, gamma: float) -> Floats:
    """Cut the range of q."""
    low = clopper_pearson_lower(seen.false_hits, seen.false_runs, gamma / 2)
    high = clopper_pearson_upper(seen.false_hits, seen.false_runs, gamma / 2)
    angles = np.linspace(np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)), _NUISANCE + 1)
    cuts: Floats = np.sin(angles) ** 2
    cuts[0], cuts[-1] = low, high
    return cuts


def _edges(n: int, low: float, high: float) -> Floats:
    """Cut the false hits 0..n into blocks, fine where they may well lie."""
    spread = 7 * np.sqrt(n * max(low * (1 - low), high * (1 - high))) + 30
    first, last = max(0.0, n * low - spread), min(float(n), n * high + spread)
    return np.unique(np.concatenate(([0.0], np.floor(np.linspace(first, last, _BLOCKS)))))


def slope_for(
    p: float, q: float, runs: int, family: PromiseFamily, *, trained: int, alpha: float = 0.001
) -> float:
    """Choose the weight of a false hit from *other* data: the one that promises the best bound on the family's number.

    `trained` runs gave p and q, `runs` will judge at level α. The margin is taken in the normal approximation and at
    the worst of the truths that lie one standard error around (p, q); a poor choice costs power, never soundness.
    """
    z, reach = float(-ndtri(alpha)) / 2**0.5, float(-ndtri(alpha / 100))
    (p_low, p_high), (q_low, q_high) = (_around(v, trained, 1.0) for v in (p, q))
    worst_p, worst_q = _around(p, trained, 2.0)[0], _around(q, trained, 2.0)[1]
    ratio = max(
        worst_p / worst_q, (1 - worst_q) / (1 - worst_p), 1.0
    )  # a steeper slope would stake all on luck
    slopes = np.geomspace(1 / ratio, ratio, 33)
    truths = [_Truth(a, b, runs, z, reach) for a in (p_low, p_high) for b in (q_low, q_high)]
    least = np.min([truth.margin(family, slopes) for truth in truths], axis=0)
    return float(slopes[int(np.argmax(least))])


@frozen
class _Truth:
    """A pair of probabilities that may be true, and how far from them the bound will lie, in standard errors."""

    p: float
    q: float
    runs: int
    z: float
    reach: float

    def margin(self, family: PromiseFamily, slopes: Floats) -> Floats:
        """Return by how many standard errors each slope refutes the member that is just about refuted."""
        p, q = (float(np.clip(v, 0.1 / self.runs, 1 - 0.1 / self.runs)) for v in (self.p, self.q))
        spread_p, spread_q = np.sqrt(p * (1 - p) / self.runs), np.sqrt(q * (1 - q) / self.runs)
        near = np.clip(q + np.linspace(-self.reach, self.reach, 181) * spread_q, 0.0, 1.0)
        member = _corner(p - self.z * spread_p, min(1.0, q + self.z * spread_q), family)
        top = family.member(member)(near)
        worst = np.array([np.max(top - s * near) for s in slopes])
        return np.asarray((p - slopes * q - worst) / np.sqrt(spread_p**2 + slopes**2 * spread_q**2))


def _around(rate: float, runs: int, z: float) -> tuple[float, float]:
    """Return z standard errors around a frequency (Wilson 1927), good enough to choose by."""
    middle, half = rate * runs + z * z / 2, z * np.sqrt(runs * rate * (1 - rate) + z * z / 4)
    return float((middle - half) / (runs + z * z)), float((middle + half) / (runs + z * z))


def _corner(p: float, q: float, family: PromiseFamily) -> float:
    """Find the member whose ceiling passes through (q, p), roughly."""
    low, high = 0.0, family.most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if p > float(family.member(middle)(np.array([q]))[0]) else (low, middle)
        )
    return low
