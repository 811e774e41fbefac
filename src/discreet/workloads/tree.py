"""Nested levels, each measured with its share of the budget: two passes of generalised least squares.

    up      z = (V·y + v·s)/(v + V)      s the sum of the children's z and V that of their variances
    down    child += v_child/Σv·(parent − Σz)

That is the least-squares estimate of all nodes (Hay, Rastogi, Miklau, Suciu 2010; here for any numbers of children).
A node's variance follows the same way: Var(child | parent) = v_c − v_c²/Σv, plus (v_c/Σv)²·Var(parent).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..frozen import frozen
from .budget_shares import Floats, best_shares, nested
from .estimate import to_steps
from .strategy_noise import Measurement, shares_of
from .strategy_norms import Block, Integers, roomy
from .workload import Hierarchy


@frozen(eq=False)
class LevelEstimate:
    """Estimated leaves, in multiples of 1/STEP; levels are sums of leaves, exactly."""

    workload: Hierarchy
    leaves: Integers

    def level(self, depth: int) -> Integers:
        """Return all nodes of a level, the root being 0, in multiples of 1/STEP."""
        return level_sums(self.workload, self.leaves)[depth]


def level_sums(tree: Hierarchy, leaves: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the sums of every level, the root first; leaves have one row a leaf, and one column a group beside."""
    found = [roomy(leaves)]
    for begins in reversed(tree.begins):
        found.append(np.add.reduceat(found[-1], begins, axis=0))
    return found[::-1]


@frozen(eq=False)
class LevelStrategy:
    """Measure every level that has a share; `groups` tables stand side by side, such as one for each sex."""

    workload: Hierarchy
    weights: tuple[float, ...]
    groups: int = 1

    @property
    def name(self) -> str:
        """What a plan calls it."""
        return "weighted levels"

    @property
    def depths(self) -> tuple[int, ...]:
        """The levels that are measured."""
        return tuple(depth for depth, weight in enumerate(self.weights) if weight)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to: a unit lies in one node of each level."""
        counts = [self.workload.sizes[depth] * self.groups for depth in self.depths]
        return tuple(Block("level", rows, 1, 1, 1, 1, 2 if rows > 1 else 1) for rows in counts)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of the budget of each block."""
        return shares_of([self.weights[depth] for depth in self.depths])

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself: never, for levels are put together."""
        return False

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
            found.append(below if math.isinf(noise) else noise * below / (noise + below))
        return found[::-1]

    def node_variances(self, variances: Sequence[float]) -> tuple[Floats, ...]:
        """Return the variance of every node's final estimate, the root first."""
        up = self.upwards(variances)
        found = [up[0]]
        for depth, parents in enumerate(self.workload.parents):
            children = up[depth + 1]
            part = children / np.add.reduceat(children, self.workload.begins[depth])[parents]
            found.append(children * (1 - part) + part**2 * found[-1][parents])
        return tuple(found)

    def shares_below(self, variances: Sequence[float]) -> list[tuple[Floats, Floats]]:
        """Return for every level below the root each node's share of what moves its parent, and Σ of that level's v.

        Two nodes below different children of c move together by w·w′·(Var c − Σv), w the product of the shares from c.
        """
        up = self.upwards(variances)
        found = []
        for depth, parents in enumerate(self.workload.parents):
            pooled = np.add.reduceat(up[depth + 1], self.workload.begins[depth])
            found.append((up[depth + 1] / pooled[parents], pooled))
        return found

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of the nodes of every level."""
        return tuple(float(level.mean()) for level in self.node_variances(variances))

    def estimate(self, noisy: Sequence[Integers], measured: Sequence[Measurement]) -> LevelEstimate:
        """Return the least-squares estimate from what was released."""
        variances = [one.variance for one in measured]
        pairs = zip(self.depths, noisy, measured, strict=True)
        shape = (-1, self.groups)
        own = {
            depth: np.asarray(rows.reshape(shape) / one.grid, dtype=np.float64)
            for depth, rows, one in pairs
        }
        noise = dict(zip(self.depths, variances, strict=True))
        leaves = least_squares(self.workload, own, noise, self.upwards(variances))
        return LevelEstimate(self.workload, to_steps(leaves))


def least_squares(
    tree: Hierarchy, own: Mapping[int, Floats], noise: Mapping[int, float], up: Sequence[Floats]
) -> Floats:
    """Return the estimated leaves from noisy levels by their depths, the variance of each, and `upwards`."""
    last = len(tree.parents)
    pooled, sums = {last: own[last]}, {}
    for depth in range(last - 1, -1, -1):
        sums[depth] = np.add.reduceat(pooled[depth + 1], tree.begins[depth], axis=0)
        share = (up[depth] / noise[depth])[:, None] if depth in noise else 0.0
        pooled[depth] = (
            sums[depth] if depth not in noise else share * own[depth] + (1 - share) * sums[depth]
        )
    final = pooled[0]
    for depth, parents in enumerate(tree.parents):
        part = up[depth + 1] / np.add.reduceat(up[depth + 1], tree.begins[depth])[parents]
        final = pooled[depth + 1] + part[:, None] * (final - sums[depth])[parents]
    return np.asarray(final)


def best_levels(tree: Hierarchy, *, laplace: bool) -> LevelStrategy:
    """Return the shares of levels that make the mean over levels of the squared errors least.

    Found for a tree whose nodes have equally many children on each level; errors are those of the tree itself.

    >>> from discreet.workloads import Hierarchy
    >>> from discreet.workloads.tree import best_levels
    >>> len(best_levels(Hierarchy([[0, 0], [0, 0, 1, 1]]), laplace=False).weights)
    3
    """
    gains, energy = nested(tree.sizes, [1 / len(tree.sizes)] * len(tree.sizes))
    shares = list(best_shares(gains, energy, laplace=laplace).shares)
    shares[-1] = max(shares[-1], 1e-6)  # leaves are always measured: they are asked
    return LevelStrategy(tree, tuple(shares))
