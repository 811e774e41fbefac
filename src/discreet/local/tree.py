"""Tree over the bins of a histogram: levels that people report on, combined for a range.

Every person reports on one level, drawn evenly. If each person reported on all levels, dividing ε
among them, the variance would grow with the square of their number. The best linear unbiased
estimate of a range from all levels is generalised least squares. With the rows A of the nodes over
the bins and weights W = 1/variance of a node, the range r has the coefficients c = W A (AᵀWA)⁻¹ r
(Hay, Rastogi, Miklau, Suciu 2010; Cormode, Kulkarni, Srivastava 2019). The root is known: it holds
everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import InvalidArgument
from ..frozen import frozen
from .choose import Candidate, choose, make
from .designs.design import Integers
from .designs.geometry import Geometry, hyperplane_sums
from .designs.hadamard import Hadamard, walsh
from .estimates.estimate import Array
from .family import Family

# Weight of the root, which is known exactly, relative to the best level.
_ROOT_WEIGHT = 1e9


@frozen(eq=False)
class Tree:
    """Levels from the one below the root to the bins: a family each, and the inverse of AᵀWA.

    Guarantee: `scores` are unbiased for every range, also where the inverse is not exact.
    Law: `tests/local/test_histogram.py::test_unbiased`
    """

    bins: int
    branch: int
    taken: tuple[Candidate, ...]
    families: tuple[Family, ...]
    weights: Array
    inverse: Array

    def nodes(self, level: int) -> int:
        """Return the number of bins in a node of this level."""
        return int(self.branch ** (len(self.families) - 1 - level))

    def coefficients(self, wanted: Array) -> tuple[float, list[Array]]:
        """Return a constant and the coefficients of the nodes of each level, for bin weights.

        The rounding error of the solution is added to the bins. So the constant plus the
        coefficients above a bin is exactly the bin's weight, and the estimate is unbiased.
        """
        # Padded with zeros to whole nodes on every level.
        solved = np.zeros(self.branch ** len(self.families))
        solved[: self.bins] = self.inverse @ wanted
        levels = []
        for level, weight in enumerate(self.weights):
            bins_per_node = self.nodes(level)
            nodes = -(-self.bins // bins_per_node)
            node_sums = solved.reshape(-1, bins_per_node).sum(axis=1)
            levels.append(weight * node_sums[:nodes])
        reached = np.zeros(self.bins)
        for level, c in enumerate(levels):
            reached = reached + self._above(level, c)
        missing = wanted - reached
        constant = float(missing.mean())
        levels[-1] = levels[-1] + missing - missing.mean()
        return constant, levels

    def _above(self, level: int, coefficients: Array) -> Array:
        """Return, for every bin, the coefficient of the node of this level above it."""
        return coefficients[self._node_of_bin(level)]

    def _node_of_bin(self, level: int) -> Integers:
        return np.arange(self.bins, dtype=np.int64) // self.nodes(level)

    def scores(self, wanted: Array) -> tuple[float, list[Array]]:
        """Return a constant and the score that each output of each level adds for one report.

        Each level is centred: it adds nothing on average over the bins, and the constant takes
        what the level would add. Centring makes the scores smaller, hence the bounds.
        """
        constant, levels = self.coefficients(wanted)
        scores = []
        for level, (family, c) in enumerate(zip(self.families, levels, strict=True)):
            law = family.law
            centre = float(self._above(level, c).mean())
            expected = law.q * c.sum()
            unbiased = (_sums(family, c) - expected) / law.spread
            # A person reports on one of the levels only, hence the factor.
            scores.append(len(levels) * (unbiased - centre))
            constant += centre
        return constant, scores

    def variances(self, wanted: Array) -> Array:
        """Return the variance of one report's score, for a person in each bin.

        The variance is over the level and the coins. A level's output y has probability p/w inside
        the set of the bin's node, else (1 − p)/(|Y| − w).
        """
        mean = np.zeros(self.bins)
        square = np.zeros(self.bins)
        _, all_scores = self.scores(wanted)
        for level, (family, scores) in enumerate(zip(self.families, all_scores, strict=True)):
            node = self._node_of_bin(level)
            level_mean = _expected(family, scores)[node]
            level_square = _expected(family, scores**2)[node]
            mean += level_mean / len(self.families)
            square += level_square / len(self.families)
        return np.asarray(square - mean**2)

    def variance(self, wanted: Array) -> float:
        """Return about the variance for one report if all bins are alike: r (AᵀWA)⁻¹ r."""
        return float(wanted @ self.inverse @ wanted)


def _sums(family: Family, scores: Array) -> Array:
    """Return for every output the sum of the scores of the options whose set it is in."""
    design = family.design
    missing = design.facts.options - scores.size
    padded = np.append(scores, np.zeros(missing))
    if isinstance(design, Geometry):
        return hyperplane_sums(design, padded)
    if isinstance(design, Hadamard):
        outputs = np.arange(design.facts.outputs)[:, None]
        rows = (np.arange(padded.size) + 1)[None, :]
        even = np.bitwise_count(outputs & rows) % 2 == 0
        return np.asarray(even @ padded)
    return padded


def _expected(family: Family, scores: Array) -> Array:
    """Return for every option the mean score of its report."""
    design = family.design
    facts = design.facts
    p = family.law.p
    # Sum of the scores of the outputs in the option's set; direct response has one such output.
    inside_sums = scores
    if isinstance(design, Geometry):
        # y lies on the hyperplane of v iff v lies on that of y.
        inside_sums = hyperplane_sums(design, scores)
    elif isinstance(design, Hadamard):
        inside_sums = (scores.sum() + walsh(scores)[1:]) / 2
    outside = (1 - p) / (facts.outputs - facts.inside)
    more_inside = p / facts.inside - outside
    return np.asarray(outside * scores.sum() + more_inside * inside_sums)


def grow(bins: int, epsilon: Fraction) -> Tree:
    """Make the tree whose branching gives prefixes (ranges from bin 0) the least variance.

    The variances of all prefixes are averaged.

    >>> from discreet.local.tree import grow
    >>> from fractions import Fraction
    >>> grow(256, Fraction(1)).branch
    4

    Law: `tests/local/test_histogram.py::TestHistogram`
    """
    trees = []
    for branch in sorted({2, 4, 8, 16, bins}):
        if branch <= bins:
            taken = [_numbered(size, epsilon) for size in level_sizes(bins, branch)]
            trees.append(make_tree(bins, branch, epsilon, taken))
    return min(trees, key=_prefix_variance)


def _prefix_variance(tree: Tree) -> float:
    """Return the sum of r (AᵀWA)⁻¹ r over all prefixes r: the trace of the double partial sums."""
    partial_sums = tree.inverse.cumsum(axis=0).cumsum(axis=1)
    return float(partial_sums.trace())


def level_sizes(bins: int, branch: int) -> list[int]:
    """Return the number of nodes of each level, from the one below the root to the bins.

    >>> from discreet.local.tree import level_sizes
    >>> level_sizes(13, 4)
    [4, 13]
    """
    sizes = [bins]
    while sizes[0] > branch:
        parents = -(-sizes[0] // branch)
        sizes.insert(0, parents)
    return sizes


def make_tree(bins: int, branch: int, epsilon: Fraction, taken: Sequence[Candidate]) -> Tree:
    """Make the tree over `bins` in which a node has `branch` nodes below it.

    `taken` are the members of the two-level family for the levels, from the one below the root.

    Refuses: `InvalidArgument` for subsets, whose reports are no numbers.
    """
    if any(candidate.facts.member == "subset" for candidate in taken):
        raise InvalidArgument("the levels of a histogram report numbers, not subsets")
    families = tuple(make(candidate, epsilon) for candidate in taken)
    # Only one report in len(taken) is about a level, so its variance is that many times larger.
    variances = [len(taken) * _node_variance(family) for family in families]
    weights = np.array([1 / variance for variance in variances])
    root_weight = _ROOT_WEIGHT * weights.max()
    information = np.full((bins, bins), root_weight)
    for level, weight in enumerate(weights):
        levels_below = len(taken) - 1 - level
        node = np.arange(bins) // branch**levels_below
        information += weight * (node[:, None] == node[None, :])
    return Tree(bins, branch, tuple(taken), families, weights, np.linalg.inv(information))


def _node_variance(family: Family) -> float:
    """Return the variance of a node's frequency for one report at its level.

    It is over the coins and over the people who are asked about the level.
    """
    frequency = 1 / family.design.facts.options
    return family.law.variance(n=1, frequency=frequency) + frequency


def _numbered(options: int, epsilon: Fraction) -> Candidate:
    """Choose the least variance among the members whose reports are numbers."""
    members = ("direct", "geometry", "hadamard")
    candidates = [choose(options, epsilon, member=member).taken for member in members]
    return min(candidates, key=lambda candidate: candidate.variance)
