"""Adding up ε under an (ε, δ) budget: what it admits, that nobody gains by it, and that its wrong variants are caught."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.privacy.compose import compose
from discreet.privacy.events import (
    Batch,
    DiscreteGaussianNoise,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Promise,
    Repeated,
    Response,
)
from discreet.privacy.filters.filter import Filter, open_filter
from discreet.privacy.filters.remaining import RemainingBudget, largest_pure, restate
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from oracles.adversary import Attack, realised, response

TAILS = ["advanced", "zcdp", "renyi", "gdp", "residue"]
BUDGET = ApproxDP(1, "1e-6")


def most(book, event):
    count = 0
    while book.admits(event):
        book, count = book.after(event), count + 1
    return count


@pytest.mark.parametrize("kind", TAILS)
@pytest.mark.parametrize("parts", [1, 2, 5, 10])
def test_what_adds_up_is_never_refused(kind, parts):
    """ε = 1/k fits at least k times, whatever the tail makes of it; the k-th exactly uses the sum up."""
    assert most(open_filter(BUDGET, kind), LaplaceNoise(parts, 1)) >= parts
    assert open_filter(BUDGET, kind).admits(Repeated(LaplaceNoise(parts, 1), parts))


@pytest.mark.parametrize("kind", TAILS)
class TestTheOverdraft:
    def test_is_charged_and_permanent(self, kind):
        book = open_filter(BUDGET, kind).after(LaplaceNoise(1, 1))
        assert book.used == book.capacity and book.added == 1
        assert not book.admits(LaplaceNoise(10**6, 1))
        assert book.room().epsilon == 0

    def test_an_event_that_the_tail_cannot_price_exhausts_it(self, kind):
        curve = OwnCurve([("1/4", 0), (0, "1/5")])
        book = open_filter(BUDGET, kind).after(curve)
        assert book.added == Fraction(1, 4)
        if kind in ("zcdp", "renyi", "advanced"):
            return  # these have a price for every ε-DP event
        assert book.used == book.capacity or book.used[0] > 0

    def test_the_sum_is_closed_by_an_event_without_a_pure_price(self, kind):
        if kind == "advanced":
            return  # Gaussian noise has no (ε, δ) box: it is refused there
        book = open_filter(BUDGET, kind).after(GaussianNoise.of(100, 1))
        assert book.added is None and not book.admits(LaplaceNoise(1, 1))

    def test_once_more_than_epsilon_it_is_closed(self, kind):
        book = open_filter(BUDGET, kind)
        book = replace(book, added=Fraction(99, 100)).after(LaplaceNoise(50, 1))
        assert book.added is None


@pytest.mark.parametrize(
    "budget", [ZCDP("1/50"), GaussianDP("1/5"), RenyiDP({4: "1/10"}), PureDP(1)]
)
def test_only_an_epsilon_delta_budget_adds_up(budget):
    """A promise of a whole curve is not kept by L ≤ ε at one point."""
    book = open_filter(budget)
    assert not book.adds
    with pytest.raises(InvalidArgument, match="left"):
        book.room()
    if not isinstance(budget, PureDP):
        assert not book.admits(LaplaceNoise(1, 1))


GAMES = [  # unit, sizes of randomized response, ε, δ
    (Fraction(1, 5), (1, 2, 5), 1, 0.02),
    (Fraction(1, 4), (1, 2, 4), 1, 0.1),
]


def menu_of(unit, sizes):
    return [response(Response(size * unit), size, float(unit)) for size in sizes]


def play(ledger, menu, unit, epsilon, reach=80):
    return realised(ledger, menu, epsilon=int(epsilon / unit), unit=float(unit), reach=reach)


class TestTheAdversary:
    @pytest.mark.untraced
    @pytest.mark.parametrize("kind", TAILS)
    @pytest.mark.parametrize(("unit", "sizes", "epsilon", "delta"), GAMES)
    def test_realises_no_more_than_was_promised(self, kind, unit, sizes, epsilon, delta):
        found = play(
            open_filter(ApproxDP(epsilon, delta), kind), menu_of(unit, sizes), unit, epsilon
        )
        assert found <= delta

    @pytest.mark.parametrize("kind", ["zcdp", "residue"])
    def test_also_with_leaks(self, kind):
        unit, delta, leak = Fraction(1, 5), 0.02, 0.004
        box = Promise(ApproxDP(unit, leak), neighbours="replace")
        menu = [response(box, 1, 0.2, leak), *menu_of(unit, (1, 5))]
        assert (
            leak < play(open_filter(ApproxDP(1, delta), kind, delta=0.01), menu, unit, 1) <= delta
        )

    def test_all_of_delta_for_the_sum_is_refuted(self):
        """A filter whose sum may leak δ itself, its tail δ' besides, gives more than δ."""
        unit, delta, leak = Fraction(1, 5), 0.02, 0.01
        box = Promise(ApproxDP(unit, leak), neighbours="replace")
        menu = [response(box, 1, 0.2, leak), *menu_of(unit, (1, 2))]
        wrong = _AllDelta(
            open_filter(ApproxDP(1, delta), "residue", delta=leak), Fraction(0), Fraction(0)
        )
        assert play(wrong, menu, unit, 1) > 1.05 * delta

    def test_an_overdraft_that_is_forgotten_is_refuted(self):
        """A tail that does not pay for what the sum admits is spent twice."""
        unit, epsilon, delta = Fraction(1, 5), 1, 0.02
        found = play(
            _Forgets(open_filter(ApproxDP(epsilon, delta), "zcdp")),
            menu_of(unit, (1, 2, 5)),
            unit,
            epsilon,
        )
        assert found > 2 * delta


@dataclass(frozen=True)
class _AllDelta:
    """The wrong rule: the tail keeps δ'' for leaks, and the sum keeps all of δ."""

    book: Filter
    added: Fraction
    leaked: Fraction

    def _by_sum(self, event):
        price = self.book.cost(event)
        total = ApproxDP(1, 0).epsilon
        return (
            self.added + price.added <= total
            and self.leaked + price.leak <= self.book.terms.budget.delta
        )

    def admits(self, event):
        price = self.book.cost(event)
        return (self.book.pays(price) and self.book.keeps(price)) or self._by_sum(event)

    def after(self, event):
        price = self.book.cost(event)
        paid = self.book.pays(price) and self.book.keeps(price)
        full = replace(self.book, used=self.book.capacity, leaked=self.book.terms.delta)
        book = self.book.taking(price, event.neighbours, paid=True) if paid else full
        return _AllDelta(
            replace(book, neighbours=event.neighbours),
            self.added + price.added,
            self.leaked + price.leak,
        )


@dataclass(frozen=True)
class _Forgets:
    """The wrong rule: what the sum admits costs the tail nothing."""

    book: Filter

    def admits(self, event):
        return self.book.admits(event)

    def after(self, event):
        price = self.book.cost(event)
        if self.book.sums(price):
            return _Forgets(
                replace(self.book, added=self.book.added + price.added, neighbours=event.neighbours)
            )
        return _Forgets(self.book.after(event))


def test_the_parts_of_a_replaced_row_are_decided_together():
    """By part, a Laplace of ½ in p and a Gaussian of half the capacity in q have many times the promised δ."""
    book = open_filter(BUDGET, "zcdp", neighbours="replace")
    half = LaplaceNoise(2, 1, neighbours="replace")
    noise = GaussianNoise.of(1, 1, neighbours="replace")
    squared = book.capacity[0]  # ρ = 1/(2σ²) is half the capacity, so that twice of it fits
    gauss = replace(noise, variance=1 / squared)
    assert book.admits(Repeated(half, 2)) and book.admits(Repeated(gauss, 2))
    assert compose([half, gauss]).lower.delta(epsilon=1) > 10 * 1e-6


class TestRefusals:
    def test_name_the_largest_single_spend_that_fits_in_the_measure_of_the_budget(self):
        book = open_filter(BUDGET, delta="5e-7").after(LaplaceNoise(2, 1))
        with pytest.raises(
            BudgetExceeded,
            match=r"asked for ε = 1; of \(ε, δ\) = \(1, 1e-06\) there is left ε = 0.5",
        ) as it:
            book.after(LaplaceNoise(1, 1))
        assert it.value.asked == PureDP(1) and it.value.left == ApproxDP(Fraction(1, 2), "5e-7")
        with pytest.raises(BudgetExceeded, match=r"asked for \(ε, δ\) = \(5.0"):
            book.after(GaussianNoise.of(1, 1))

    def test_a_box_of_the_whole_says_why_it_does_not_fit(self):
        with pytest.raises(BudgetExceeded, match="5e-07 is kept for events with a δ of their own"):
            open_filter(BUDGET, delta="5e-7").after(Promise(BUDGET))

    def test_what_is_left_fits_as_one_question(self):
        book = open_filter(BUDGET, delta="5e-7").after(LaplaceNoise(30, 1))
        room = book.room()
        assert book.admits(Promise(PureDP(room.epsilon)))
        assert book.admits(KeySelection(LaplaceNoise(1 / room.epsilon, 1), room.delta))
        assert book.admits(Promise(room.mu))
        # The author of an (ε, δ) budget wrote no μ, so none is said.
        assert "unknown keys" in str(room) and "Gaussian noise" in str(room)
        assert "μ" not in str(room)
        late = book.after(DiscreteGaussianNoise(30, 1))
        assert 0 < late.room().epsilon < 1 and late.admits(Promise(PureDP(late.room().epsilon)))


def test_words_for_amounts_of_every_kind():
    assert restate(PureDP(2), Fraction(1, 10)) == PureDP(2)
    assert restate(PureDP(2), Fraction(1, 10), Fraction(1, 4)) == ApproxDP(2, "1/4")
    assert restate(ApproxDP(1, "1/8"), Fraction(1, 10)) == ApproxDP(1, "1/8")
    assert restate(ZCDP(100), Fraction(1, 10), Fraction(99, 100)).delta < 1
    assert largest_pure(Fraction(2), lambda _: True, Fraction(1)) == 2
    assert float(largest_pure(Fraction(0), lambda e: e <= 3, Fraction(1))) > 0.99
    assert (
        str(RemainingBudget(Fraction(1), None, Fraction(0), Fraction(1, 10)))
        == "ε = 1 in one question"
    )
    assert RemainingBudget(Fraction(1), None, Fraction(0), Fraction(1, 10)).box == ApproxDP(1, 0)
    with pytest.raises(BudgetExceeded, match="is left of"):
        open_filter(PureDP(1)).after(LaplaceNoise(1, 2))


def test_an_attack_uses_the_worst_pair():
    assert Attack(Response(1), (1, -1), (0.75, 0.25)).leak == 0


@pytest.mark.parametrize("kind", TAILS)
class TestTheWholeBudgetAtOnce:
    """One question of unknown keys that takes all of (ε, δ) is admitted before anything else, and nothing after it."""

    KEYS = KeySelection(LaplaceNoise(2, 1), "1e-6")
    WHOLE = Batch([KEYS, LaplaceNoise(2, 1)])

    def test_is_admitted_and_takes_everything(self, kind):
        book = open_filter(BUDGET, kind, delta="5e-7")
        assert book.admits(self.WHOLE)
        spent = book.after(self.WHOLE)
        assert (spent.used, spent.leaked, spent.added) == (spent.capacity, spent.terms.delta, 1)
        assert Filter.from_json(spent.to_json()) == spent
        for event in (
            LaplaceNoise(10**9, 1),
            GaussianNoise.of(10**6, 1),
            KeySelection(LaplaceNoise(10**9, 1), "1e-9"),
        ):
            assert (kind == "advanced" and isinstance(event, GaussianNoise)) or not spent.admits(
                event
            )
        assert compose(self.WHOLE).delta(epsilon=1) <= 1.0001e-6

    @pytest.mark.parametrize(
        "before",
        [
            LaplaceNoise(10**9, 1),
            KeySelection(LaplaceNoise(10**9, 1), "1e-12"),
            Promise(ApproxDP(0, "1e-12")),
            DiscreteGaussianNoise(10**18, 1),
        ],
    )
    def test_after_anything_it_is_refused(self, kind, before):
        """The adversary who first asks something else would have the tail besides: up to δ' more."""
        if kind == "advanced" and isinstance(before, DiscreteGaussianNoise):
            return  # Gaussian noise has no (ε, δ) box: it is refused there
        book = open_filter(BUDGET, kind, delta="5e-7").after(before)
        assert not book.admits(self.WHOLE)
        with pytest.raises(BudgetExceeded):
            book.after(self.WHOLE)

    @pytest.mark.parametrize(
        "event",
        [
            Promise(ApproxDP(1, "1e-6")),
            Batch([KEYS, Promise(ApproxDP("1/2", "1e-9"))]),
            Batch([KeySelection(LaplaceNoise(1, 1), "1e-6"), Promise(ApproxDP(0, "1e-9"))]),
            KeySelection(LaplaceNoise(1, 1), "1.01e-6"),
            KeySelection(LaplaceNoise("0.99", 1), "1e-6"),
            KeySelection(LaplaceNoise("1.01", 1), "1e-6"),
            Repeated(KeySelection(LaplaceNoise(2, 1), "6e-7"), 2),
        ],
        ids=repr,
    )
    def test_boxes_and_what_is_more_or_less_than_the_whole_are_not(self, kind, event):
        book = open_filter(BUDGET, kind, delta="5e-7")
        assert not book.admits(event)

    @pytest.mark.parametrize(
        ("epsilon", "delta"), [("1/10", "2/5"), ("1/100", "1/100"), ("1/1000", "1/1000")]
    )
    def test_it_takes_the_tail_too_where_the_tail_would_have_paid_for_it(
        self, kind, epsilon, delta
    ):
        """Where δ is large beside ε, one event of pure ε is less than the tail holds: the rest of it must not stay."""
        budget = ApproxDP(epsilon, delta)
        spent = open_filter(budget, kind, delta=budget.delta / 2).after(
            KeySelection(LaplaceNoise(1 / budget.epsilon, 1), delta)
        )
        assert (spent.used, spent.leaked) == (spent.capacity, spent.terms.delta)
        assert not spent.admits(LaplaceNoise(10**9, 1)) and not spent.admits(
            Promise(ApproxDP(0, "1e-12"))
        )

    def test_nor_a_state_whose_sum_is_not_known(self, kind):
        assert not replace(open_filter(BUDGET, kind, delta="5e-7"), added=None).admits(self.WHOLE)


class TestTheAdversaryAgainstTheWholeRule:
    """Asking for all of (ε, δ) at once, for keys, is one of its choices at every step; so are boxes and pure questions."""

    UNIT, DELTA = Fraction(1, 5), Fraction(1, 50)

    def menu(self):
        whole = KeySelection(LaplaceNoise(1, 1, neighbours="replace"), self.DELTA)
        box = Promise(ApproxDP(self.UNIT, self.DELTA / 5), neighbours="replace")
        leaks = [
            response(whole, 5, 0.2, float(self.DELTA)),
            response(box, 1, 0.2, float(self.DELTA / 5)),
        ]
        return [*leaks, *menu_of(self.UNIT, (1, 2, 5))]

    @pytest.mark.parametrize("kind", ["zcdp", "residue"])
    def test_realises_no_more_than_was_promised(self, kind):
        book = open_filter(
            ApproxDP(1, self.DELTA), kind, delta=self.DELTA / 2, neighbours="replace"
        )
        assert book.admits(self.menu()[0].event)
        found = play(book, self.menu(), self.UNIT, 1)
        assert 0.999 * float(self.DELTA) <= found <= float(self.DELTA) * (1 + 1e-9)

    def test_a_rule_that_leaves_the_tail_is_refuted(self):
        """Where δ is large beside ε the tail would have paid: who keeps the rest of it has it besides."""
        unit, delta = Fraction(1, 5), Fraction(2, 5)
        book = open_filter(ApproxDP(unit, delta), "zcdp", delta=delta / 2, neighbours="replace")
        whole = KeySelection(LaplaceNoise(5, 1, neighbours="replace"), delta)
        menu = [response(whole, 1, 0.2, float(delta)), *menu_of(unit, (1, 2))]
        assert play(book, menu, unit, unit) <= float(delta) * (1 + 1e-9)
        assert play(_KeepsTheTail(book), menu, unit, unit) > 1.05 * float(delta)


@dataclass(frozen=True)
class _KeepsTheTail:
    """The wrong rule: what fits as all there is takes of the tail only what the tail would have asked."""

    book: Filter

    def admits(self, event):
        return self.book.admits(event)

    def after(self, event):
        price = self.book.cost(event)
        return _KeepsTheTail(self.book.taking(price, event.neighbours, paid=self.book.pays(price)))
