"""Weighted levels of a hierarchy: generalised least squares in two passes over the tree.

Each node has a noisy number y of variance v.

    up      z = (V·y + v·s)/(v + V)      s the sum of the children's z and V that of their variances
    down    child += v_child/Σv·(parent − Σz)      v here the variances of the children's z

This is the least-squares estimate of all nodes (Hay, Rastogi, Miklau, Suciu 2010; here for any
numbers of children). A node's variance follows in the same way:
Var(child | parent) = v_c − v_c²/Σv, plus (v_c/Σv)²·Var(parent).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..arithmetic.arrays import AnyArray, Floats, Integers
from ..frozen import frozen
from .budget_shares import best_shares, nested
from .estimate import to_steps
from .strategy_noise import Measurement, shares_of
from .strategy_norms import Block, cell_block, widened
from .workload import Hierarchy

_MIN_LEAF_SHARE = 1e-6


@frozen(eq=False)
class LevelEstimate:
    """Estimated leaves, in multiples of 1/STEP; levels are sums of leaves, exactly."""

    workload: Hierarchy
    leaves: Integers

    def level(self, depth: int) -> Integers:
        """Return all nodes of a level, the root being 0, in multiples of 1/STEP."""
        return level_sums(self.workload, self.leaves)[depth]


def level_sums(tree: Hierarchy, leaves: AnyArray) -> list[AnyArray]:
    """Return the sums of every level, the root first.

    Leaves have one row for each leaf, and one column for each combination of further keys.
    """
    levels = [widened(leaves)]
    for begins in reversed(tree.begins):
        levels.append(np.add.reduceat(levels[-1], begins, axis=0))
    return levels[::-1]


@frozen(eq=False)
class LevelStrategy:
    """Strategy that measures every level that has a share.

    `weights` are the shares of the budget by depth; a level of weight 0 is not measured. `groups`
    tables are measured side by side, such as one for each sex.
    """

    workload: Hierarchy
    weights: tuple[float, ...]
    groups: int = 1

    name: ClassVar[str] = "weighted levels"
    # Levels are always combined: no released number is an answer by itself.
    alone: ClassVar[bool] = False

    @property
    def depths(self) -> tuple[int, ...]:
        """Depths of the levels that are measured."""
        return tuple(depth for depth, weight in enumerate(self.weights) if weight)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that noise is added to: a unit lies in one node of each level."""
        blocks: list[Block] = []
        for depth in self.depths:
            blocks.append(cell_block("level", self.workload.sizes[depth] * self.groups))
        return tuple(blocks)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the budget of each block."""
        return shares_of([self.weights[depth] for depth in self.depths])

    def measure(self, leaves: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        levels = level_sums(self.workload, leaves)
        return tuple(np.asarray(levels[depth]).ravel() for depth in self.depths)

    def upwards(self, variances: Sequence[float]) -> list[Floats]:
        """Return the variance of each node's estimate from its own subtree, the root first."""
        own = dict(zip(self.depths, variances, strict=True))
        sizes = self.workload.sizes
        found = [np.full(sizes[-1], own[len(sizes) - 1])]
        for depth in range(len(sizes) - 2, -1, -1):
            below = np.add.reduceat(found[-1], self.workload.begins[depth])
            noise = own.get(depth, math.inf)
            if math.isinf(noise):
                # A level that is not measured is known from its children alone.
                found.append(below)
            else:
                found.append(noise * below / (noise + below))
        return found[::-1]

    def node_variances(self, variances: Sequence[float]) -> tuple[Floats, ...]:
        """Return the variance of every node's final estimate, the root first."""
        up = self.upwards(variances)
        found = [up[0]]
        for depth, parents in enumerate(self.workload.parents):
            children = up[depth + 1]
            pooled = np.add.reduceat(children, self.workload.begins[depth])
            share = children / pooled[parents]
            found.append(children * (1 - share) + share**2 * found[-1][parents])
        return tuple(found)

    def shares_below(self, variances: Sequence[float]) -> list[tuple[Floats, Floats]]:
        """Return by level each node's share of a change of its parent, and by parent Σv of its children.

        The levels are those below the root. The covariance of two nodes below different children of
        a node c is w·w′·(Var c − Σv), w and w′ the products of their shares from c down.
        """
        up = self.upwards(variances)
        found: list[tuple[Floats, Floats]] = []
        for depth, parents in enumerate(self.workload.parents):
            pooled = np.add.reduceat(up[depth + 1], self.workload.begins[depth])
            found.append((up[depth + 1] / pooled[parents], pooled))
        return found

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of the nodes of every level."""
        return tuple(float(level.mean()) for level in self.node_variances(variances))

    def estimate(self, noisy: Sequence[Integers], measured: Sequence[Measurement]) -> LevelEstimate:
        """Return the least-squares estimate from the released numbers."""
        own: dict[int, Floats] = {}
        noise: dict[int, float] = {}
        for depth, released, one in zip(self.depths, noisy, measured, strict=True):
            rows = released.reshape((-1, self.groups)) / one.grid
            own[depth] = np.asarray(rows, dtype=np.float64)
            noise[depth] = one.variance
        up = self.upwards(list(noise.values()))
        leaves = least_squares(self.workload, own, noise, up)
        return LevelEstimate(self.workload, to_steps(leaves))


def least_squares(
    tree: Hierarchy, own: Mapping[int, Floats], noise: Mapping[int, float], up: Sequence[Floats]
) -> Floats:
    """Return the estimated leaves from noisy levels by depth, their variances, and `upwards`."""
    last = len(tree.parents)
    pooled = {last: own[last]}
    sums: dict[int, Floats] = {}
    # Up: each node is the average of its own number and the sum of its children.
    for depth in range(last - 1, -1, -1):
        sums[depth] = np.add.reduceat(pooled[depth + 1], tree.begins[depth], axis=0)
        pooled[depth] = sums[depth]
        if depth in noise:
            share = (up[depth] / noise[depth])[:, None]
            pooled[depth] = share * own[depth] + (1 - share) * sums[depth]
    # Down: the difference between a node and the sum of its children is shared among them.
    final = pooled[0]
    for depth, parents in enumerate(tree.parents):
        children = up[depth + 1]
        share = children / np.add.reduceat(children, tree.begins[depth])[parents]
        final = pooled[depth + 1] + share[:, None] * (final - sums[depth])[parents]
    return np.asarray(final)


def deepest_alike(sizes: Sequence[int], depth: int, last: int) -> int:
    """Return the deepest level, up to `last`, that has as many nodes as a level.

    Every node has a child, so as many nodes mean one child each: these levels hold the same numbers.
    One of them is measured, with the shares of all: the deepest, from which the others follow.
    """
    while depth < last and sizes[depth + 1] == sizes[depth]:
        depth += 1
    return depth


def best_levels(tree: Hierarchy, *, laplace: bool) -> LevelStrategy:
    """Return the shares of levels that minimise the mean squared error over levels.

    They are found for a tree whose nodes have equally many children on each level. Predicted errors
    are those of the tree itself.

    >>> from discreet.workloads import Hierarchy
    >>> from discreet.workloads.tree import best_levels
    >>> len(best_levels(Hierarchy([[0, 0], [0, 0, 1, 1]]), laplace=False).weights)
    3
    """
    levels = len(tree.sizes)
    gains, energy = nested(tree.sizes, [1 / levels] * levels)
    found = best_shares(gains, energy, laplace=laplace).shares
    shares = [0.0] * levels
    for depth, share in enumerate(found):
        shares[deepest_alike(tree.sizes, depth, levels - 1)] += share
    # Leaves are always measured, since they are asked.
    shares[-1] = max(shares[-1], _MIN_LEAF_SHARE)
    return LevelStrategy(tree, tuple(shares))
