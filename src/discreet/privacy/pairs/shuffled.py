"""The pair of shuffled reports: by the mechanism where its two levels are known, by "clones" for any ε-DP report.

Two levels. A report is uniform over Y with probability γ = |Y|/Z, whoever sends it (the blanket; Balle, Bell, Gascón,
Nissim 2019), else uniform over S_v. Tell the adversary which of the others sent no blanket report, and what they sent:
m ~ Bin(n − 1, γ) uniform reports are left to hide in. Two values differ on A = S_u∖S_v and B = S_v∖S_u, a share h of
Y each. The person adds to A with probability e^ε γh, to B with γh, to the rest of Y evenly with γ(1 − 2h); what
remains, (e^ε − 1)λ/Z on S_u ∩ S_v, is the same for both values and may be told. With N = m + 1 and (a, b) the counts,

    P(a, b) = Mult(N; h, h)(a, b) · γ(N + (e^ε − 1)a)/N,   Q(a, b) = P(b, a):

given c = a + b this is (1) of `counters` with s = (e^ε − 1)c/(2N + (e^ε − 1)c). Smaller N dominates (a further uniform
report is post-processing). That m is told matters: without it the bound is not one (tests/local/test_shuffle.py).

Clones (Feldman, McMillan, Talwar 2021, Theorem 3.1): C ~ Bin(n − 1, e^−ε) others are as good as clones of either value,
c = C + 1, and the person is among them: s = (e^ε − 1)/(e^ε + 1). The bound of their 2023 paper for all mechanisms is
not used: its proof does not hold there (see its erratum).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import down, up
from ..events.shuffled import Shuffled
from .atoms import Atoms
from .counters import Counters, counters_delta, counters_pair, runs, window
from .loss_masses import Array
from .yes_no import yes_no_delta, yes_no_pair

MOST = 10**8
"""People beyond which more are not counted: it bounds the work, and fewer is the safe side."""
_FINE = 1 / 600  # runs of N and of c, relatively
_EXACT = 2.0**-48  # margin of e^ε
_PROBE = (1e-12, 1e-9, 1e-6)  # where two pairs are compared


def shuffled_pair(event: Shuffled) -> Atoms:
    """Return a pair that dominates the shuffled reports, in both directions: the best one of those that are known.

    Clones always; the two-level one where the sizes are known; for yes or no, the worst of all the others may answer.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.pairs.shuffled import shuffled_pair
    >>> round(shuffled_pair(Shuffled(1, 1000, 10, 1, 0)).delta(0.05), 4) < 0.01
    True
    """
    known = [clones_pair(event.epsilon, event.n)]
    if (event.outputs, event.inside) == (2, 1):
        known.append(yes_no_pair(event.epsilon, event.n))
    elif (own := two_level_pair(event)) is not None:
        known.append(own)
    return min(known, key=lambda pair: max(_reach(pair, delta) for delta in _PROBE))


def shuffled_delta(event: Shuffled, epsilon: float) -> float:
    """Return about the δ(ε) of the pair, at one ε and in a fraction of the time: what a search tries before it asks.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.pairs.shuffled import shuffled_delta, shuffled_pair
    >>> event = Shuffled(1, 100, 10, 1, 0)
    >>> 0.99 < shuffled_delta(event, 0.2) / shuffled_pair(event).delta(0.2) <= 1
    True
    """
    known = [counters_delta(_clones(event.epsilon, event.n), epsilon)]
    if (event.outputs, event.inside) == (2, 1):
        known.append(yes_no_delta(event.epsilon, event.n, epsilon))
    elif (own := _two_level(event)) is not None:
        known.append(counters_delta(own, epsilon))
    return min(known)


def _reach(pair: Atoms, delta: float) -> float:
    """Return about where the curve falls to δ."""
    low, high = 0.0, float(pair.losses[-1])
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.lower_delta(middle) > delta else (low, middle)
    return high


def clones_pair(epsilon: Fraction, n: int) -> Atoms:
    """Return the pair of the clones, for any ε-DP reports of n people."""
    return counters_pair(_clones(epsilon, n), upward=True)


def two_level_pair(event: Shuffled) -> Atoms | None:
    """Return the pair of a two-level mechanism, m told; None if its sizes are not known."""
    cases = _two_level(event)
    return None if cases is None else counters_pair(cases, upward=True)


def _clones(epsilon: Fraction, n: int) -> Counters:
    people = min(n, MOST)
    e = up(math.exp(float(epsilon)), _EXACT)
    first, chances = window(people - 1, 1 / e)
    starts = runs(first + 1, first + chances.size, _FINE)
    mass = np.add.reduceat(chances, starts - first - 1)
    slopes = np.full((1, starts.size), (e - 1) / (e + 1))
    return Counters(starts, mass[None, :], slopes, 0.0, 1e-34, _error(people))


def _two_level(event: Shuffled) -> Counters | None:
    if event.outputs is None or event.inside is None or event.shared is None:
        return None
    people = min(event.n, MOST)
    e = up(math.exp(float(event.epsilon)), _EXACT)
    blanket = 1 / (1 + event.inside / event.outputs * (e - 1))
    apart = (event.inside - event.shared) / event.outputs
    first, others = window(people - 1, blanket)
    starts = runs(first + 1, first + others.size, _FINE)  # N = m + 1
    mass = np.add.reduceat(others, starts - first - 1)
    laws = [window(int(size), 2 * apart) for size in starts]
    low, high = min(law[0] for law in laws), max(law[0] + law[1].size for law in laws) - 1
    totals = runs(low, high, _FINE)
    ends = np.append(totals[1:], high + 1) - 1
    sizes = starts[:, None].astype(np.float64)
    chances = np.zeros((starts.size, totals.size))
    for row, (begin, law) in enumerate(laws):
        chances[row] = _gathered(
            begin, law * (1 + (e - 1) * (begin + np.arange(law.size)) / (2 * starts[row])), totals
        )
    chances *= blanket * mass[:, None]
    slopes = (e - 1) * ends[None, :] / (2 * sizes + (e - 1) * ends[None, :])
    even = blanket * (e - 1) * event.shared / event.outputs
    lost = 1e-34 * (
        2 + event.outputs / event.inside
    )  # what is cut off the law of c weighs γ(1 + (e^ε − 1)c/2N)
    return Counters(totals, chances, slopes, even, lost, _error(people))


def lower_pair(epsilon: Fraction, n: int, moved: float, noise: float) -> Atoms:
    """Return a pair below that of a mechanism which moves two counters by (1, 0), (0, 1) or not at all.

    The person's report falls into A or B with probability `moved`, split as e^ε to 1; each of n − 1 others falls into
    each of A and B with probability `noise`, being people with a third value. That is a case that can happen, and the
    counters are a function of what is seen, so no price can be below theirs (data processing).
    """
    people = min(n, 10 * MOST)
    e = down(math.exp(float(epsilon)), _EXACT)
    first, law = window(people - 1, 2 * noise)
    begin, size = first, law.size + 1
    within, without = np.append(0.0, law) * moved, np.append(law, 0.0) * (1 - moved)
    totals = runs(begin, begin + size - 1, _FINE)
    ends = np.append(totals[1:], begin + size) - 1
    both = within + without
    taking = within / np.maximum(both, 1e-300)
    slopes = (e - 1) / (e + 1) * taking[totals - begin]
    chances = _gathered(begin, both, totals)
    return counters_pair(
        Counters(ends, chances[None, :], slopes[None, :], 0.0, 0.0, _error(people)), upward=False
    )


def lower_binary(epsilon: Fraction, n: int) -> Atoms:
    """Return a pair below that of randomized response among two: everybody else has the same value.

    The number of answers "1" tells all: Bin(n − 1, p) + Bern(p) against Bin(n − 1, p) + Bern(1 − p).
    """
    people = min(n, 10 * MOST)
    p = 1 / (1 + math.exp(-float(epsilon)))
    _, law = window(people - 1, p)
    hit, miss = np.append(0.0, law), np.append(law, 0.0)
    own, other = p * hit + (1 - p) * miss, (1 - p) * hit + p * miss
    losses = np.floor(np.log(own / other) * 2.0**40 - 1) * 2.0**-40
    order = np.argsort(losses)
    return Atoms(
        losses[order], own[order] * (1 - 2 * _error(people)), limit=epsilon, error=_error(people)
    )


def _gathered(begin: int, law: Array, starts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Array:
    """Add up a law that begins at `begin` over runs that begin at `starts`."""
    run = np.searchsorted(starts, begin + np.arange(law.size), side="right") - 1
    return np.asarray(np.bincount(run, weights=law, minlength=starts.size), dtype=np.float64)


def _error(n: int) -> float:
    """Bound the relative error of a chance: p is right to 2^-52, so Bin(n, p) to about 2n·2^-52, and so on."""
    return (8 * n + 4096) * 2.0**-52
