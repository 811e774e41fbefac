"""Specimens that release tables, on which auditors are tested.

Histograms, thresholds on keys, workers whose generators were forked, and an error that tells.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...arithmetic.arrays import Integers
from ...privacy.measures import ApproxDP
from .noise import CLAIM_FRACTION, geometric
from .specimen import Specimen

Table = Integers


def _counts(data: Sequence[str]) -> Table:
    return np.array([data.count("a"), data.count("b")])


def histogram(data: Sequence[str], size: int) -> Table:
    """Count two public groups, noise of scale 1/(0.95 ε): right for add/remove, not replace."""
    return _counts(data) + geometric(1 / CLAIM_FRACTION, (size, 2))


def wide_histogram(data: Sequence[str], size: int) -> Table:
    """Count two public groups, noise of scale 2/(0.95 ε) each."""
    return _counts(data) + geometric(2 / CLAIM_FRACTION, (size, 2))


def forked_generator(data: Sequence[str], size: int) -> Table:
    """Let two workers count a group each, with forked generators: both add the same noise."""
    return _counts(data) + geometric(1.0, (size, 1))


def _shown(data: Sequence[str], size: int, least: int) -> list[dict[str, int]]:
    """Return tables of the keys whose noisy count is at least `least`."""
    counts = Counter(data)
    noise = geometric(1.0, (size, len(counts)))
    tables = []
    for row in noise:
        shown = {}
        for (key, count), drawn in zip(counts.items(), row, strict=True):
            noisy = int(count + drawn)
            if noisy >= least:
                shown[key] = noisy
        tables.append(shown)
    return tables


def off_by_one_threshold(data: Sequence[str], size: int) -> list[dict[str, int]]:
    """Show keys whose noisy count is at least 5 where δ = 5e-3 needs 6."""
    return _shown(data, size, 5)


def threshold(data: Sequence[str], size: int) -> list[dict[str, int]]:
    """Show keys whose noisy count is at least 7: P[1 + noise ≥ 7] = e^−6/(1 + e^−1) < 5e-3."""
    return _shown(data, size, 7)


def all_keys(data: Sequence[str], size: int) -> list[dict[str, int]]:
    """Show every key that occurs, as GROUP BY does."""
    return _shown(data, size, -(10**9))


def telling_error(data: Sequence[float]) -> float:
    """Refuse a value out of bounds, after looking at the data: the error is an answer."""
    # The branch depends on a private value, so the exception reveals it.
    if max(data) > 10:
        raise ValueError("a value exceeds the bound")
    return float(len(data) + geometric(1.0, 1)[0])


_MOVED = (["a", "a", "b"], ["a", "b", "b"])
_RARE = (["a"] * 3, ["a"] * 3 + ["rare"])

BROKEN = (
    Specimen.of(
        histogram,
        _MOVED,
        "under replace a person leaves one group and enters another: the loss is 2ε",
        name="parallel_under_replace",
        broken=True,
        neighbours="replace",
    ),
    Specimen.of(
        forked_generator,
        (["a", "b"], ["a", "a", "b"]),
        "the same noise twice cancels in the difference",
        broken=True,
        samples=4000,
        neighbours="add-remove",
    ),
    Specimen.of(
        off_by_one_threshold,
        _RARE,
        "a key of one person appears with probability e^−4/(1 + e^−1) = 1.3e-2",
        claim=ApproxDP(1, "5e-3"),
        broken=True,
        samples=40_000,
        neighbours="add-remove",
    ),
    Specimen.of(
        all_keys,
        _RARE,
        "the presence of a key is the presence of a person",
        claim=ApproxDP(1, "5e-3"),
        broken=True,
        samples=4000,
        neighbours="add-remove",
    ),
    Specimen.of(
        telling_error,
        ([3.0, 4.0], [3.0, 40.0]),
        "an error that depends on a value is an answer without noise",
        broken=True,
        samples=2000,
        neighbours="replace",
    ),
)

SOUND = (
    Specimen.of(
        histogram,
        (["a", "b"], ["a", "a", "b"]),
        "under add/remove a person is in one group",
        neighbours="add-remove",
    ),
    Specimen.of(wide_histogram, _MOVED, "twice the noise for two groups", neighbours="replace"),
    Specimen.of(
        threshold,
        _RARE,
        f"a key of one person appears with probability {math.exp(-6) / (1 + math.exp(-1)):.1e}",
        claim=ApproxDP(1, "5e-3"),
        neighbours="add-remove",
    ),
)
