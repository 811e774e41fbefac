"""Where fresh noise meets the exact totals: one release at a time, for all keys."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Add fresh noise to whole numbers of any size; the noise is drawn as an array, the sum is Python's."""
    noise = mechanism.release(np.zeros(len(values), dtype=np.int64), bits=bits)
    return [value + extra for value, extra in zip(values, noise.tolist(), strict=True)]


def choose_cells(
    release: ChosenRelease,
    counts: ExactTotals,
    keys: Sequence[KeyValues],
    *,
    bits: Bits | None = None,
) -> list[int]:
    """Choose a cell in every key."""
    each = (np.array(release.need.scores(counts, key)) for key in keys)
    return [release.mechanism.release(one, bits=bits) for one in each]


def draw(
    release: PlannedRelease,
    counts: GatheredTotals,
    keys: Sequence[KeyValues],
    level: float,
    *,
    bits: Bits | None = None,
) -> Sequence[Drawn]:
    """Release one thing for all keys."""
    if isinstance(release, JointRelease):
        return _draw_joint(release, counts, keys, bits=bits)
    if isinstance(release, PlaceRelease):
        found = release.need.counts(counts)
        return [release.draw(found.get(key, {}), level, bits=bits) for key in keys]
    if isinstance(release, ChosenRelease):
        places = choose_cells(release, counts, keys, bits=bits)
        return [ChosenCell(release.need.cells, place, release.error()) for place in places]
    exact = [release.need.exact(counts, key) for key in keys]
    return [
        NoisyTotal(steps, release.unit, release.mechanism)
        for steps in add_noise(release.mechanism, exact, bits=bits)
    ]


def _draw_joint(
    release: JointRelease, counts: JointTotals, keys: Sequence[KeyValues], *, bits: Bits | None
) -> list[tuple[NoisyTotal, ...]]:
    """Add noise to all totals of all keys at once."""
    exact = [release.need.exact(counts, key) for key in keys]
    noisy = iter(
        add_noise(release.mechanism, [total for each in exact for total in each], bits=bits)
    )
    return [
        tuple(NoisyTotal(next(noisy), release.unit, release.mechanism) for _ in each)
        for each in exact
    ]
