"""What a filter admits, refuses and says; its numbers against independent formulas."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    Repeated,
    Response,
    Sampled,
)
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.filters.renyi import best_order
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

BUDGET = ApproxDP(1, 1e-6)
LAPLACE = LaplaceNoise(scale=100, sensitivity=1)


def count(gate, event):
    """How often the event is admitted, found by doubling and halving, each time from the start."""
    low, high = 0, 1
    while gate.admits(Repeated(event, high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gate.admits(Repeated(event, middle)) else (low, middle)
    return low


class TestHowOften:
    """The table of the first page: ε0 = .01 under (1, 1e-6)."""

    @pytest.mark.untraced
    @pytest.mark.parametrize(
        ("kind", "responses", "laplace", "selections", "gaussian"),
        [
            ("approximate", 100, 100, 100, None),
            ("advanced", 349, 349, 349, None),
            ("zcdp", 487, 488, 1948, 487),
            ("renyi", 490, 492, 1949, 487),
            ("gdp", 356, 356, 1426, 560),
            ("residue", 558, 560, 2237, 560),
        ],
    )
    def test_admitted(self, kind, responses, laplace, selections, gaussian):
        gate = open_filter(BUDGET, kind)
        events = [Response(0.01, neighbours="add-remove"), LAPLACE, ExponentialSelection(0.01)]
        assert [count(gate, event) for event in events] == [responses, laplace, selections]
        if gaussian is not None:
            assert count(gate, GaussianNoise.of(100, 1)) == gaussian

    def test_one_by_one_is_as_many_as_at_once(self):
        gate, asked = open_filter(ApproxDP(1, 1e-3)), 0
        event = LaplaceNoise(10, 1)
        together = count(gate, event)
        while gate.admits(event):
            gate, asked = gate.after(event), asked + 1
        assert asked == together

    def test_the_pure_filter_of_the_lectures(self):
        assert count(open_filter(PureDP(3)), LaplaceNoise(2, 1)) == 6

    def test_mixed_kinds_of_noise_share_the_residue(self):
        gate = open_filter(BUDGET)
        for event in (
            LAPLACE,
            GaussianNoise.of(100, 1),
            DiscreteGaussianNoise(10**4, 1),
            ExponentialSelection(0.01),
        ):
            gate = gate.after(Repeated(event, 140))
        assert gate.left().squared > 0


class TestPrice:
    """What an event would take: the difference it makes to what was spent, also where it does not fit."""

    @pytest.mark.parametrize(
        ("budget", "kind", "amount"),
        [
            (PureDP(1), "pure", lambda m: m.epsilon),
            (BUDGET, "approximate", lambda m: m.epsilon),
            (BUDGET, "zcdp", lambda m: m.rho),
            (BUDGET, "advanced", lambda m: m.rho),
            (RenyiDP({2: 1}), "renyi", lambda m: m.orders[0][1]),
            (BUDGET, "gdp", lambda m: m.squared),
            (BUDGET, "residue", lambda m: m.squared),
        ],
    )
    def test_it_is_what_after_takes(self, budget, kind, amount):
        gate = open_filter(budget, kind).after(LAPLACE)
        price = gate.price(LAPLACE)
        assert amount(gate.spent()) + amount(price) == amount(gate.after(LAPLACE).spent())
        assert type(price) is type(gate.left())

    def test_more_than_is_left_still_has_a_price(self):
        gate = open_filter(PureDP(1))
        assert gate.price(Repeated(LAPLACE, 1000)) == PureDP(10)
        assert gate == open_filter(PureDP(1))
        assert open_filter(BUDGET, "approximate").price(KeySelection(LAPLACE, "1e-7")) == ApproxDP(
            "0.01", "1e-7"
        )

    def test_what_is_not_priced_is_refused(self):
        with pytest.raises(InvalidArgument, match="pure budget"):
            open_filter(PureDP(1)).price(GaussianNoise.of(1, 1))


class TestCapacity:
    def test_the_converted_rho_fits_and_is_the_largest(self):
        rho = open_filter(BUDGET, "zcdp").capacity[0]
        assert ZCDP(rho).delta(1) <= 1e-6 < ZCDP(rho * (1 + Fraction(1, 10**9))).delta(1)

    def test_the_converted_mu_fits_and_is_the_largest(self):
        for kind in ("gdp", "residue"):
            square = open_filter(BUDGET, kind).capacity[0]
            assert GaussianDP.of_square(square).delta(1) <= 1e-6
            assert GaussianDP.of_square(square * (1 + Fraction(1, 10**9))).delta(1) > 1e-6

    @pytest.mark.parametrize("order", [Fraction(31, 2), 100, 400])
    def test_the_amount_at_one_order_is_what_converts(self, order):
        gate = open_filter(BUDGET, "renyi", orders=order)
        a, amount = float(order), float(gate.capacity[0])
        back = amount + math.log1p(-1 / a) - (math.log(1e-6) + math.log(a)) / (a - 1)
        assert 1 - 1e-9 < back <= 1

    def test_the_advanced_bound_is_reached(self):
        """Whitehouse et al. 2023: √(2 ln(1/δ)Σε²) + ½Σε² = ε."""
        total = float(open_filter(BUDGET, "advanced").capacity[0])
        assert math.sqrt(2 * math.log(1e6) * total) + total / 2 == pytest.approx(1, rel=1e-11)

    def test_the_best_order_is_that_of_the_conversion(self):
        """At the order that converts ρ best, ε(α) = ρα: the filters coincide for Gaussian noise."""
        rho = open_filter(BUDGET, "zcdp").capacity[0]
        gate = open_filter(BUDGET, "renyi")
        assert gate.capacity[0] / gate.terms.orders[0] == pytest.approx(rho, rel=1e-5)
        assert best_order(1.0, 1e-6) == gate.terms.orders[0]

    def test_delta_kept_for_leaks_is_taken_from_the_tail(self):
        for kind in ("zcdp", "renyi", "gdp", "residue", "advanced"):
            kept = open_filter(ApproxDP(1, 3e-6), kind, delta=2e-6)
            assert kept.capacity == open_filter(BUDGET, kind).capacity
            assert kept.terms.tail == Fraction(1, 10**6)

    def test_a_rule_per_measure(self):
        assert open_filter(PureDP(1)).kind == "pure"
        assert open_filter(ZCDP(1)).kind == "zcdp"
        assert open_filter(RenyiDP({2: 1})).kind == "renyi"
        assert open_filter(GaussianDP(1)).kind == "residue"
        assert open_filter(ApproxDP(1, 0)).kind == "approximate"
        assert open_filter(BUDGET).kind == "residue"


class TestExact:
    def test_twenty_twentieths_fit_in_one(self):
        gate = open_filter(PureDP(1))
        for _ in range(20):
            gate = gate.after(LaplaceNoise(scale=20, sensitivity=1))
        assert gate.left() == PureDP(0)
        assert gate.spent() == PureDP(1)
        with pytest.raises(BudgetExceeded) as refusal:
            gate.after(Promise(PureDP("1e-30")))
        assert (refusal.value.asked, refusal.value.left) == (PureDP("1e-30"), PureDP(0))

    @pytest.mark.parametrize(
        ("budget", "kind"),
        [(ZCDP("1/2"), "zcdp"), (GaussianDP(1), "gdp"), (GaussianDP(1), "residue")],
    )
    def test_a_hundred_gaussians_fit_exactly(self, budget, kind):
        gate, noise = open_filter(budget, kind), GaussianNoise.of(10, 1)
        for _ in range(100):
            gate = gate.after(noise)
        assert gate.spent() == budget
        assert not gate.admits(GaussianNoise.of(10**9, 1))

    def test_a_renyi_budget_holds_at_all_its_orders_exactly(self):
        gate = open_filter(RenyiDP({2: 1, 8: "1/2"}))
        after = gate.after(Repeated(GaussianNoise.of(4, 1), 2))
        assert after.left() == RenyiDP({2: "7/8", 8: 0})

    def test_deltas_add_exactly(self):
        gate = open_filter(ApproxDP(1, "1e-5"), "approximate")
        keys = KeySelection(LaplaceNoise(10, 1), "1e-6")
        for _ in range(10):
            gate = gate.after(keys)
        assert gate.spent() == ApproxDP(1, "1e-5")


class TestRefusals:
    def test_too_much_changes_nothing_and_less_still_fits(self):
        gate = open_filter(PureDP(1)).after(LaplaceNoise(2, 1))
        with pytest.raises(BudgetExceeded, match=r"asked for ε = 1, ε = 0.5 is left of ε = 1"):
            gate.after(LaplaceNoise(1, 1))
        assert gate.left() == PureDP(0.5)
        assert gate.after(LaplaceNoise(2, 1)).left() == PureDP(0)

    @pytest.mark.parametrize(
        ("budget", "kind", "event", "works"),
        [
            (
                PureDP(1),
                "pure",
                GaussianNoise.of(1, 1),
                "open an ApproxDP, ZCDP or GaussianDP budget",
            ),
            (BUDGET, "approximate", GaussianNoise.of(1, 1), "kind='residue' or 'zcdp'"),
            (BUDGET, "advanced", GaussianNoise.of(1, 1), "kind='residue' or 'zcdp'"),
            (BUDGET, "zcdp", BinomialNoise(100, 1), "state its (ε, δ) as a Promise"),
            (BUDGET, "gdp", Promise(ZCDP(1)), "kind='zcdp'"),
            (BUDGET, "residue", Promise(ZCDP(1)), "kind='zcdp'"),
            (
                BUDGET,
                "renyi",
                Promise(RenyiDP({2: 1})),
                "state a Rényi promise at the filter's orders",
            ),
            (
                PureDP(1),
                "pure",
                KeySelection(LAPLACE, "1e-9"),
                "open an ApproxDP budget with delta=",
            ),
            (BUDGET, "residue", KeySelection(LAPLACE, "1e-9"), "kind='approximate'"),
            (ZCDP(1), "zcdp", Promise(ApproxDP(1, "1e-9")), "keeps none for that"),
        ],
    )
    def test_events_without_a_price_are_refused_with_what_works(self, budget, kind, event, works):
        gate = open_filter(budget, kind)
        for attempt in (gate.admits, gate.after):
            with pytest.raises(InvalidArgument) as refusal:
                attempt(event)
            assert works in str(refusal.value)

    def test_neighbours_do_not_mix(self):
        gate = open_filter(PureDP(1)).after(LaplaceNoise(2, 1))
        with pytest.raises(InvalidArgument, match="promises under 'add-remove' neighbours"):
            gate.admits(Response(0.1))
        with pytest.raises(InvalidArgument, match="promises under 'replace' neighbours"):
            open_filter(PureDP(1), neighbours="replace").after(LaplaceNoise(2, 1))

    @pytest.mark.parametrize("event", [3, None, [LAPLACE], PureDP(1)])
    def test_what_is_no_event(self, event):
        with pytest.raises(InvalidArgument, match="one event is expected"):
            open_filter(PureDP(1)).admits(event)

    @pytest.mark.parametrize(
        ("arguments", "options", "why"),
        [
            ((1.0,), {}, "a measure is expected"),
            ((PureDP(1), "magic"), {}, "kind must be one of pure, approximate"),
            ((PureDP(1), "zcdp"), {}, "promises ZCDP or ApproxDP, not PureDP"),
            ((ZCDP(1), "residue"), {}, "promises GaussianDP or ApproxDP, not ZCDP"),
            ((PureDP(0),), {}, "leaves nothing to spend"),
            ((ApproxDP(1, "1e-400"), "residue"), {}, "leaves nothing to spend"),
            ((ApproxDP(1, "1e-400"), "zcdp"), {}, "leaves nothing to spend"),
            ((ApproxDP(1, "1e-400"), "advanced"), {}, "leaves nothing to spend"),
            ((ApproxDP(1, "1e-400"), "renyi"), {}, "leaves nothing to spend"),
            ((ApproxDP(1, "1e-9"), "renyi"), {"orders": 2}, "leaves nothing to spend"),
            ((BUDGET,), {"delta": 1e-6}, "below the budget's 1e-06"),
            ((BUDGET,), {"delta": -1}, "at least 0"),
            ((ApproxDP(1, 0), "zcdp"), {}, "below the budget's 0"),
            ((BUDGET, "approximate"), {"delta": 1e-7}, "'approximate' takes none"),
            ((PureDP(1),), {"delta": 1e-7}, "'pure' takes none"),
            ((GaussianDP(1),), {"delta": 1e-7}, "'residue' takes none"),
            ((BUDGET,), {"orders": 2}, "orders are for kind='renyi'"),
            ((RenyiDP({2: 1}),), {"orders": 2}, "a RenyiDP budget lists its own"),
            ((BUDGET, "renyi"), {"orders": [2, 8]}, "fixes one order"),
            ((BUDGET, "renyi"), {"orders": 1}, "fixes one order"),
            ((BUDGET, "renyi"), {"orders": []}, "fixes one order"),
            ((BUDGET,), {"neighbours": "swap"}, "neighbours must be"),
        ],
    )
    def test_terms_that_make_no_promise(self, arguments, options, why):
        with pytest.raises(InvalidArgument, match=why.replace("(", r"\(")):
            open_filter(*arguments, **options)

    def test_several_orders_are_refused_because_the_rule_would_not_be_sound(self):
        with pytest.raises(InvalidArgument, match="would depend on the answers"):
            open_filter(BUDGET, "renyi", orders=(2, 8, 32))


class TestLeaks:
    def test_a_filter_with_a_tail_keeps_delta_for_keys(self):
        gate = open_filter(ApproxDP(1, 1e-6), delta=1e-7)
        keys = KeySelection(LAPLACE, "5e-8")
        once = gate.after(keys)
        assert once.left() == gate.after(LAPLACE).left()
        assert once.after(keys).leaked == Fraction(1, 10**7)
        with pytest.raises(BudgetExceeded) as refusal:
            once.after(keys).after(keys)
        assert refusal.value.asked == ApproxDP(0, "5e-8")
        assert refusal.value.left == ApproxDP(0, 0)
        assert not once.after(keys).admits(keys)
        assert once.after(keys).admits(LAPLACE)

    def test_boxes_are_split_into_leak_and_response(self):
        box = Promise(ApproxDP(0.1, 1e-8))
        for kind in ("advanced", "zcdp", "renyi", "gdp", "residue"):
            gate = open_filter(BUDGET, kind, delta=1e-7)
            after = gate.after(box)
            assert after.used == gate.after(Promise(PureDP(0.1))).used
            assert after.leaked == Fraction(1, 10**8)

    def test_one_point_of_an_own_curve_and_a_sampled_box(self):
        gate = open_filter(ApproxDP(1, 1e-3), "approximate")
        curve = OwnCurve([(0.1, 1e-4), (0.2, 1e-5)])
        assert gate.after(curve).spent() == ApproxDP(0.2, 1e-5)
        sampled = gate.after(Sampled(Promise(ApproxDP(1, 1e-4)), 0.1)).spent()
        assert sampled.delta == Fraction(1, 10**5)
        assert 0.158 < sampled.epsilon < 0.159
        assert open_filter(ApproxDP(1, 1e-3), "advanced", delta=1e-4).after(
            curve
        ).leaked == Fraction(1, 10**5)

    def test_a_delta_of_one_or_more_is_a_refusal_like_any_other(self):
        many = Repeated(Promise(ApproxDP(0, 0.5)), 4)
        for gate in (
            open_filter(ApproxDP(1, 0.1), "approximate"),
            open_filter(ApproxDP(1, 0.1), delta=0.05),
        ):
            with pytest.raises(BudgetExceeded) as refusal:
                gate.after(many)
            assert refusal.value.asked.delta < 1

    def test_both_amounts_are_named_when_delta_does_not_fit(self):
        gate = open_filter(ApproxDP(1, 1e-6), "approximate")
        with pytest.raises(BudgetExceeded) as refusal:
            gate.after(Promise(ApproxDP(0.5, 1e-5)))
        assert refusal.value.asked == ApproxDP(0.5, 1e-5)
        assert refusal.value.left == BUDGET


class TestState:
    def test_the_promise_is_the_budget_and_nothing_else(self):
        gate = open_filter(BUDGET)
        assert gate.promise() == gate.after(LAPLACE).promise() == BUDGET
        assert gate.after(LAPLACE).spent() != gate.spent()

    def test_a_filter_is_a_frozen_value(self):
        gate = open_filter(BUDGET)
        assert gate == open_filter(BUDGET)
        assert {gate: 1}[open_filter(BUDGET)] == 1
        assert pickle.loads(pickle.dumps(gate)) == gate
        with pytest.raises(AttributeError):
            gate.used = ()

    @pytest.mark.untraced
    def test_the_state_does_not_grow(self):
        """A thousand unlike denominators; the amount is rounded up, by less than 2^-500."""
        gate, exact = open_filter(PureDP(10)), Fraction()
        for n in range(1001, 2001):
            gate = gate.after(Promise(PureDP(Fraction(1, n**2))))
            exact += Fraction(1, n**2)
        assert gate.used[0].denominator.bit_length() <= 513
        assert 0 <= gate.used[0] - exact < Fraction(1, 2**500)

    def test_rounding_never_spends_beyond_the_budget(self):
        third = Fraction(1, 3**400)
        gate = open_filter(PureDP(third))
        assert gate.after(Promise(PureDP(third))).left() == PureDP(0)

    def test_parts_are_charged_by_the_relation(self):
        parts = [LaplaceNoise(4, 1), LaplaceNoise(4, 1), LaplaceNoise(2, 1)]
        gate = open_filter(PureDP(2))
        assert gate.after(Parallel(parts)).spent() == PureDP(0.5)
        assert gate.after(Parallel(parts, neighbours="replace")).spent() == PureDP(1)
