"""A device over time: which histories its price holds between, by exact enumeration and by the auditor."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, ClaimRefuted, InvalidArgument
from discreet.testing.bits import HashedBits

SURE = 1 - 1e-9


@cache
def choice_of(options):
    return dp.local.Choice(options, dp.PureDP(1))


def memoised(slots=2, options=3, **more):
    return dp.local.Device(choice_of(options), mode="memoised", slots=slots, default=0, **more)


def joint_law(history, slots, options, default, p):
    """The exact law of all reports of a memoised device with k-ary response: memoised slots, overflow in its own."""
    q = (1 - p) / (options - 1)
    keys: dict[object, object] = {}
    for value in history:
        if value not in keys:
            keys[value] = value if len(keys) < slots else "overflow"
    places = [value if keys[value] == value else "overflow" for value in history]
    slots_used = list(dict.fromkeys(places))
    found: dict[tuple[int, ...], Fraction] = {}
    for drawn in product(range(options), repeat=len(slots_used)):
        chance = Fraction(1)
        for slot, report in zip(slots_used, drawn, strict=True):
            truth = default if slot == "overflow" else slot
            chance *= p if report == truth else q
        told = tuple(drawn[slots_used.index(place)] for place in places)
        found[told] = found.get(told, Fraction(0)) + chance
    return found


class TestMemoised:
    """K·ε between histories with the same pattern of changes and returns; no finite ε against another pattern."""

    def loss(self, a, b, slots=2):
        p = Fraction(3, 5)  # three options: e^ε = p/q = 3
        first, second = (joint_law(h, slots, 3, 0, p) for h in (a, b))
        return max((first[told] / second[told] if told in second else math.inf) for told in first)

    @pytest.mark.parametrize(
        ("a", "b", "most"),
        [
            ((0, 0, 0), (1, 1, 1), 3),
            ((0, 1, 0), (1, 2, 1), 9),
            (
                (0, 1, 1, 2),
                (2, 0, 0, 1),
                9,
            ),  # the third value finds no slot: the default's answer, at no further price
            ((1, 2, 0), (0, 1, 2), 9),  # one of the values equals the public default
        ],
    )
    def test_same_pattern(self, a, b, most):
        assert self.loss(a, b) <= most and self.loss(b, a) <= most

    @pytest.mark.parametrize(
        ("a", "b"), [((0, 1), (0, 0)), ((0, 1, 2), (0, 1, 0)), ((1, 2, 0, 0), (1, 2, 0, 1))]
    )
    def test_other_patterns_are_told_apart_with_certainty(self, a, b):
        assert self.loss(a, b, slots=3) == math.inf

    def test_a_value_equal_to_the_default_does_not_share_its_slot(self):
        """Were the slot shared, (0, 1, 2) and (1, 2, 0) with one slot and default 0 could be told apart for certain."""
        assert self.loss((0, 1), (1, 0), slots=1) <= 3

    @pytest.mark.statistical
    def test_the_auditor_refutes_the_price_for_histories_that_change_at_other_moments(self):
        """False alarm 1e-9 each: K·ε holds between (0, 1) and (1, 0), and not between (0, 1) and (0, 0)."""
        claim = dp.PureDP(2)

        def run(history):
            device = memoised(options=2)
            return sum(2**i * int(device.report(value)) for i, value in enumerate(history))

        report = dp.verify(run, claim, inputs=((0, 1), (1, 0)), samples=700, confidence=SURE)
        assert report.verdict == "not refuted"
        with pytest.raises(ClaimRefuted):
            dp.verify(run, claim, inputs=((0, 1), (0, 0)), samples=700, confidence=SURE)

    @pytest.mark.statistical
    def test_the_auditor_refutes_a_twin_that_forgets_to_memoise(self):
        """False alarm 1e-9: five fresh reports of one value cost 5ε, not the ε that memoising would."""
        choice = choice_of(2)

        def forgetful(value, size):
            return sum(2**i * np.asarray(choice.randomize(np.full(size, value))) for i in range(5))

        with pytest.raises(ClaimRefuted):
            dp.verify(forgetful, dp.PureDP(1), inputs=(0, 1), samples=20_000, confidence=SURE)

        def ours(value):
            device = memoised(options=2)
            return sum(2**i * device.report(value) for i in range(5))

        assert (
            dp.verify(ours, dp.PureDP(1), inputs=(0, 1), samples=1000, confidence=SURE).verdict
            == "not refuted"
        )

    @pytest.mark.statistical
    def test_the_auditor_refutes_a_float_coin(self):
        """False alarm 1e-9: a coin of one float byte never shows what is rarer than 1/256, so something is certain."""
        rng, truth = np.random.default_rng(0), 1 / (1 + math.exp(-6.0))

        def coarse(value, size):
            kept = rng.integers(0, 256, size) / 256 < truth
            return np.where(kept, value, 1 - value)

        with pytest.raises(ClaimRefuted):
            dp.verify(coarse, dp.PureDP(6), inputs=(0, 1), samples=100_000, confidence=SURE)

    def test_it_never_falls_silent(self):
        device = memoised(slots=1, options=100)
        first = device.report(5)
        later = {device.report(value) for value in range(6, 50)}
        assert (
            len(later) == 1 and device.used == 1 and device.report(5) == first and device.sent == 46
        )


class TestSleep:
    """A device that is switched off wakes with its answers: whoever forgets them pays again."""

    @pytest.mark.parametrize(
        ("mechanism", "values"),
        [
            (dp.local.Choice(50, dp.PureDP(1)), (3, 4, 5)),
            (
                dp.local.HadamardCountMeanSketch(dp.PureDP(1), rows=64, width=64, key="k"),
                ("a", "b", "c"),
            ),
            (dp.local.OneBitMean(0, 1, dp.PureDP(1)), (0.1, 0.2, 0.3)),
            (dp.local.BitFlip(dp.PureDP(1), buckets=64, sample=8), (1, 2, 3)),
            (
                dp.local.Rappor(bits=64, hashes=2, cohorts=4, f=0.5, p=0, q=1, key="k"),
                ("a", "b", "c"),
            ),
        ],
        ids=lambda made: type(made).__name__,
    )
    def test_it_wakes_with_the_same_answers(self, mechanism, values):
        device = dp.local.Device(mechanism, mode="memoised", slots=2, default=values[0])
        before = [device.report(value) for value in values]
        awake = dp.local.Device.from_json(mechanism, json.loads(json.dumps(device.to_json())))
        assert [awake.report(value) for value in values] == before
        assert (awake.sent, awake.used, awake.epsilon("ever")) == (6, 2, device.epsilon("ever"))

    def test_other_parameters_are_refused(self):
        kept = memoised().to_json()
        for wrong, given in ((choice_of(4), kept), (choice_of(3), kept | {"version": 2})):
            with pytest.raises(InvalidArgument):
                dp.local.Device.from_json(wrong, given)

    def test_the_shift_of_the_grid_is_kept(self):
        grid = dp.local.AlphaPoint(0, 1440, 360)
        device = dp.local.Device(
            dp.local.OneBitMean(0, 1440, dp.PureDP(1)),
            mode="memoised",
            slots=5,
            default=0,
            grid=grid,
        )
        device.report(700)
        awake = dp.local.Device.from_json(
            dp.local.OneBitMean(0, 1440, dp.PureDP(1)), device.to_json()
        )
        awake.report(700)
        assert awake.used == 1


class TestLifetimes:
    def test_fresh_adds_up_between_any_two_histories(self):
        device = dp.local.Device(
            dp.local.OneBitMean(0, 1, dp.PureDP("1/2")), mode="fresh", per_day=2
        )
        assert [device.epsilon(period) for period in ("day", "year", "ever")] == [1, 366, math.inf]
        assert "any two histories" in str(device.lifetime("year")) and "no finite ε" in str(
            device.lifetime("ever")
        )

    def test_memoised_names_the_histories_in_every_caption(self):
        device = memoised(slots=4, per_day=1)
        assert [device.epsilon(period) for period in ("day", "year", "ever")] == [1, 4, 4]
        for period in ("year", "ever"):
            assert "at the same moments" in str(device.lifetime(period))
        assert "sees that day alone" in str(device.lifetime("day")) and "memoised" in repr(device)

    def test_rappor_pays_for_the_permanent_response(self):
        rappor = dp.local.Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="k")
        device = dp.local.Device(rappor, mode="memoised", slots=3, default="")
        once = dp.local.Device(rappor, mode="memoised", slots=3, default="", per_day=1)
        assert once.epsilon("day") == float(rappor.epsilon)
        assert (
            0
            <= Fraction(device.epsilon("ever")) - 3 * rappor.epsilon_for_ever
            < Fraction(1, 10**14)
        )
        cohorts = {device.report("a")[0] for _ in range(20)} | {
            device.report("b")[0] for _ in range(20)
        }
        assert len(cohorts) == 1

    def test_a_fresh_device_stops_at_its_number_of_reports(self):
        device = dp.local.Device(dp.local.Choice(2, dp.PureDP(1)), mode="fresh", most_reports=2)
        device.report(0), device.report(1)
        with pytest.raises(BudgetExceeded):
            device.report(0)
        assert device.epsilon("ever") == 2 and device.sent == 2

    @pytest.mark.parametrize(
        "more", [{}, {"per_day": 1}, {"per_day": 3}, {"per_day": 3, "most_reports": 4}]
    )
    def test_a_period_promises_at_least_what_the_device_lets_happen(self, more):
        """ε of a day, a year and for ever is at least ε times the reports sent in it, asked before and after."""
        device = dp.local.Device(choice_of(3), mode="fresh", **more)
        before, days = {period: device.epsilon(period) for period in ("day", "year", "ever")}, []
        for _ in range(2):
            sent = device.sent
            with suppress(BudgetExceeded):
                [device.report(1) for _ in range(10)]
            device = dp.local.Device.from_json(
                choice_of(3), json.loads(json.dumps(device.to_json()))
            )
            days.append(device.sent - sent)
            device.new_day()
        assert before["day"] >= max(days) and min(before["year"], before["ever"]) >= sum(days)
        assert before == {period: device.epsilon(period) for period in before}

    def test_a_memoised_device_counts_its_days_too(self):
        device = memoised(slots=4, per_day=1)
        device.report(1)
        with pytest.raises(BudgetExceeded):
            device.report(2)
        assert device.used == 1 and memoised(slots=4).epsilon("day") == 4

    def test_what_was_kept_before_days_were_counted_promises_no_day(self):
        kept = dp.local.Device(choice_of(3), mode="fresh", per_day=1).to_json()
        del kept["today"]
        assert dp.local.Device.from_json(choice_of(3), kept).epsilon("day") == math.inf


class TestRefusedValues:
    """A value that is refused is refused in every state, and neither counted nor kept."""

    @pytest.mark.parametrize(
        "wrong", [7, -1, "0", None, math.nan, ["a"], [0, 1], np.array([0, 1])], ids=repr
    )
    def test_in_every_state(self, wrong):
        full = memoised(slots=1)
        full.report(1)
        for device in (full, memoised(), dp.local.Device(choice_of(3), mode="fresh", per_day=1)):
            before = device.sent, device.used
            with pytest.raises(InvalidArgument):
                device.report(wrong)
            assert (device.sent, device.used) == before

    def test_a_grid_refuses_without_the_value(self):
        with pytest.raises(InvalidArgument) as refusal:
            dp.local.AlphaPoint(0, 60, 30).point("12345 minutes")
        assert "12345" not in str(refusal.value)


class TestAlphaPoint:
    """Rounding to R iff x + α ≥ R is right on average over devices, and steady on one device."""

    def test_unbiased_over_all_shifts(self):
        for x in (0, 7, 29, 30, 59, 60):
            points = [
                dp.local.AlphaPoint(0, 60, 30, alpha=a, resolution=30).value(x) for a in range(30)
            ]
            assert sum(points) == 30 * x

    def test_a_device_answers_the_same_for_near_numbers(self):
        grid = dp.local.AlphaPoint(0, 1440, 360, alpha=10, resolution=360)
        device = dp.local.Device(
            dp.local.OneBitMean(0, 1440, dp.PureDP(1)),
            mode="memoised",
            slots=5,
            default=0,
            grid=grid,
            bits=HashedBits(b"x"),
        )
        answers = {device.report(minutes) for minutes in range(300)}
        assert len(answers) == 1 and device.used == 1
        assert grid.points == 5 and grid.point(5000) == 4

    def test_bit_flip_keeps_its_buckets(self):
        flip = dp.local.BitFlip(dp.PureDP(1), buckets=32, sample=4, gamma="1/4")
        device = dp.local.Device(flip, mode="memoised", slots=2, default=0)
        seen = {tuple(mark >> 1 for mark in device.report(i % 2)) for i in range(20)}
        assert len(seen) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "both"}, {"mode": "memoised"}, {"mode": "memoised", "slots": 2}, {"mode": "fresh", "slots": 2},
        {"mode": "memoised", "slots": 0, "default": 0}, {"mode": "memoised", "slots": 1, "default": 0, "most_reports": 3},
    ],
)  # fmt: skip
def test_refusals(wrong):
    with pytest.raises(InvalidArgument):
        dp.local.Device(dp.local.Choice(3, dp.PureDP(1)), **wrong)
    with pytest.raises(InvalidArgument):
        dp.local.Device(dp.Laplace(1, 1), mode="fresh")
    device = dp.local.Device(dp.local.Choice(3, dp.PureDP(1)), mode="fresh")
    with pytest.raises(InvalidArgument):
        device.lifetime("week")
    with pytest.raises(InvalidArgument):
        dp.local.AlphaPoint(0, 10, 3)
