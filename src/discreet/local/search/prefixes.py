"""Which prefixes are frequent after several rounds: evidence adds up along a word, a heavy child explains its parent.

A prefix was estimated in earlier rounds, its extensions are estimated in this one, independently and about normally.
The likelihood ratio of "a word of some frequency begins so" to "nothing does" is e^Z, Z = v²/(2s²) for the estimate v
that all rounds give together, with variance s², and 0 if v ≤ 0. There are 2^length places for such a word; its rivals
are, besides nothing at all, "the prefix is right, the extension is not", at every round. The log-odds of a prefix are
those of Z − length·ln 2 against the sum of its rivals.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..estimates.estimate import Array

_CLEAR = 4.5  # deviations from which an extension counts as there: a handful of a million would without being there
_SURE = 5.0  # log-odds from which a word that scouts found counts as found


@frozen(eq=False)
class PrefixEvidence:
    """What the rounds so far say of each prefix: its frequency, the variance, ln of the sum of its rivals, log-odds."""

    values: Array
    variances: Array
    rivals: Array
    odds: Array


def no_evidence(wanted: int, prefixes: int = 1) -> PrefixEvidence:
    """Return what is known of prefixes that were never estimated, with `wanted` words expected."""
    none = np.zeros(prefixes)
    return PrefixEvidence(none, none + math.inf, none - math.log(wanted), none)


def weigh(
    heard: PrefixEvidence, own: Array, variance: float, *, known: int, length: int, wanted: int
) -> PrefixEvidence:
    """Add a round: `own` has a row for each prefix of `known` bits and a column for each extension to `length` bits.

    What extensions that are clearly there account for is taken off their prefix before the others are weighed.

    >>> import numpy as np
    >>> from discreet.local.search.prefixes import no_evidence, weigh
    >>> found = weigh(no_evidence(1), np.array([[0.1, 0.3]]), 0.01, known=0, length=1, wanted=1)
    >>> found.odds.round(2).tolist()
    [-0.19, 3.81]
    """
    clear = own >= _CLEAR * math.sqrt(variance)
    taken = np.where(clear, own, 0.0)
    others = clear.sum(axis=1, keepdims=True) - clear
    before = heard.values[:, None] - taken.sum(axis=1, keepdims=True) + taken
    noise = heard.variances[:, None] + variance * others
    weight = 1 / (1 + variance / noise)
    values = weight * own + (1 - weight) * before
    spread = weight * variance
    left = np.logaddexp(-math.log(wanted), _likelihood(before, noise, known))
    rivals = np.where((others > 0) & np.isfinite(noise), left, heard.rivals[:, None])
    likely = _likelihood(values, spread, length)
    columns = values, spread, np.logaddexp(rivals, likely), likely - rivals
    return PrefixEvidence(*(column.reshape(-1) for column in columns))


def _likelihood(values: Array, variances: Array, length: int) -> Array:
    return np.asarray(np.maximum(values, 0.0) ** 2 / (2 * variances) - length * math.log(2))


def rank(found: PrefixEvidence, wanted: int) -> NDArray[np.intp]:
    """Return the words found: those more likely there than not by their frequency, then the others by their odds."""
    best = np.argsort(-found.odds, kind="stable")[: 4 * wanted]
    sure = int((found.odds[best] >= 0).sum())
    frequent = np.argsort(-found.values[best[:sure]], kind="stable")
    return np.concatenate([best[frequent], best[sure:]])[:wanted]


def sure_of(found: PrefixEvidence, most: int) -> NDArray[np.intp]:
    """Return the words that are there beyond doubt, the most frequent first."""
    sure = np.flatnonzero(found.odds >= _SURE)
    return sure[np.argsort(-found.values[sure], kind="stable")][:most]


def clear_share(own: Array, variance: float, places: NDArray[np.intp]) -> float:
    """Return how many people a round says begin with those of the prefixes that are clearly there.

    By this round alone: averages with earlier ones lend siblings of a frequent prefix a part of it.
    """
    values = own[places]
    return float(values[values >= _CLEAR * math.sqrt(variance)].sum())


def alone(found: PrefixEvidence, bits: int) -> PrefixEvidence:
    """Return words as prefixes that nothing extends: themselves are no rivals of theirs."""
    rivals = _likelihood(found.values, found.variances, bits) - found.odds
    return PrefixEvidence(found.values, found.variances, rivals, found.odds)
