"""Cells of a hierarchy (nested levels): every set of keys from one estimate of the tree.

If counts may not be negative, they are moved from the top of the tree down. This is post-processing.
"""

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
    """Yield for the cells of every set the estimate, the value shown, and the law of its error.

    Whole numbers are whole in people, of which one is 1/unit steps.
    """
    step = 1
    if whole:
        step = STEP * release.unit.denominator
    # Nonnegative and consistent levels; None if the estimates are shown as they are.
    moved_levels = tidy(estimate, step) if floor else None
    known_laws = release.plan.cell_laws() if release.plan.measured[0].laplace else None
    for set_index, (depth, keys) in enumerate(estimate.workload.sets):
        table = estimate.table(depth, keys)
        numerators = table.numerators.ravel().tolist()
        moved: list[int] | None = None
        if moved_levels is not None:
            summed = _summed(moved_levels[depth], estimate.workload.sizes, keys)
            moved = summed.ravel().tolist()
        if known_laws is None:
            laws = _laws(release, estimate, depth, keys)
        else:
            laws = known_laws[set_index]
        # One law for each node; the cells of a node follow each other.
        cells_per_law = len(numerators) // len(laws)
        for place, numerator in enumerate(numerators):
            exact = Fraction(numerator, table.denominator)
            shown = exact
            if moved is not None:
                shown = Fraction(moved[place] * step, STEP)
            yield exact, shown, laws[place // cells_per_law]


def _summed(level: Integers, sizes: tuple[int, ...], keys: tuple[int, ...]) -> Integers:
    """Sum a level over the keys that a set does not have; axis 0 is the node."""
    summed_axes = tuple(1 + place for place in range(len(sizes)) if place not in keys)
    table = level.reshape(-1, *sizes)
    return np.asarray(table.sum(axis=summed_axes))


def _laws(
    release: SetsRelease, estimate: NestedEstimate, depth: int, keys: tuple[int, ...]
) -> list[SumLaw]:
    """Return the law of the error of a cell, for each node; nodes of equal variance share one."""
    measured = release.plan.measured
    laplace = measured[0].laplace
    terms: tuple[tuple[float, float], ...] = ()
    if laplace:
        # A loose law: the variance and the widest Laplace noise bound the tail.
        widest = max(one.scale for one in measured)
        terms = ((widest, 1.0),)
    deviations = np.sqrt(estimate.variance(depth, keys))
    distinct, law_of_node = np.unique(deviations, return_inverse=True)
    laws = [SumLaw(float(deviation), terms, loose=laplace) for deviation in distinct]
    return [laws[index] for index in law_of_node.tolist()]
