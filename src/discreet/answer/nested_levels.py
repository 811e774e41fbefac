"""The cells of nested levels: every set from one estimate, moved from the top down where nothing may be negative."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ..statistics.releases.set_totals import SetsRelease
from ..workloads.estimate import STEP
from ..workloads.nested import NestedEstimate
from ..workloads.nested.estimate import tidy
from ..workloads.strategy_norms import Integers
from ..workloads.tail import SumLaw


def level_cells(
    release: SetsRelease, estimate: NestedEstimate, *, floor: bool, whole: bool
) -> Iterator[tuple[Fraction, Fraction, SumLaw]]:
    """Return the cells of every set: the estimate, what is shown of it, and how far off it is.

    Whole numbers are whole in people, of which one is 1/unit steps.
    """
    step = STEP * release.unit.denominator if whole else 1
    levels = tidy(estimate, step) if floor else None
    known = release.plan.cell_laws() if release.plan.measured[0].laplace else None
    for place_of, (depth, keys) in enumerate(estimate.workload.sets):
        table = estimate.table(depth, keys)
        tops = table.numerators.ravel().tolist()
        shown = (
            None
            if levels is None
            else _summed(levels[depth], estimate.workload.sizes, keys).ravel().tolist()
        )
        laws = _laws(release, estimate, depth, keys) if known is None else known[place_of]
        each = len(tops) // len(laws)
        for place, top in enumerate(tops):
            exact = Fraction(top, table.denominator)
            moved = exact if shown is None else Fraction(shown[place] * step, STEP)
            yield exact, moved, laws[place // each]


def _summed(level: Integers, sizes: tuple[int, ...], keys: tuple[int, ...]) -> Integers:
    gone = tuple(1 + place for place in range(len(sizes)) if place not in keys)
    return np.asarray(level.reshape(-1, *sizes).sum(axis=gone))


def _laws(
    release: SetsRelease, estimate: NestedEstimate, depth: int, keys: tuple[int, ...]
) -> list[SumLaw]:
    """Return how far off a cell of each node is; nodes whose variances are equal share a law."""
    measured = release.plan.measured
    widest = ((max(one.scale for one in measured), 1.0),) if measured[0].laplace else ()
    known, places = np.unique(np.sqrt(estimate.variance(depth, keys)), return_inverse=True)
    found = [SumLaw(float(deviation), widest, loose=bool(widest)) for deviation in known]
    return [found[place] for place in places.tolist()]
