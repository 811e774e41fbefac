"""Exact test of a promise by two counts of one event.

An event was fixed beforehand. It happened `hits` times in `runs` on one input and `false_hits`
times in `false_runs` on the other. The probabilities (p, q) that survive at level α form one set:
those q inside their Clopper–Pearson interval at α/50, and those (p, q) under which
hits − slope·false_hits is as large as seen with probability above α − α/50 (Berger, Boos 1994). The
set holds the true pair with probability 1 − α, so any statement true for the whole set may be made
at once. It is sharper than a rectangle of two intervals: two unlikely counts rarely occur together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import ndtri
from ...frozen import frozen, replace
from .bounds import at_least, at_most, clopper_pearson_lower, clopper_pearson_upper
from .ceiling import Ceiling, PromiseFamily
from .claim import bracket

# Cells of q and blocks of false hits. Coarser is only weaker, never unsound: both round up.
_CELLS = 96
_BLOCKS = 360
# Fraction of α that is spent on the interval of q (Berger, Boos 1994).
_NUISANCE = 50


@frozen
class Evidence:
    """Counts of one event on each input.

    >>> from discreet.audit.evidence.ceiling import approximate, at_delta
    >>> from discreet.audit.evidence.counts import Evidence
    >>> seen = Evidence(hits=7311, runs=10_000, false_hits=2689, false_runs=10_000)
    >>> seen.refutes(approximate(0.9, 0), 0.001), seen.refutes(approximate(1.0, 0), 0.001)
    (True, False)
    >>> 0.94 < seen.least(at_delta(0), 0.001) < 0.96
    True

    Guarantee: a promise that holds is refuted with probability at most α.
    Law: `tests/audit/test_evidence.py::TestFalseAlarms`
    Law: `tests/audit/test_evidence.py::TestShape`
    """

    hits: int
    runs: int
    false_hits: int
    false_runs: int
    slope: float = 1.0
    """The weight of a false hit; any number fixed before the counts were seen."""

    def doubt(self, ceiling: Ceiling, gamma: float) -> float:
        """Bound the probability of evidence this strong while the promise holds.

        It is a p-value, at least gamma.
        """
        return min(1.0, self._probability(ceiling, gamma) + gamma)

    def _probability(self, ceiling: Ceiling, gamma: float) -> float:
        """Bound the p-value over all q in the interval at level gamma."""
        q_upper, needed, fewer = _cut(self, gamma)
        p = ceiling(q_upper)[:, None]
        tails = at_least(needed[None, :], self.runs, p)
        # Summation by parts over the blocks of false hits.
        differences = tails[:, :-1] - tails[:, 1:]
        mixed = np.sum(fewer * differences, axis=1) + tails[:, -1]
        # The factor covers the rounding of the sums: a p-value is never too small.
        return float(np.max(mixed)) * (1 + 1e-6)

    def refutes(self, ceiling: Ceiling, alpha: float) -> bool:
        """Return whether the promise is impossible at level α.

        A slope chosen on other runs may depend on few false hits, and then 492 of 500 against 12
        show nothing. So a quarter of α is kept for the plain difference, whatever was chosen.
        """
        return self._strength(ceiling, alpha) >= 0

    def _strength(self, ceiling: Ceiling, alpha: float) -> float:
        """Return how strongly a promise is refuted, in standard deviations; not if below 0."""
        if self.slope == 1:
            return self._excess(ceiling, alpha)
        chosen = self._excess(ceiling, 0.75 * alpha)
        if chosen >= 0:
            return chosen
        plain = replace(self, slope=1.0)
        return max(chosen, plain._strength(ceiling, 0.25 * alpha))  # noqa: SLF001 its own kind

    def _excess(self, ceiling: Ceiling, alpha: float) -> float:
        """Return by how many deviations the evidence is rarer than level α allows."""
        found = _deviations(self._probability(ceiling, alpha / _NUISANCE))
        allowed = _deviations(alpha * (_NUISANCE - 1) / _NUISANCE)
        return found - allowed

    def least(self, family: PromiseFamily, alpha: float) -> float:
        """Return the largest member of the family that is refuted, to 2e-4 of itself; 0 if none is.

        Ceilings rise along a family and the statistic is the same for all, so the first member that
        survives settles all further ones.

        Guarantee: the truth is above it with probability 1 − α.
        """

        @cache
        def strength(number: float) -> float:
            return self._strength(family.member(number), alpha)

        low = 0.0
        if strength(low) <= 0:
            return 0.0
        high = min(1.0, family.most) / 16
        while high < family.most and strength(high) > 0:
            low = high
            high = min(2 * high, family.most)
        if strength(high) > 0:
            return high
        return _last_positive(strength, low, high)


def _deviations(probability: float) -> float:
    """Return about how far out in a normal law so small a tail begins.

    Deviations are nearly linear along a family, where a probability is not.
    """
    if not probability:
        return math.inf
    return math.sqrt(-2 * math.log(min(probability, 1.0)))


def _last_positive(strength: Callable[[float], float], low: float, high: float) -> float:
    """Return a number up to which a falling function is positive, to 2e-4 of itself.

    False position comes near soon. Every third step halves the gap, which converges in any case.
    """
    above = strength(low)
    below = strength(high)
    step = 0
    while True:
        gap = high - low
        tolerance = 2e-4 * high + 1e-12
        if gap <= tolerance:
            return low
        step += 1
        fraction = 0.5
        if step % 3 and math.isfinite(above):
            fraction = above / (above - below)
        # Never closer to an end than half the tolerance, so that each step shrinks the gap.
        point = min(max(low + gap * fraction, low + tolerance / 2), high - tolerance / 2)
        found = strength(point)
        if found > 0:
            low = point
            above = found
        else:
            high = point
            below = found


@lru_cache(maxsize=8)
def _cut(seen: Evidence, gamma: float) -> tuple[Floats, Floats, Floats]:
    """Return the upper ends of the cells of q, and the blocks of false hits.

    For each block: the hits needed beside it, and the probability of fewer false hits. In a cell p
    is taken at the upper and q at the lower end, where the tail is largest. No ceiling is used
    here, so the search for a bound, which tries some twenty ceilings, reuses the result.
    """
    cuts = _grid(seen, gamma)
    edges = _edges(seen.false_runs, cuts[0], cuts[-1])
    needed = seen.hits + seen.slope * (edges - seen.false_hits)
    fewer = at_most(edges[None, 1:] - 1, seen.false_runs, cuts[:-1, None])
    return cuts[1:], needed, fewer


def _grid(seen: Evidence, gamma: float) -> Floats:
    """Cut the interval of q into cells of about equal standard deviation."""
    low = clopper_pearson_lower(seen.false_hits, seen.false_runs, gamma / 2)
    high = clopper_pearson_upper(seen.false_hits, seen.false_runs, gamma / 2)
    # The arc sine of the root makes the variance of a frequency constant.
    angles = np.linspace(np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)), _CELLS + 1)
    cuts: Floats = np.sin(angles) ** 2
    # The ends themselves, without the rounding of the sines.
    cuts[0] = low
    cuts[-1] = high
    return cuts


def _edges(n: int, low: float, high: float) -> Floats:
    """Cut the false hits 0..n into blocks, fine where they may well lie."""
    variance = n * max(low * (1 - low), high * (1 - high))
    margin = 7 * np.sqrt(variance) + 30
    first = max(0.0, n * low - margin)
    last = min(float(n), n * high + margin)
    fine = np.floor(np.linspace(first, last, _BLOCKS))
    return np.unique(np.concatenate(([0.0], fine)))


def slope_for(
    p: float, q: float, runs: int, family: PromiseFamily, *, trained: int, alpha: float = 0.001
) -> float:
    """Choose the weight of a false hit from *other* data, for the best bound on the family.

    `trained` runs gave p and q, `runs` will judge at level α. The margin is taken in the normal
    approximation, at the worst of the truths that lie one standard error around (p, q). A poor
    choice costs power, never soundness.

    Law: `tests/audit/test_evidence.py::TestSlope`
    """
    z = float(-ndtri(alpha)) / 2**0.5
    reach = float(-ndtri(alpha / 100))
    worst_p, _ = _around(p, trained, 2.0)
    _, worst_q = _around(q, trained, 2.0)
    # A steeper slope would depend on very few hits.
    ratio = max(worst_p / worst_q, (1 - worst_q) / (1 - worst_p), 1.0)
    slopes = np.geomspace(1 / ratio, ratio, 33)
    margins = []
    for true_p in _around(p, trained, 1.0):
        for true_q in _around(q, trained, 1.0):
            truth = _Truth(true_p, true_q, runs, z, reach)
            margins.append(truth.margin(family, slopes))
    least = np.min(margins, axis=0)
    return float(slopes[int(np.argmax(least))])


@frozen
class _Truth:
    """Possible true pair of probabilities (p, q), for choosing a slope.

    `z` is the distance of the bound from it, `reach` the half width of the interval of q, both in
    standard errors.
    """

    p: float
    q: float
    runs: int
    z: float
    reach: float

    def margin(self, family: PromiseFamily, slopes: Floats) -> Floats:
        """Return how surely each slope would refute, in standard errors, if (p, q) were true.

        It is the excess over the most that a promise at the edge of refutation allows. It helps to
        choose a slope and decides nothing.
        """
        # A tenth of a hit away from 0 and 1, where the variance would vanish.
        end = 0.1 / self.runs
        p = float(np.clip(self.p, end, 1 - end))
        q = float(np.clip(self.q, end, 1 - end))
        spread_p = np.sqrt(p * (1 - p) / self.runs)
        spread_q = np.sqrt(q * (1 - q) / self.runs)
        offsets = np.linspace(-self.reach, self.reach, 181) * spread_q
        near = np.clip(q + offsets, 0.0, 1.0)
        member = _corner(p - self.z * spread_p, min(1.0, q + self.z * spread_q), family)
        top = family.member(member)(near)
        worst = np.array([np.max(top - slope * near) for slope in slopes])
        spread = np.sqrt(spread_p**2 + slopes**2 * spread_q**2)
        return np.asarray((p - slopes * q - worst) / spread)


def _around(rate: float, runs: int, z: float) -> tuple[float, float]:
    """Return z standard errors around a frequency (Wilson 1927): to choose by, not to judge by."""
    middle = rate * runs + z * z / 2
    half = z * np.sqrt(runs * rate * (1 - rate) + z * z / 4)
    total = runs + z * z
    return float((middle - half) / total), float((middle + half) / total)


def _corner(p: float, q: float, family: PromiseFamily) -> float:
    """Find the member whose ceiling passes through (q, p), roughly."""
    at_q = np.array([q])

    def is_below(number: float) -> bool:
        return p > float(family.member(number)(at_q)[0])

    return bracket(is_below, 0.0, family.most, 40)[0]
