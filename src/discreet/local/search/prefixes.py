"""Evidence about prefixes over several rounds of a heavy-hitter search.

A prefix was estimated in earlier rounds and its extensions in this one, independently and about
normally. Evidence adds up along a word, and a frequent extension explains its prefix.

The likelihood ratio of "a word of some frequency begins so" to "nothing does" is e^Z. Here
Z = v²/(2s²) for the estimate v that all rounds give together, with variance s², and Z = 0 if v ≤ 0.
There are 2^length prefixes of that length, hence the prior 2^−length. The rivals of a prefix are
"nothing at all" and, at every round, "the prefix is right, the extension is not". The log-odds of
a prefix are Z − length·ln 2 minus the logarithm of the sum of its rivals.

Law: `tests/local/test_words.py::TestPrefixes`
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..estimates.estimate import Array

# Deviations from which an extension counts as present. By chance alone a handful of a million do.
_MIN_DEVIATIONS = 4.5
# Log-odds from which a word that scouts found counts as present beyond doubt.
_MIN_SURE_ODDS = 5.0


@frozen(eq=False)
class PrefixEvidence:
    """Evidence of the rounds so far about each prefix.

    Holds the frequency, its variance, ln of the sum of the rivals, and the log-odds.
    """

    values: Array
    variances: Array
    rivals: Array
    odds: Array


def no_evidence(wanted: int, prefixes: int = 1) -> PrefixEvidence:
    """Return the evidence about prefixes never estimated, with `wanted` words expected."""
    zeros = np.zeros(prefixes)
    # An infinite variance gives the earlier estimate the weight 0 in `add_round`.
    unknown = zeros + math.inf
    return PrefixEvidence(zeros, unknown, zeros - math.log(wanted), zeros)


def add_round(
    heard: PrefixEvidence, own: Array, variance: float, *, known: int, length: int, wanted: int
) -> PrefixEvidence:
    """Add the estimates `own` of one round to the evidence `heard` of the rounds before.

    `variance` is that of each estimate, and `wanted` the number of words that are searched for.

    `own` has a row for each prefix of `known` bits, and a column for each extension to `length`
    bits. The frequency of extensions that are clearly present is subtracted from their prefix
    before the other extensions are weighed.

    >>> import numpy as np
    >>> from discreet.local.search.prefixes import no_evidence, add_round
    >>> found = add_round(no_evidence(1), np.array([[0.1, 0.3]]), 0.01, known=0, length=1, wanted=1)
    >>> found.odds.round(2).tolist()
    [-0.19, 3.81]
    """
    clear = own >= _MIN_DEVIATIONS * math.sqrt(variance)
    explained = np.where(clear, own, 0.0)
    clear_siblings = clear.sum(axis=1, keepdims=True) - clear
    # An extension's own frequency is not subtracted from the prefix: only that of its siblings.
    all_explained = explained.sum(axis=1, keepdims=True)
    before = heard.values[:, None] - all_explained + explained
    before_variance = heard.variances[:, None] + variance * clear_siblings
    # Inverse-variance weighting, written so that an infinite variance gives weight 1.
    weight = 1 / (1 + variance / before_variance)
    values = weight * own + (1 - weight) * before
    variances = weight * variance
    # If siblings explain the prefix, its rivals are judged anew by the unexplained frequency.
    unexplained = _log_likelihood(before, before_variance, known)
    new_rivals = np.logaddexp(-math.log(wanted), unexplained)
    has_siblings = (clear_siblings > 0) & np.isfinite(before_variance)
    rivals = np.where(has_siblings, new_rivals, heard.rivals[:, None])
    likely = _log_likelihood(values, variances, length)
    all_rivals = np.logaddexp(rivals, likely)
    odds = likely - rivals
    return PrefixEvidence(
        values.reshape(-1), variances.reshape(-1), all_rivals.reshape(-1), odds.reshape(-1)
    )


def _log_likelihood(values: Array, variances: Array, length: int) -> Array:
    """Return Z − length·ln 2: the log-likelihood ratio with the prior of a prefix of `length`."""
    positive = np.maximum(values, 0.0)
    log_prior = length * math.log(2)
    return np.asarray(positive**2 / (2 * variances) - log_prior)


def rank(found: PrefixEvidence, wanted: int) -> NDArray[np.intp]:
    """Return the indices of the `wanted` best words.

    Words more likely present than not come first, by frequency; the others follow by log-odds.
    """
    best = np.argsort(-found.odds, kind="stable")[: 4 * wanted]
    likely = int((found.odds[best] >= 0).sum())
    by_frequency = np.argsort(-found.values[best[:likely]], kind="stable")
    ranked = np.concatenate([best[by_frequency], best[likely:]])
    return ranked[:wanted]


def certain_words(found: PrefixEvidence, most: int) -> NDArray[np.intp]:
    """Return the indices of words present beyond doubt, the most frequent first."""
    sure = np.flatnonzero(found.odds >= _MIN_SURE_ODDS)
    by_frequency = np.argsort(-found.values[sure], kind="stable")
    return sure[by_frequency][:most]


def clear_fraction(own: Array, variance: float, places: NDArray[np.intp]) -> float:
    """Return the fraction of people who hold one of the prefixes `places` clearly present.

    Only this round counts: averages with earlier rounds give siblings of a frequent prefix a part
    of its frequency.
    """
    values = own[places]
    clear = values >= _MIN_DEVIATIONS * math.sqrt(variance)
    return float(values[clear].sum())


def without_extensions(found: PrefixEvidence, bits: int) -> PrefixEvidence:
    """Return words as prefixes without extensions: a word is no rival of itself."""
    rivals = _log_likelihood(found.values, found.variances, bits) - found.odds
    return PrefixEvidence(found.values, found.variances, rivals, found.odds)
