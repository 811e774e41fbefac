"""One replaced unit may be two in a part: what a group of two is promised, in every measure."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BinomialNoise,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    PureDP,
    Shuffled,
    compose,
)
from discreet.privacy.advise import passed
from discreet.privacy.pricing import gdp, pure, zcdp
from discreet.privacy.pricing.gdp import price_gdp
from discreet.privacy.pricing.pure import price_pure
from discreet.privacy.pricing.zcdp import price_zcdp

NEAR = "replace"
PARTS = [
    Promise(PureDP(1)),
    Promise(GaussianDP(1)),
    Promise(ZCDP(1)),
    LaplaceNoise(2, 1),
    BinomialNoise(2**20, 1),
]


@pytest.mark.parametrize("part", PARTS, ids=repr)
@pytest.mark.parametrize(("price", "twice"), [(price_pure, 2), (price_zcdp, 4), (price_gdp, 4)])
def test_a_group_of_two_costs_at_least_one_and_at_most_its_bound(part, price, twice):
    one, both = price(part), price(Parallel([part], neighbours=NEAR))
    assert (one is None) == (both is None)
    assert one is None or one <= both <= twice * one


def test_odds_beyond_every_bound_are_never_passed():
    assert passed(compose(Promise(PureDP(1))), math.inf) == 0.0


def test_shuffled_reports_are_no_witness_of_a_lower_bound():
    event = Shuffled(1, 100)
    assert compose(event).lower.epsilon(delta=1e-6) == 0
    assert compose(Promise(ApproxDP(1, 1e-6), neighbours=NEAR)).epsilon(delta=1e-6) == 1


@pytest.mark.parametrize(("room", "price"), [(gdp, price_gdp), (zcdp, price_zcdp)])
def test_what_has_a_price_and_no_promise_is_promised_by_its_price(room, price):
    event = GaussianNoise(1, 1)
    assert price(room._group_promise(event, 2)) == 4 * price(event)


@pytest.mark.parametrize("room", [gdp, zcdp, pure])
def test_what_has_no_price_is_refused(room):
    with pytest.raises(InvalidArgument):
        room._group_promise(OwnCurve([(0, Fraction(1, 2)), (1, Fraction(1, 10))]), 2)
