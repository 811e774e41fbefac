"""Released numbers of a synthetic table, with all facts needed to read them without the plan.

A ledger stores these numbers. Tables, error bars and records are computed from them, without the
data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..frozen import frozen
from ..workloads.budget_shares import Floats
from ..workloads.estimate import ComponentEstimate, to_steps
from ..workloads.residual import component_estimate
from ..workloads.strategy_norms import MAX_SUM, Integers
from ..workloads.workload import KeySet
from .attribute import Attribute

Groups = tuple[Integers, ...]


@frozen(eq=False)
class Measured:
    """The released numbers: noisy contrasts of each set of columns, times a whole grid.

    `groups` has the group of each cell of each column; pairs are tables of groups. A total without
    noise has the variance 0.
    """

    attributes: tuple[Attribute, ...]
    sets: tuple[KeySet, ...]
    grids: tuple[int, ...]
    variances: tuple[float, ...]
    noisy: tuple[Integers, ...]
    groups: Groups

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(attribute.size for attribute in self.attributes)

    @property
    def cells(self) -> tuple[int, ...]:
        """The number of groups of each column: its cells in pairs."""
        return tuple(int(own.max()) + 1 for own in self.groups)

    def estimate(self) -> ComponentEstimate:
        """Return the least-squares estimate of the total and of single columns, cell by cell."""
        return self._estimate(self.sizes, 0, 1)

    def pair_estimate(self) -> ComponentEstimate:
        """Return the least-squares estimate of all tables, in groups of cells.

        The noise on a group is the sum of that on its cells. The largest stands for all groups of a
        column, so that error bars hold.
        """
        singles = self.estimate()
        pairs = self._estimate(self.cells, 2, 2)
        parts = dict(singles.parts)
        variances = dict(singles.variances)
        for place, own in enumerate(self.groups):
            if (place,) in parts and self.cells[place] < self.sizes[place]:
                table = singles.table((place,)).values
                parts[place,] = to_steps(group_sums(table, own))
                variances[place,] *= int(np.bincount(own).max())
        return ComponentEstimate(
            self.cells, parts | dict(pairs.parts), variances | dict(pairs.variances)
        )

    def deviations(self) -> dict[KeySet, float]:
        """Return the deviation of the noise on one number of each measured component."""
        found = dict(self.pair_estimate().variances) | dict(self.estimate().variances)
        return {part: math.sqrt(variance) for part, variance in found.items()}

    def _estimate(self, sizes: tuple[int, ...], least: int, most: int) -> ComponentEstimate:
        """Estimate from the sets of `least` to `most` columns, whose tables have these sizes."""
        kept = [place for place, one in enumerate(self.sets) if least <= len(one) <= most]
        return component_estimate(
            sizes,
            [self.sets[place] for place in kept],
            [self.noisy[place] for place in kept],
            [self.grids[place] for place in kept],
            [self.variances[place] for place in kept],
        )


def group_sums(table: Floats, groups: Integers) -> Floats:
    """Return the sums of a single column's table over its groups."""
    return np.asarray(np.bincount(groups, table), dtype=np.float64)


def ungrouped(attributes: tuple[Attribute, ...]) -> Groups:
    """Return for every column the grouping in which each cell is a group by itself."""
    return tuple(np.arange(attribute.size) for attribute in attributes)


def whole_numbers(values: Sequence[int]) -> Integers:
    """Return whole numbers as an array: of 64 bits, or of Python's own integers beyond them."""
    is_wide = max(map(abs, values), default=0) >= MAX_SUM
    return np.array(values, dtype=object if is_wide else np.int64)
