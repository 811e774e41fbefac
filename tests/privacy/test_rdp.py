import math

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Response,
    Sampled,
)
from discreet.privacy.measures import ZCDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.event_parts import flatten
from discreet.privacy.pricing.rdp import (
    best_delta,
    best_epsilon,
    delta,
    epsilon,
    price_rdp,
    promised_renyi,
    renyi,
)
from discreet.privacy.pricing.zcdp import epsilon as zcdp_epsilon

ALPHAS = np.array([1.5, 2.0, 8.0])


def up(value):
    return pytest.approx(value, rel=2e-12)


@pytest.mark.parametrize(
    ("event", "at_two"),
    [
        (GaussianNoise.of(2, 1), 0.25),
        (DiscreteGaussianNoise(4, 1), 0.25),
        (DiscreteGaussianNoise(4, 2, 3), 0.5),
        (DiscreteGaussianNoise(4, 2, 3, 1), 0.5),
        (Promise(ZCDP("0.1")), 0.2),
        (Promise(GaussianDP(1)), 1.0),
        (Promise(RenyiDP({2: "0.3"})), 0.3),
        (Promise(PureDP(0)), 0.0),
        (Response(1), 0.73532566405551922471),
        (PermuteAndFlipSelection(1), 0.73532566405551922471),
        (LaplaceNoise(1, 1), 0.6191236299985928834),
        (DiscreteLaplaceNoise(1, 1), 0.73532566405551922471),
        (Sampled(GaussianNoise.of(2, 1), 1), 0.25),
        (Sampled(Promise(ZCDP("0.1")), "0.5"), 0.2),
        (Sampled(Promise(GaussianDP(0)), "0.5"), 0.0),
        (Parallel([GaussianNoise.of(2, 1), GaussianNoise.of(3, 1)]), 0.25),
        (Parallel([GaussianNoise.of(2, 1), GaussianNoise.of(3, 1)], neighbours="replace"), 1.0),
        (Parallel([Promise(RenyiDP({2: 1, 4: 2}))], neighbours="replace"), 6.0),
    ],
)
def test_order_two(event, at_two):
    assert renyi(event, 2) == up(at_two)
    assert renyi(event, 2) >= at_two


@pytest.mark.parametrize(
    "event",
    [
        BinomialNoise(9, 1),
        KeySelection(LaplaceNoise(1, 1), "1e-6"),
        Promise(RenyiDP({"1.5": 1})),
        Parallel([Promise(RenyiDP({"2.5": 1}))], neighbours="replace"),
    ],
)
def test_no_divergence_is_known(event):
    assert renyi(event, 2) == math.inf


def test_sampled_selection_is_priced_by_its_pure_promise():
    sampled = Sampled(ExponentialSelection(1), "0.01")
    assert renyi(sampled, 2) < renyi(ExponentialSelection(1), 2) / 50


def test_orders_add_up():
    both = price_rdp([LaplaceNoise(1, 1), Response(1, neighbours="add-remove")], ALPHAS)
    assert both == pytest.approx(
        price_rdp(LaplaceNoise(1, 1), ALPHAS) + price_rdp(Response(1), ALPHAS)
    )


@pytest.mark.parametrize("alpha", [1.0, 0.5, math.inf, math.nan])
def test_orders_above_one_only(alpha):
    with pytest.raises(InvalidArgument, match="greater than 1"):
        renyi(LaplaceNoise(1, 1), alpha)


class TestConversion:
    """ε(α) + ln(1/αδ)/(α−1) + ln(1−1/α), the best order, any order being sound."""

    def test_formula_and_inverse(self):
        amounts = np.array([0.3, 0.4, 1.6])
        e = epsilon(amounts, ALPHAS, 1e-6)
        expected = amounts + np.log(1 / (ALPHAS * 1e-6)) / (ALPHAS - 1) + np.log(1 - 1 / ALPHAS)
        assert e == pytest.approx(expected, rel=1e-13)
        assert [delta(amounts, ALPHAS, x)[i] for i, x in enumerate(e)] == pytest.approx(
            [1e-6] * 3, rel=1e-9
        )

    def test_no_promise_above_one(self):
        assert delta(np.array([math.inf]), np.array([2.0]), 1.0).tolist() == [1.0]

    @pytest.mark.parametrize("d", [1e-2, 1e-6, 1e-12, 1e-60])
    def test_the_best_order_is_found(self, d):
        parts = flatten([GaussianNoise.of(10, 1)] * 50)
        exact = zcdp_epsilon(0.25, d)
        assert exact <= best_epsilon(parts, d) <= exact * (1 + 1e-5)
        assert best_delta(parts, exact) == pytest.approx(d, rel=1e-3)

    def test_promises_are_read_at_their_listed_orders(self):
        parts = flatten(Promise(RenyiDP({2: 1, 16: 2})))
        at_listed = epsilon(np.array([1.0, 2.0]), np.array([2.0, 16.0]), 1e-6).min()
        assert best_epsilon(parts, 1e-6) <= at_listed * (1 + 1e-12)

    def test_chords(self):
        values = promised_renyi(RenyiDP({2: 1, 4: 2}), np.array([1.2, 2.0, 3.0, 4.0, 4.1]))
        assert values == pytest.approx([1.0, 1.0, 1.75, 2.0, math.inf])
