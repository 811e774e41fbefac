"""Dominating pair of shuffled reports (amplification by shuffling).

It is the pair of the mechanism where its two levels are known, and "clones" for any ε-DP report.

Two levels. A report of value v is one of the outputs Y; those in a set S_v are e^ε times as likely
as the others. With Z = |Y| + (e^ε − 1)|S_v|, a report is uniform over Y with probability γ = |Y|/Z
for every sender (the privacy blanket; Balle, Bell, Gascón, Nissim 2019), else uniform over S_v.
Tell the adversary which of the others sent no blanket report, and what they sent: m ~ Bin(n − 1, γ)
uniform reports are left to hide in. Two values differ on A = S_u∖S_v and B = S_v∖S_u, a part h of Y
each. The person adds to A with probability e^ε γh, to B with γh, evenly to all else of Y with γ(1 −
2h). The remainder, (e^ε − 1)|S_u ∩ S_v|/Z on S_u ∩ S_v, is the same for both values and may be
revealed. With N = m + 1 and (a, b) the counts,

    P(a, b) = Mult(N; h, h)(a, b) · γ(N + (e^ε − 1)a)/N,   Q(a, b) = P(b, a):

given c = a + b this is (1) of `counters` with s = (e^ε − 1)c/(2N + (e^ε − 1)c). Smaller N dominates
(a further uniform report is post-processing). Revealing m matters: without it this is no bound.

Clones (Feldman, McMillan, Talwar 2021, Theorem 3.1): C ~ Bin(n − 1, e^−ε) others are as good as
clones of either value. The person is among c = C + 1 of them: s = (e^ε − 1)/(e^ε + 1). The bound
of their 2023 paper for all mechanisms is not used: its proof does not hold there (see its erratum).

Law: tests/local/test_shuffle.py::TestNeverBelowTheTruth
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.root_finder import bisect
from ...arithmetic.rounding import down, up
from ..events.choice import Shuffled
from ..loss.atoms import Atoms
from ..loss.loss_masses import Array
from .counters import (
    DEPTH,
    Counters,
    counters_delta,
    counters_pair,
    cut_mass,
    runs,
    window,
)
from .yes_no import yes_no_delta, yes_no_pair

MAX_PEOPLE = 10**8
"""People beyond which more are not counted: it bounds the work, and fewer is the safe side."""
_FINE = 1 / 600
"""Length of runs of N and of c, relatively."""
EXP_MARGIN = 2.0**-48
"""Margin of e^ε: sixteen units in the last place."""
_PROBE = (1e-12, 1e-9, 1e-6)
"""Values of δ at which two pairs are compared."""


def shuffled_pair(event: Shuffled, depth: int = DEPTH) -> Atoms:
    """Return a pair that dominates the shuffled reports in both directions: the best one known.

    | known of the mechanism | pairs compared |
    |---|---|
    | nothing but ε | clones |
    | the sizes of its two levels | clones, two levels |
    | randomized response between yes and no | clones, the worst case of the others' answers |

    Cases of a chance below about e^−depth are counted as lost.

    Law: tests/local/test_shuffle.py::TestNeverBelowTheTruth

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.pair import shuffled_pair
    >>> round(shuffled_pair(Shuffled(1, 1000, 10, 1, 0)).delta(0.05), 4) < 0.01
    True
    """
    candidates = [clones_pair(event.epsilon, event.n, depth)]
    if _is_yes_no(event):
        candidates.append(yes_no_pair(event.epsilon, event.n))
    else:
        own = two_level_pair(event, depth)
        if own is not None:
            candidates.append(own)
    # Each candidate dominates, so that any choice is sound; this one is the tightest.
    middle = float(event.epsilon) / 2
    return min(candidates, key=lambda pair: (_largest_reach(pair), pair.delta(middle)))


def shuffled_delta(event: Shuffled, epsilon: float) -> float:
    """Return about the δ(ε) of the pair, at one ε and in a fraction of the time.

    A search tries it before it asks for the pair.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.pair import shuffled_delta, shuffled_pair
    >>> event = Shuffled(1, 100, 10, 1, 0)
    >>> 0.99 < shuffled_delta(event, 0.2) / shuffled_pair(event).delta(0.2) <= 1
    True
    """
    candidates = [counters_delta(_clones(event.epsilon, event.n), epsilon)]
    if _is_yes_no(event):
        candidates.append(yes_no_delta(event.epsilon, event.n, epsilon))
    else:
        own = _two_level(event)
        if own is not None:
            candidates.append(counters_delta(own, epsilon))
    return min(candidates)


def _is_yes_no(event: Shuffled) -> bool:
    """Return whether the reports are randomized response between two."""
    return (event.outputs, event.inside) == (2, 1)


def _largest_reach(pair: Atoms) -> float:
    """Return the largest ε of the probes to three digits: of few people all pairs reach as far."""
    largest = max(_reach(pair, delta) for delta in _PROBE)
    return float(f"{largest:.3g}")


def _reach(pair: Atoms, delta: float) -> float:
    """Return about the ε at which the curve falls to δ."""
    largest = float(pair.losses[-1])
    return bisect(lambda epsilon: pair.lower_delta(epsilon) > delta, 0.0, largest, 30)[1]


def clones_pair(epsilon: Fraction, n: int, depth: int = DEPTH) -> Atoms:
    """Return the pair of the clones, for any ε-DP reports of n people."""
    return counters_pair(_clones(epsilon, n, depth), upward=True)


def two_level_pair(event: Shuffled, depth: int = DEPTH) -> Atoms | None:
    """Return the pair of a two-level mechanism, with m revealed; None if its sizes are unknown."""
    cases = _two_level(event, depth)
    return None if cases is None else counters_pair(cases, upward=True)


def _clones(epsilon: Fraction, n: int, depth: int = DEPTH) -> Counters:
    """Return the cases of the clones: one row, with a column for each run of numbers c."""
    people = min(n, MAX_PEOPLE)
    # e^ε rounds up: larger slopes and fewer clones, both of which dominate.
    growth = up(math.exp(float(epsilon)), EXP_MARGIN)
    first, law = window(people - 1, 1 / growth, depth)
    # c = C + 1. A run of totals is replaced by its smallest, which dominates.
    starts = runs(first + 1, first + law.size, _FINE)
    mass = np.add.reduceat(law, starts - first - 1)
    slope = (growth - 1) / (growth + 1)
    slopes = np.full((1, starts.size), slope)
    chances = mass[None, :]
    lost = cut_mass(depth)
    return Counters(starts, chances, slopes, 0.0, lost, _chance_error(people), depth)


def _two_level(event: Shuffled, depth: int = DEPTH) -> Counters | None:
    """Return the cases of a two-level mechanism: rows for N, columns for c; None if not known."""
    if event.outputs is None or event.inside is None or event.shared is None:
        return None
    people = min(event.n, MAX_PEOPLE)
    # e^ε rounds up: it makes the blanket smaller and the slopes larger, both of which dominate.
    growth = up(math.exp(float(event.epsilon)), EXP_MARGIN)
    excess = growth - 1
    blanket, apart = two_level_shares(event.outputs, event.inside, event.shared, growth)
    first, others = window(people - 1, blanket, depth)
    # N = m + 1. A run of N is replaced by its smallest, which dominates.
    starts = runs(first + 1, first + others.size, _FINE)
    mass = np.add.reduceat(others, starts - first - 1)
    laws = [window(int(size), 2 * apart, depth) for size in starts]
    low = min(begin for begin, _ in laws)
    stop = max(begin + law.size for begin, law in laws)
    high = stop - 1
    totals = runs(low, high, _FINE)
    # In a run of totals the smallest c dominates, and the largest slope does.
    next_starts = np.append(totals[1:], stop)
    ends = next_starts - 1
    chances = np.zeros((starts.size, totals.size))
    for row, (begin, law) in enumerate(laws):
        counts = begin + np.arange(law.size)
        tilts = 1 + excess * counts / (2 * starts[row])
        chances[row] = _sums_over_runs(begin, law * tilts, totals)
    chances *= blanket * mass[:, None]
    sizes = starts[:, None].astype(np.float64)
    leaning = excess * ends[None, :]
    slopes = leaning / (2 * sizes + leaning)
    even = blanket * excess * event.shared / event.outputs
    # The mass cut off the law of c is weighted by γ(1 + (e^ε − 1)c/2N), at most 1 + |Y|/2|S|. The
    # mass cut off the law of m is lost besides.
    lost = cut_mass(depth) * (2 + event.outputs / event.inside)
    return Counters(totals, chances, slopes, even, lost, _chance_error(people), depth)


def two_level_shares(outputs: int, inside: int, shared: int, growth: float) -> tuple[float, float]:
    """Return γ and h of a two-level mechanism whose larger chance is `growth` times the smaller.

    γ is the chance that a report is uniform whatever its value, h the part of the outputs in one
    value's set and not in another's.

    >>> from discreet.privacy.shuffling.pair import two_level_shares
    >>> two_level_shares(4, 1, 0, 5.0)
    (0.5, 0.25)
    """
    # Sizes may have thousands of digits: they are divided as integers.
    blanket = 1 / (1 + inside / outputs * (growth - 1))
    return blanket, (inside - shared) / outputs


def lower_two_level_pair(epsilon: Fraction, n: int, moved: float, noise: float) -> Atoms:
    """Return a pair below that of a mechanism which moves two counters by (1, 0), (0, 1) or not.

    The person's report falls into A or B with probability `moved`, split as e^ε to 1. Each of
    n − 1 others falls into each of A and B with probability `noise`, being people with a third
    value.

    Guarantee: no price of the mechanism can be below the pair's. The case can happen, and the
    counters are a function of what is seen (data processing).

    Law: tests/local/test_shuffle.py::TestFigures
    """
    people = min(n, 10 * MAX_PEOPLE)
    # e^ε rounds down here: a smaller slope is dominated.
    growth = down(math.exp(float(epsilon)), EXP_MARGIN)
    begin, law = window(people - 1, 2 * noise)
    size = law.size + 1
    # The total is one larger if the person's report falls into A or B.
    within = np.append(0.0, law) * moved
    without = np.append(law, 0.0) * (1 - moved)
    both = within + without
    totals = runs(begin, begin + size - 1, _FINE)
    # The largest c of a run and the smallest slope: the corner that is dominated.
    next_starts = np.append(totals[1:], begin + size)
    ends = next_starts - 1
    taking = within / np.maximum(both, 1e-300)
    largest_slope = (growth - 1) / (growth + 1)
    slopes = largest_slope * taking[totals - begin]
    chances = _sums_over_runs(begin, both, totals)
    error = _chance_error(people)
    chances = chances[None, :]
    slopes = slopes[None, :]
    cases = Counters(ends, chances, slopes, 0.0, 0.0, error)
    return counters_pair(cases, upward=False)


def lower_binary_pair(epsilon: Fraction, n: int) -> Atoms:
    """Return a pair below that of randomized response between two: all others have one value.

    The number of answers "1" tells all: Bin(n − 1, p) + Bern(p) against Bin(n − 1, p) +
    Bern(1 − p).

    Law: tests/local/test_shuffle.py::TestFigures
    """
    people = min(n, 10 * MAX_PEOPLE)
    p = 1 / (1 + math.exp(-float(epsilon)))
    _, law = window(people - 1, p)
    hit = np.append(0.0, law)
    miss = np.append(law, 0.0)
    own = p * hit + (1 - p) * miss
    other = (1 - p) * hit + p * miss
    # Losses round down to multiples of 2^−40, one step lower than the nearest: a lower bound.
    exact = np.log(own / other) * 2.0**40
    losses = np.floor(exact - 1) * 2.0**-40
    order = np.argsort(losses)
    error = _chance_error(people)
    masses = own[order] * (1 - 2 * error)
    return Atoms(losses[order], masses, limit=epsilon, error=error)


def _sums_over_runs(
    begin: int, law: Array, starts: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Array:
    """Add up a law that begins at `begin` over runs that begin at `starts`."""
    values = begin + np.arange(law.size)
    run = np.searchsorted(starts, values, side="right") - 1
    sums = np.bincount(run, weights=law, minlength=starts.size)
    return np.asarray(sums, dtype=np.float64)


def _chance_error(n: int) -> float:
    """Bound the relative error of a chance: p is right to 2^-52, so Bin(n, p) to about 2n·2^-52."""
    return (8 * n + 4096) * 2.0**-52
