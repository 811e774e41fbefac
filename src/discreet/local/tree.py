"""A tree over bins: which level each person reports on, and how the levels are put together for a range.

Every person reports on one level, drawn evenly (splitting ε over the levels would cost the square of their number). The
best linear unbiased estimate of a range from all levels is generalised least squares: with the rows A of the nodes over
the bins, weights W = 1/variance of a node, the range r has the coefficients c = W A (AᵀWA)⁻¹ r (Hay, Rastogi, Miklau,
Suciu 2010; Cormode, Kulkarni, Srivastava 2019). The root is known: it holds everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import InvalidArgument
from ..frozen import frozen
from .choose import Candidate, choose, make
from .designs.geometry import Geometry, hyperplane_sums
from .designs.hadamard import Hadamard, walsh
from .estimates.estimate import Array
from .family import Family

_KNOWN = 1e9  # weight of the root against the best level


@frozen(eq=False)
class Tree:
    """Levels from the one below the root to the bins: a family each, and the inverse of AᵀWA."""

    bins: int
    branch: int
    taken: tuple[Candidate, ...]
    families: tuple[Family, ...]
    weights: Array
    inverse: Array

    def nodes(self, level: int) -> int:
        """Return how many bins a node of this level holds."""
        return int(self.branch ** (len(self.families) - 1 - level))

    def coefficients(self, wanted: Array) -> tuple[float, list[Array]]:
        """Return a constant and the coefficients of the nodes of each level, for weights on the bins.

        What rounding leaves of the weights is put on the bins, so that constant + Σ coefficients above a bin is its
        weight: unbiased, also where the inverse is not exact.
        """
        solved = np.zeros(self.branch ** len(self.families))
        solved[: self.bins] = self.inverse @ wanted
        found = [
            weight
            * solved.reshape(-1, self.nodes(level)).sum(axis=1)[
                : -(-self.bins // self.nodes(level))
            ]
            for level, weight in enumerate(self.weights)
        ]
        rest = wanted - sum(self._above(level, c) for level, c in enumerate(found))
        found[-1] = found[-1] + rest - rest.mean()
        return float(rest.mean()), found

    def _above(self, level: int, coefficients: Array) -> Array:
        return coefficients[np.arange(self.bins) // self.nodes(level)]

    def scores(self, wanted: Array) -> tuple[float, list[Array]]:
        """Return a constant and what each output of each level adds for one report: unbiased in the mean.

        Each level is centred: it adds nothing on average over the bins, and the constant takes what it would add.
        """
        constant, levels = self.coefficients(wanted)
        found = []
        for level, (family, c) in enumerate(zip(self.families, levels, strict=True)):
            law, centre = family.law, float(self._above(level, c).mean())
            found.append(len(levels) * ((_sums(family, c) - law.q * c.sum()) / law.spread - centre))
            constant += centre
        return constant, found

    def variances(self, wanted: Array) -> Array:
        """Return, for one report of a person in each bin, the variance of what it adds: over the level and the coins.

        A level's output y has probability p/w inside the set of the bin's node, else (1 − p)/(|Y| − w).
        """
        mean, square = np.zeros(self.bins), np.zeros(self.bins)
        for level, (family, scores) in enumerate(
            zip(self.families, self.scores(wanted)[1], strict=True)
        ):
            node = np.arange(self.bins) // self.nodes(level)
            mean += _expected(family, scores)[node] / len(self.families)
            square += _expected(family, scores**2)[node] / len(self.families)
        return np.asarray(square - mean**2)

    def variance(self, wanted: Array) -> float:
        """Return the variance for one report, if all bins are alike, about: r (AᵀWA)⁻¹ r."""
        return float(wanted @ self.inverse @ wanted)


def _sums(family: Family, scores: Array) -> Array:
    """Return for every output the sum of the scores of the options whose set it is in."""
    design = family.design
    padded = np.append(scores, np.zeros(design.facts.options - scores.size))
    if isinstance(design, Geometry):
        return hyperplane_sums(design, padded)
    if isinstance(design, Hadamard):
        outputs = np.arange(design.facts.outputs)
        even = np.bitwise_count(outputs[:, None] & (np.arange(padded.size) + 1)[None, :]) % 2 == 0
        return np.asarray(even @ padded)
    return padded


def _expected(family: Family, scores: Array) -> Array:
    """Return for every option the mean score of its report."""
    design, facts, p = family.design, family.design.facts, family.law.p
    own = scores  # of the outputs in the option's set
    if isinstance(design, Geometry):
        own = hyperplane_sums(
            design, scores
        )  # y lies on the hyperplane of v iff v lies on that of y
    elif isinstance(design, Hadamard):
        own = (scores.sum() + walsh(scores)[1:]) / 2
    off = (1 - p) / (facts.outputs - facts.inside)
    return np.asarray(off * scores.sum() + (p / facts.inside - off) * own)


def grow(bins: int, epsilon: Fraction) -> Tree:
    """Choose the branching with which prefixes have the least variance on average.

    >>> from discreet.local.tree import grow
    >>> from fractions import Fraction
    >>> grow(256, Fraction(1)).branch
    4
    """
    trees = []
    for branch in sorted({2, 4, 8, 16, bins}):
        if branch <= bins:
            taken = [_numbered(size, epsilon) for size in level_sizes(bins, branch)]
            trees.append(make_tree(bins, branch, epsilon, taken))
    return min(trees, key=lambda tree: float(tree.inverse.cumsum(axis=0).cumsum(axis=1).trace()))


def level_sizes(bins: int, branch: int) -> list[int]:
    """Return how many nodes each level has, from the one below the root to the bins.

    >>> from discreet.local.tree import level_sizes
    >>> level_sizes(13, 4)
    [4, 13]
    """
    sizes = [bins]
    while sizes[0] > branch:
        sizes.insert(0, -(-sizes[0] // branch))
    return sizes


def make_tree(bins: int, branch: int, epsilon: Fraction, taken: Sequence[Candidate]) -> Tree:
    """Make the tree of given members, one for each level.

    Refuses subsets, whose reports are no numbers.
    """
    if any(candidate.facts.member == "subset" for candidate in taken):
        raise InvalidArgument("the levels of a histogram report numbers, not subsets")
    families = tuple(make(candidate, epsilon) for candidate in taken)
    weights = np.array([1 / (len(taken) * _variance(family)) for family in families])
    information = np.full((bins, bins), _KNOWN * weights.max())
    for level, weight in enumerate(weights):
        node = np.arange(bins) // branch ** (len(taken) - 1 - level)
        information += weight * (node[:, None] == node[None, :])
    return Tree(bins, branch, tuple(taken), families, weights, np.linalg.inv(information))


def _variance(family: Family) -> float:
    """Return the variance of a node for one report at its level: of the coins, and of who is asked about it."""
    frequency = 1 / family.design.facts.options
    return family.law.variance(n=1, frequency=frequency) + frequency


def _numbered(options: int, epsilon: Fraction) -> Candidate:
    """Choose among the members whose reports are numbers."""
    kinds = ("direct", "geometry", "hadamard")
    return min(
        (choose(options, epsilon, member=kind).taken for kind in kinds), key=lambda c: c.variance
    )
