"""Where noise meets the exact totals: one release at a time, for all keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ...noise import Bits
from ...plan.release import Additive, Choice, ChosenRelease, Distinct, Release, Total, steps_per_row
from ...query.bounds.cells import Cells
from ...query.domains.domain import Scalar
from ..estimates.noisy import Noisy
from ..gather import Counts

__all__ = ["Pick", "choose", "draw", "inputs", "noised", "scores", "shift_of"]

Key = tuple[Scalar, ...]
_DEEP = -(1 << 62)


@dataclass(frozen=True, slots=True)
class Pick:
    """A cell that was chosen, and how many ranks or rows the choice may miss, but for a chance of 5 %."""

    cells: Cells
    place: int
    miss: float


def inputs(want: Total | Distinct, counts: Counts, keys: Sequence[Key]) -> list[int]:
    """Give what noise is added to: the exact total of every key, 0 for one that does not occur."""
    if isinstance(want, Total):
        return [counts.get(key, 0) for key in keys]
    return [sum(counts.get((*key, *place), 0) > 0 for place in want.cells.places) for key in keys]


def noised(mechanism: Additive, values: Sequence[int], *, bits: Bits | None = None) -> list[int]:
    """Add fresh noise to whole numbers of any size; the noise is drawn as an array, the sum is Python's."""
    noise = mechanism.release(np.zeros(len(values), dtype=np.int64), bits=bits)
    return [value + extra for value, extra in zip(values, noise.tolist(), strict=True)]


def shift_of(release: ChosenRelease, level: float) -> int:
    """Say how far the ends of a quantile's interval aim beside it, in steps of the scores.

    The choice misses its aim by at most t, but for half of 1 − level; aiming t and two rows below, the cell chosen
    begins below the quantile (two rows, since SQL interpolates between neighbours).
    """
    want = release.want
    if not want.side:
        return 0
    miss = release.mechanism.error(want.options, (1 - level) / 2)
    return want.side * (math.ceil(miss) + 2 * steps_per_row(want))


def scores(want: Choice, counts: Counts, key: Key, shift: int) -> list[int]:
    """Score every outcome of one key: −(how many ranks it is off), or how often a value occurs.

    The aim is the rank q(n − 1) + 1/2, between the rows that SQL interpolates: the least value for q = 0, the greatest
    for q = 1. So ranks are counted in halves of 1/denominator. Depths beyond 2^62 are cut off: that moves no two scores
    further apart.
    """
    each = [counts.get((*key, *place), 0) for place in want.cells.places]
    if want.at is None:
        return each
    top, bottom, weight = want.at.numerator, want.at.denominator, want.tally.terms[0].weight
    up_to = [0, *accumulate(2 * bottom * count for count in each)]
    aim = 2 * top * sum(each) + weight * (bottom - 2 * top) + shift
    inner = [-max(0, aim - after, before - aim) for before, after in pairwise(up_to)]
    outer = [-max(0, aim), *inner, -max(0, up_to[-1] - aim)] if want.side else inner
    return [max(_DEEP, score) for score in outer]


def choose(
    release: ChosenRelease, counts: Counts, keys: Sequence[Key], level: float, *, bits: Bits | None = None
) -> list[int]:
    """Choose a cell in every key; "before" and "after" all cells are the first and the last one."""
    want, shift, last = release.want, shift_of(release, level), len(release.want.cells.places) - 1
    offset = 1 if want.side else 0
    each = (np.array(scores(want, counts, key, shift)) for key in keys)
    return [min(max(release.mechanism.release(one, bits=bits) - offset, 0), last) for one in each]


def draw(
    release: Release, counts: Counts, keys: Sequence[Key], level: float, *, bits: Bits | None = None
) -> Sequence[Noisy | Pick]:
    """Release one thing for all keys."""
    if isinstance(release, ChosenRelease):
        places = choose(release, counts, keys, level, bits=bits)
        return [Pick(release.want.cells, place, release.error()) for place in places]
    noisy = noised(release.mechanism, inputs(release.want, counts, keys), bits=bits)
    return [Noisy(steps, release.unit, release.mechanism) for steps in noisy]
