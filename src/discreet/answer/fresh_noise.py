"""Noise addition: the only place where exact totals get fresh noise, one release for all keys.

Guarantee: every number that is returned was released by the mechanism of its release.
Law: tests/statistics/test_partition.py, tests/answer/test_coverage.py
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from ..noise import Bits
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import Drawn, PlannedRelease
from ..statistics.releases.choice import ChosenCell, ChosenRelease
from ..statistics.releases.partition import JointRelease, JointTotals
from ..statistics.releases.quantile_release import PlaceRelease
from ..statistics.releases.total import ExactTotals, KeyValues, NoisyTotal
from .tally_batch import GatheredTotals


def add_noise(mechanism: Additive, values: Sequence[int], *, bits: Bits | None = None) -> list[int]:
    """Add fresh noise to whole numbers of any size."""
    # Noise is drawn on an array of zeros and added as Python integers: exact totals may exceed 64 bits.
    zeros = np.zeros(len(values), dtype=np.int64)
    noise = mechanism.release(zeros, bits=bits)
    return [value + extra for value, extra in zip(values, noise.tolist(), strict=True)]


def choose_cells(
    release: ChosenRelease,
    counts: ExactTotals,
    keys: Sequence[KeyValues],
    *,
    bits: Bits | None = None,
) -> list[int]:
    """Choose one cell in every key privately, by its scores."""
    chosen = []
    for key in keys:
        scores = np.array(release.need.scores(counts, key))
        chosen.append(release.mechanism.release(scores, bits=bits))
    return chosen


def draw(
    release: PlannedRelease,
    counts: GatheredTotals,
    keys: Sequence[KeyValues],
    level: float,
    *,
    bits: Bits | None = None,
) -> Sequence[Drawn]:
    """Draw one release for all keys."""
    if isinstance(release, JointRelease):
        return _draw_joint(release, counts, keys, bits=bits)
    if isinstance(release, PlaceRelease):
        by_key = release.need.counts(counts)
        return [release.draw(by_key.get(key, {}), level, bits=bits) for key in keys]
    if isinstance(release, ChosenRelease):
        cells = choose_cells(release, counts, keys, bits=bits)
        return [ChosenCell(release.need.cells, cell, release.error()) for cell in cells]
    exact = [release.need.exact(counts, key) for key in keys]
    noisy = add_noise(release.mechanism, exact, bits=bits)
    return [NoisyTotal(steps, release.unit, release.mechanism) for steps in noisy]


def _draw_joint(
    release: JointRelease, counts: JointTotals, keys: Sequence[KeyValues], *, bits: Bits | None
) -> list[tuple[NoisyTotal, ...]]:
    """Add noise to all totals of all keys at once."""
    exact = [release.need.exact(counts, key) for key in keys]
    # One array for all: drawing noise in blocks is much faster than key by key.
    flat = list(chain.from_iterable(exact))
    noisy = iter(add_noise(release.mechanism, flat, bits=bits))
    drawn = []
    for totals in exact:
        own = islice(noisy, len(totals))
        drawn.append(tuple(NoisyTotal(steps, release.unit, release.mechanism) for steps in own))
    return drawn
