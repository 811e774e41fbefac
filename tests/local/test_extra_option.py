"""A geometry with a set apart for "none of them": the law by enumeration, the estimate, its variance, its price."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.designs.extra_option import ExtraOption
from discreet.local.family import Family, extra_option
from discreet.local.reports.collector import influence_of
from discreet.local.search.oracle import best_extra_option_field, candidates_law, frequencies_of
from discreet.testing.bits import ScriptedBits
from local.members import sets

SPEND = Fraction(3, 2)
MADE = {q: extra_option(options, SPEND, q) for q, options in ((2, 8), (3, 11), (4, 22), (9, 9))}


def law_of(family, option):
    """Return P(y | option), of points and of what is apart, by the definition: e^ε/Z on the own set, 1/Z off it."""
    geometry = family.design.geometry
    points, inside, grown = geometry.facts.outputs, geometry.facts.inside, math.exp(SPEND)
    none = option == geometry.facts.options
    own = set() if none else sets(Family(geometry, SPEND))[option]
    weights = np.array(
        [grown if y in own else 1.0 for y in range(points)] + [inside * (grown if none else 1.0)]
    )
    return weights / weights.sum()


@pytest.mark.parametrize("q", MADE)
class TestSetApart:
    """P(y|x) = e^ε/Z on S_x and 1/Z off it; the set of the last option has w outputs, none of them in another set."""

    def test_every_output_as_often(self, q):
        design = MADE[q].design
        facts, points = design.facts, design.geometry.facts.outputs
        own = [Counter(s) for s in sets(Family(design.geometry, SPEND))] + [
            Counter({points: facts.inside})
        ]
        every = Counter(range(points)) + own[-1]
        for option, expected in enumerate(own):
            for inside, size in ((True, facts.inside), (False, facts.outputs - facts.inside)):
                script = np.zeros((2, size), dtype=np.uint64)
                script[int(not inside)] = np.arange(size)
                bits = ScriptedBits(script.astype("<u8").tobytes())
                drawn = design.place(np.full(size, option), np.full(size, inside), bits)
                assert Counter(drawn.tolist()) == (expected if inside else every - expected)

    def test_estimates_are_unbiased_and_vary_as_said(self, q):
        """By the exact law: what a person of each option adds on average, and how it varies for one that nobody holds."""
        family = MADE[q]
        points, options = family.design.geometry.facts.outputs, family.design.facts.options
        table = np.array([family.counts(np.array([y])) for y in range(points + 1)])
        scores = np.array([frequencies_of(family, row, 1)[0] for row in table])
        for option in range(options):
            mean = law_of(family, option) @ scores
            assert mean[:-1] == pytest.approx(np.eye(options)[option, :-1], abs=1e-9)
        for none in (0.0, 0.3, 1.0):
            law = none * law_of(family, options - 1) + (1 - none) * law_of(family, 1)
            parts = [(none, law_of(family, options - 1)), (1 - none, law_of(family, 1))]
            exact = sum(
                w * (one @ scores[:, 0] ** 2 - (one @ scores[:, 0]) ** 2) for w, one in parts
            )
            assert frequencies_of(family, law @ table, 1)[1] == pytest.approx(exact)

    def test_its_price_and_what_a_forged_report_does(self, q):
        """The dearest pair is a candidate and the set apart; no report moves a candidate by more than 1/(p − q)."""
        family = MADE[q]
        options = family.design.facts.options
        laws = [law_of(family, option) for option in range(options)]
        priced = dp.compose([family.law.event])
        for epsilon in (0.0, 0.4, 1.0, 1.4):
            worst = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a in laws for b in laws)
            assert worst <= priced.delta(epsilon=epsilon) + 1e-12
        points = family.design.geometry.facts.outputs
        scores = np.array(
            [
                frequencies_of(family, family.counts(np.array([y])), 1)[0][:-1]
                for y in range(points + 1)
            ]
        )
        assert (scores.max(axis=0) - scores.min(axis=0)).max() <= candidates_law(family).influence(
            n=1
        ) * (1 + 1e-12)


def test_reports_that_no_device_sends():
    family = MADE[3]
    points = family.design.geometry.facts.outputs
    assert isinstance(family.design, ExtraOption) and family.valid(
        [0, points, points + 1, -1]
    ).tolist() == [1, 1, 0, 0]
    with pytest.raises(InvalidArgument):
        family.counts([points + 1])


def test_a_set_apart_is_taken_where_most_hold_none():
    """At ε = 2 it halves the variance if everybody holds none, and costs a third if nobody does."""
    plain = dp.local.Choice(1 << 20, dp.PureDP(2)).law.variance(n=1, frequency=0.0)
    taken = extra_option(1 << 20, Fraction(2), best_extra_option_field(1 << 20, Fraction(2), 1.0))
    alone, nobody = taken.law.p, taken.law.q
    counts = np.zeros(1 << 20)
    held, other = (
        frequencies_of(taken, np.append(counts[:-1], share), 1)[1] for share in (alone, nobody)
    )
    assert held < 0.52 * plain < plain < other < 1.4 * plain
    assert best_extra_option_field(1 << 20, Fraction(2), 0.0) == 0
    words = dp.local.Words(bits=32, spend=dp.PureDP(2), top=3)
    asked = dp.local.WordRound(words, 3, (0, 1), field=4)
    assert influence_of(asked, n=10, forged=1) == candidates_law(asked.family).influence(n=10)
