"""Running totals: the same price as all at once, in the same time at any length."""

import math

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import GaussianNoise, LaplaceNoise, Promise, Repeated, Response, Sampled
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.privacy.numerical.engine import numerical
from discreet.privacy.numerical.running import Running


def near(total, events, delta, loose=1.01):
    price = numerical(events)
    assert price.lower_epsilon(delta) <= total.epsilon(delta) <= price.epsilon(delta) * loose


def test_agrees_with_all_at_once():
    total = Running(ApproxDP(1, 1e-6), events=500)
    events = [LaplaceNoise(60 + i, 1) if i % 2 else GaussianNoise(3000 + i, 1) for i in range(240)]
    for i, event in enumerate(events, 1):
        total.add(event)
        if i in (3, 40, 240):
            near(total, events[:i], 1e-6)
            near(total, events[:i], 1e-3, 1.02)


def test_repeated_events_go_straight_into_the_ring():
    total = Running(ApproxDP(2, 1e-5), events=1000)
    total.add(Repeated(LaplaceNoise(50, 1), 400))
    near(total, [Repeated(LaplaceNoise(50, 1), 400)], 1e-5)


def test_directions_part_when_they_differ():
    total = Running(ApproxDP(4, 1e-5), events=1000)
    total.add(LaplaceNoise(20, 1))
    event = Sampled(GaussianNoise(1, 1), "0.02")
    for _ in range(30):
        total.add(event)
    near(total, [LaplaceNoise(20, 1), Repeated(event, 30)], 1e-5, 1.02)


def test_wide_events_wrap_around():
    total = Running(ApproxDP("0.1", 1e-6), events=10)
    total.add(GaussianNoise(1, 1))
    assert total.epsilon("0.01") >= numerical([GaussianNoise(1, 1)]).lower_epsilon("0.01")


def test_far_beyond_the_budget():
    total = Running(ApproxDP("0.1", 1e-6), events=10)
    for _ in range(5):
        total.add(LaplaceNoise(1, 5))
    assert total.epsilon(1e-6) == math.inf
    steep = Running(ApproxDP("0.01", 1e-9), events=10)
    steep.add(Repeated(LaplaceNoise(1, 500), 50))
    assert steep.epsilon(1e-9) == math.inf


def test_generous_budgets():
    total = Running(ApproxDP(20, 1e-5), events=10)
    total.add(GaussianNoise(1, 1))
    near(total, [GaussianNoise(1, 1)], 1e-5, 1.02)
    total.add(Repeated(LaplaceNoise(1, 5), 5000))
    assert total.epsilon(1e-5) == math.inf


def test_mass_given_away():
    total = Running(ApproxDP(1, 1e-6), events=10)
    total.add(Promise(ApproxDP("0.1", 1e-3)))
    assert total.epsilon(1e-6) == math.inf


def test_nothing_costs_next_to_nothing():
    assert Running(ApproxDP(1, 1e-6)).epsilon(1e-6) < 1e-3


def test_refusals():
    with pytest.raises(InvalidArgument, match="both above 0"):
        Running(PureDP(1))
    with pytest.raises(InvalidArgument, match="both above 0"):
        Running(ApproxDP(1, 0))
    total = Running(ApproxDP(1, 1e-6), events=10)
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        total.epsilon(0)
    total.add(LaplaceNoise(1, 1))
    with pytest.raises(InvalidArgument, match="restate"):
        total.add(Response(1))
