"""Suggested bounds: private, coarse, and usually within a factor of two."""

from fractions import Fraction
from itertools import pairwise

import pytest

from answer.cases import Remembered, relation, visits
from discreet.answer.suggest import _octaves, suggest_bounds
from discreet.data import Integer
from discreet.errors import InvalidArgument
from discreet.privacy.calibrate import fits
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.query.domains.domain import Whole

WIDE = {"x": Integer(-(2**40), 2**40)}
STORE = Remembered(visits(400))


@pytest.mark.statistical
@pytest.mark.parametrize("unit", ["rows", "people"])
@pytest.mark.parametrize("spend", [PureDP(40), ZCDP(100), ApproxDP(40, "1e-6")], ids=repr)
def test_bounds_are_near(spend, unit):
    """Values are from 0 to 59. False alarm: e^-20 or less for each of two choices."""
    found = suggest_bounds("x", relation(unit, columns=WIDE), STORE, spend=spend)
    assert found.low in (-1, 0, 1, 2)
    assert found.high in (32, 64)
    assert fits(found.events, spend)


@pytest.mark.parametrize(("low", "high"), [(-5, 9), (3, 100), (-100, -3), (0, 1), (-(2**62), 2**62), (5, 6)])
def test_octaves_cover_the_range_without_overlap(low, high):
    ends = _octaves(Whole(Fraction(1, 2), low, high))
    assert (ends[0][0], ends[-1][1]) == (Fraction(low, 2), Fraction(high, 2))
    assert all(before[1] + Fraction(1, 2) == after[0] for before, after in pairwise(ends))
    assert all(first <= last for first, last in ends)


def test_refusals():
    for tail in (0, "1/2", -1):
        with pytest.raises(InvalidArgument, match="tail"):
            suggest_bounds("x", relation(), STORE, spend=PureDP(1), tail=tail)
    with pytest.raises(InvalidArgument, match="numbers"):
        suggest_bounds("town", relation(), STORE, spend=PureDP(1))
