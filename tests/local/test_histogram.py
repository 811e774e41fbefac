"""Histogram: every range is unbiased, by enumeration; its intervals hold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.local import Histogram, Randomizer
from discreet.local.choose import choose
from discreet.local.tree import _numbered, _sums, grow, level_sizes, make_tree
from discreet.privacy.measures import PureDP
from discreet.testing.bits import HashedBits, UntouchedBits


def _tree(bins, branch, epsilon, member=None):
    sizes = level_sizes(bins, branch)
    taken = [
        choose(s, epsilon, member=member).taken if member else _numbered(s, epsilon) for s in sizes
    ]
    return make_tree(bins, branch, epsilon, taken)


@pytest.mark.parametrize(
    ("bins", "branch", "member"), [(64, 4, None), (13, 2, None), (30, 8, "hadamard"), (9, 9, None)]
)
def test_unbiased(bins, branch, member):
    """constant + mean over levels of Σ_y P(y | bin) score(y) is 1 in the range and 0 off it."""
    tree = _tree(bins, branch, Fraction(2), member)
    wanted = np.zeros(bins)
    wanted[2 : bins // 2 + 1] = 1
    constant, scores = tree.scores(wanted)
    told = np.full(bins, constant)
    for level, family in enumerate(tree.families):
        facts = family.design.facts
        for place in range(bins):
            own = np.zeros(facts.options)
            own[place // tree.nodes(level)] = 1
            inside = np.rint(_sums(family, own)) == 1
            assert inside.sum() == facts.inside
            law = np.where(inside, math.exp(2), 1.0)
            told[place] += law @ scores[level] / law.sum() / len(tree.families)
    np.testing.assert_allclose(told, wanted, atol=1e-9)


class TestHistogram:
    @pytest.mark.statistical
    def test_covers(self):
        """Three collections, all prefixes at 1 − 1e-12 each: a false alarm has a chance below 1e-10."""
        ages = Histogram(0, 120, 24, PureDP(2))
        values = np.random.default_rng(5).gamma(4, 10, 20_000)
        edges = np.linspace(5, 120, 24)
        truth = [(values < edge).mean() for edge in edges[:-1]] + [1.0]
        for _ in range(3):
            found = ages.cumulative(ages.randomize(values), level=1 - 1e-12)
            assert (found.low <= np.array(truth) + 1e-9).all() and (
                np.array(truth) <= found.high + 1e-9
            ).all()

    def test_bins_sum_to_one(self):
        ages = Histogram(0, 120, 12, PureDP(1))
        reports = ages.randomize(np.arange(0, 120, 0.5), bits=HashedBits(b"h"))
        assert ages.estimate(reports).values.sum() == pytest.approx(1, abs=1e-9)
        assert isinstance(ages.randomize(3), int)
        assert isinstance(ages, Randomizer)
        assert repr(ages) == "Histogram(0, 120, 12, epsilon=1)"

    def test_a_tree_beats_flat_bins_for_ranges(self):
        flat, tree = _tree(128, 128, Fraction(1)), grow(128, Fraction(1))
        half = np.repeat([1.0, 0.0], 64)
        assert tree.variance(half) < flat.variance(half) / 3

    def test_errors_foretold(self):
        ages = Histogram(0, 120, 12, PureDP(1))
        assert ages.error(n=10_000, first=0, last=6) > 1.9 * math.sqrt(
            ages.variance(n=10_000, first=0, last=6)
        )
        assert ages.influence(n=10, first=0, last=6, forged=2) == pytest.approx(
            2 * ages.influence(n=10, first=0, last=6), rel=1e-9
        )
        asked = {"n": 10_000, "first": 0, "last": 6}
        made = Histogram.for_error("1/20", low=0, high=120, bins=12, **asked)
        cheaper = Histogram(0, 120, 12, PureDP(made.epsilon * Fraction(97, 100)))
        assert made.error(**asked) <= 0.05 < cheaper.error(**asked)
        assert ages.shuffled(100).event.epsilon == ages.event.measure.epsilon == 1

    def test_parameters_and_refusals(self):
        ages = Histogram(0, 120, 12, PureDP(1))
        assert Histogram.from_json(ages.to_json()).to_json() == ages.to_json()
        good = ages.to_json()
        subsets = [{"member": "subset", "parameter": 1}] * len(good["levels"])
        for bad in (
            {"branch": 12},
            {"version": 2},
            {"more": 1},
            {"levels": subsets},
            {"low": "130"},
            {"levels": [{}]},
        ):
            with pytest.raises(InvalidArgument):
                Histogram.from_json(good | bad)
        for bad in (float("nan"), "x", [[1]]):
            with pytest.raises(InvalidArgument):
                ages.randomize(bad, bits=UntouchedBits())
        for bad in ([], [10**6, 1], [0.5, 1]):
            with pytest.raises(InvalidArgument):
                ages.estimate(bad)
        for first, last in ((3, 3), (0, 13), (-1, 2)):
            with pytest.raises(InvalidArgument):
                ages.ranges([1, 2], [(first, last)])
        for low, high, bins in ((0, 0, 5), (0, 1, 1), (0, 1, 5000)):
            with pytest.raises(InvalidArgument):
                Histogram(low, high, bins, PureDP(1))


def test_the_variance_is_the_worst_over_the_data():
    """By enumeration of level and output: the variance of one report in the worst bin, and not one bin more."""
    for epsilon, bins in ((1, 16), (2, 100), (4, 37), ("1/4", 64)):
        ages = Histogram(0, 1, bins, PureDP(epsilon))
        constant, scores = ages._scores((0, 2))
        found = np.zeros((bins, 2))
        for at, family in enumerate(ages.tree.families):
            outputs = np.arange(family.design.facts.outputs)
            inside = np.array([family.design.counts(outputs[y : y + 1]) for y in outputs]).T.astype(
                bool
            )
            law, facts = family.law, family.design.facts
            chances = np.where(
                inside, law.p / facts.inside, (1 - law.p) / (facts.outputs - facts.inside)
            )
            assert chances.sum(axis=1) == pytest.approx(1)
            own = scores[ages.starts[at] : ages.starts[at + 1]]
            node = np.arange(bins) // ages.tree.nodes(at)
            found += (chances[node] @ np.stack([own, own**2], axis=1)) / len(ages.tree.families)
        assert constant + found[:, 0] == pytest.approx(
            (np.arange(bins) < 2).astype(float), abs=1e-8
        )
        assert ages.variance(n=1, first=0, last=2) == pytest.approx(
            (found[:, 1] - found[:, 0] ** 2).max()
        )
