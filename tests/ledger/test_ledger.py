"""What a ledger promises, on every store."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pytest

import discreet as dp
from discreet.ledger import snapshot
from discreet.privacy.events import (
    Batch,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Promise,
    Repeated,
    Response,
)

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)
SIXTH = LaplaceNoise(scale=6, sensitivity=1)
HALF = LaplaceNoise(scale=2, sensitivity=1)


def refused(call, *args, **named):
    """Give the refusal, and make sure that it changed nothing."""
    with pytest.raises(dp.DiscreetError) as caught:
        call(*args, **named)
    return caught.value


class TestAChargeIsExact:
    def test_twenty_twentieths_fit_in_one_and_nothing_more(self, place):
        ledger = place.open(dp.PureDP(1))
        for _ in range(20):
            ledger.charge(TWENTIETH, who="ann")
        before = ledger.history()
        assert ledger.left() == dp.PureDP(0) and ledger.spent() == dp.PureDP(1) == ledger.promise()
        refusal = refused(ledger.charge, LaplaceNoise(10**9, 1), who="ann")
        assert isinstance(refusal, dp.BudgetExceeded)
        assert (refusal.asked, refusal.left) == (dp.PureDP(Fraction(1, 10**9)), dp.PureDP(0))
        assert tuple(ledger.history()) == tuple(before)
        assert ledger.verify().spent == dp.PureDP(1)

    @pytest.mark.parametrize(
        ("budget", "kind", "event"),
        [
            (dp.PureDP(1), "pure", SIXTH),
            (
                dp.ApproxDP(1, 1e-6),
                "approximate",
                Promise(dp.ApproxDP("1/7", "1e-7"), neighbours="replace"),
            ),
            (dp.ApproxDP(1, 1e-6), "advanced", Response("1/10", neighbours="replace")),
            (dp.ApproxDP(1, 1e-6), "zcdp", GaussianNoise.of(20, 1)),
            (dp.ApproxDP(1, 1e-6), "renyi", SIXTH),
            (dp.ApproxDP(1, 1e-6), "gdp", ExponentialSelection("1/10")),
            (dp.ApproxDP(1, 1e-6), "residue", SIXTH),
            (dp.ZCDP("1/10"), "zcdp", GaussianNoise.of(10, 1)),
            (dp.GaussianDP("1/4"), "residue", Batch([TWENTIETH, ExponentialSelection("1/10")])),
            (dp.RenyiDP({2: "1/10", 8: "1/2"}), "renyi", GaussianNoise.of(10, 1)),
        ],
        ids=[
            "pure",
            "approximate",
            "advanced",
            "approx-zcdp",
            "renyi",
            "gdp",
            "residue",
            "zcdp",
            "gaussian",
            "orders",
        ],
    )
    def test_it_grants_exactly_what_the_bare_filter_admits(self, place, budget, kind, event):
        ledger, bare = place.open(budget, kind=kind), dp.open_filter(budget, kind)
        assert ledger.price(event) == bare.after(event).spent()
        while bare.admits(event) and bare.spent() is not None:
            assert ledger.admits(event, who="ann")
            ledger.charge(event, who="ann")
            bare = bare.after(event)
            assert (ledger.filter().used, ledger.filter().leaked) == (bare.used, bare.leaked)
        assert not ledger.admits(event, who="ann")
        assert isinstance(refused(ledger.charge, event, who="ann"), dp.BudgetExceeded)
        assert ledger.filter().spent() == ledger.filter("ann").spent() == bare.spent()
        assert ledger.verify().exact

    def test_an_event_that_leaks_needs_a_part_of_the_delta(self, place):
        keys = KeySelection(TWENTIETH, "1e-7")
        ledger = place.open(
            dp.ApproxDP(1, 1e-6), delta=2e-7, allowances={"*": dp.ApproxDP(1, 1e-6)}
        )
        ledger.charge(keys, who="ann")
        assert refused(ledger.charge, Repeated(keys, 2), who="ann").asked == dp.ApproxDP(0, "2e-7")
        ledger.charge(keys, who="ann")
        assert ledger.filter("ann").leaked == Fraction(2, 10**7)
        assert isinstance(refused(ledger.charge, keys, who="ann"), dp.BudgetExceeded)
        assert ledger.verify().charges == 2

    def test_an_event_without_a_price_is_refused_and_nothing_is_written(self, place):
        ledger = place.open(dp.PureDP(1))
        assert "a pure budget" in str(refused(ledger.charge, GaussianNoise.of(1, 1), who="ann"))
        assert "a pure budget" in str(refused(ledger.admits, GaussianNoise.of(1, 1), who="ann"))
        assert len(ledger.history()) == 1

    def test_the_first_event_fixes_the_relation_also_for_the_next_window(
        self, place, stopped_clock
    ):
        ledger = place.open(dp.PureDP(1), window="month")
        ledger.charge(Response("1/10", neighbours="replace"), who="ann")
        stopped_clock.move(days=31)
        assert "under 'replace'" in str(refused(ledger.charge, TWENTIETH, who="ann"))

    def test_what_is_no_event_is_refused(self, place):
        ledger = place.open(dp.PureDP(1))
        assert "an event is expected" in str(refused(ledger.charge, dp.PureDP(1), who="ann"))
        assert "one event is expected" in str(refused(ledger.price, dp.PureDP(1)))


class TestAnAllowanceIsAShareOfTheBudget:
    def test_each_has_their_own_and_all_have_the_budget(self, place):
        ledger = place.open(
            dp.PureDP(1), allowances={"ann": dp.PureDP("1/2"), "*": dp.PureDP("1/4")}
        )
        ledger.charge(HALF, who="ann")
        refusal = refused(ledger.charge, TWENTIETH, who="ann")
        assert "the allowance of ann" in str(refusal) and refusal.left == dp.PureDP(0)
        ledger.charge(Repeated(TWENTIETH, 5), who="bob")
        assert not ledger.admits(TWENTIETH, who="bob")
        ledger.charge(Repeated(TWENTIETH, 4), who="cid")
        ledger.charge(TWENTIETH, who="dan")
        assert ledger.left("dan") == dp.PureDP(0) == ledger.left()
        assert "the budget" in str(refused(ledger.charge, TWENTIETH, who="dan"))
        assert ledger.spent("cid") == dp.PureDP("1/5") and ledger.spent("eve") == dp.PureDP(0)
        assert ledger.verify().exact

    def test_who_has_none_may_not_spend(self, place):
        ledger = place.open(dp.PureDP(1), allowances={"ann": dp.PureDP("1/2")})
        refusal = refused(ledger.charge, TWENTIETH, who="bob")
        assert isinstance(refusal, dp.NotAllowed) and "bob has no allowance" in str(refusal)
        assert not ledger.admits(TWENTIETH, who="bob")
        assert isinstance(refused(ledger.left, "bob"), dp.NotAllowed)

    def test_it_can_be_raised_lowered_withdrawn_and_given(self, place):
        ledger = place.open(dp.PureDP(1), allowances={"ann": dp.PureDP("1/4")})
        ledger.charge(Repeated(TWENTIETH, 4), who="ann")
        ledger.allow("ann", dp.PureDP("1/2"))
        assert ledger.left("ann") == dp.PureDP("3/10")
        ledger.allow(
            "ann", dp.PureDP("1/10")
        )  # less than was spent: nothing is left, and nothing is forgotten
        assert ledger.left("ann") == dp.PureDP(0) and not ledger.admits(TWENTIETH, who="ann")
        ledger.allow("ann", dp.PureDP("1/4"))
        assert ledger.left("ann") == dp.PureDP("1/20")
        ledger.allow("ann", None)
        assert isinstance(refused(ledger.charge, TWENTIETH, who="ann"), dp.NotAllowed)
        assert ledger.allow("*", dp.PureDP("1/10")).kind == "allow"
        ledger.charge(TWENTIETH, who="bob")
        assert isinstance(
            refused(ledger.charge, TWENTIETH, who="ann"), dp.NotAllowed
        )  # withdrawn by name
        assert ledger.verify().exact

    def test_a_ledger_for_everyone_can_limit_one(self, place):
        ledger = place.open(dp.PureDP(1))
        ledger.charge(TWENTIETH, who="ann")
        ledger.allow("ann", dp.PureDP("1/20"))
        assert not ledger.admits(TWENTIETH, who="ann") and ledger.admits(HALF, who="bob")
        ledger.allow("*", None)
        assert isinstance(refused(ledger.charge, TWENTIETH, who="bob"), dp.NotAllowed)
        assert ledger.verify().exact

    def test_an_event_of_nothing_does_not_make_a_lowered_account_forget(self, place):
        ledger = place.open(dp.PureDP(1), allowances={"ann": dp.PureDP("1/4")})
        ledger.charge(Repeated(TWENTIETH, 4), who="ann")
        ledger.allow("ann", dp.PureDP("1/10"))
        ledger.charge(Promise(dp.PureDP(0), neighbours="add-remove"), who="ann")
        ledger.allow("ann", dp.PureDP("1/4"))
        assert ledger.spent("ann") == dp.PureDP("1/5")

    def test_a_share_of_an_approximate_budget_keeps_its_part_of_the_delta(self, place):
        ledger = place.open(
            dp.ApproxDP(1, 1e-6),
            kind="residue",
            delta=1e-7,
            allowances={"ann": dp.ApproxDP("1/2", 1e-6)},
        )
        assert ledger.filter("ann").terms.delta == Fraction(1, 10**7)
        renyi = dp.open_ledger(
            ":memory:", dp.ApproxDP(1, 1e-6), kind="renyi", allowances={"*": dp.ApproxDP(1, 1e-7)}
        )
        assert renyi.filter("ann").terms.orders == renyi.terms.filter.terms.orders

    def test_it_is_counted_in_the_measure_of_the_ledger(self):
        with pytest.raises(dp.InvalidArgument, match="promises PureDP, not ZCDP"):
            dp.open_ledger(":memory:", dp.PureDP(1), allowances={"ann": dp.ZCDP(1)})
        with pytest.raises(dp.InvalidArgument, match="same Rényi orders"):
            dp.open_ledger(":memory:", dp.RenyiDP({2: 1}), allowances={"ann": dp.RenyiDP({3: 1})})


class TestAWindowBeginsAnew:
    def test_every_month_has_the_whole_budget(self, place, stopped_clock):
        ledger = place.open(dp.PureDP("1/20"), window="month", allowances={"*": dp.PureDP("1/20")})
        for _ in range(3):
            ledger.charge(TWENTIETH, who="ann")
            assert not ledger.admits(TWENTIETH, who="bob")
            stopped_clock.set(datetime(2026, stopped_clock.time.month + 1, 1, tzinfo=UTC))
            assert ledger.left() == ledger.left("ann") == dp.PureDP("1/20")
        assert ledger.spent() == dp.PureDP(0)
        assert ledger.verify().charges == 3

    def test_it_does_not_begin_a_microsecond_early(self, place, stopped_clock):
        ledger = place.open(dp.PureDP("1/20"), window="month")
        ledger.charge(TWENTIETH, who="ann")
        stopped_clock.set(datetime(2026, 5, 31, 23, 59, 59, 999_999, tzinfo=UTC))
        assert not ledger.admits(TWENTIETH, who="ann")
        stopped_clock.move(microseconds=1)
        assert ledger.admits(TWENTIETH, who="ann")

    def test_a_charge_of_the_last_window_is_not_run_in_this_one(self, stopped_clock):
        ledger = dp.open_ledger(":memory:", dp.PureDP("1/20"), window="day")
        charge = ledger.charge(TWENTIETH, who="ann", key="k")
        assert ledger.pending("k", "ann") == charge
        stopped_clock.move(days=1)
        assert ledger.pending("k", "ann") is None


class TestTheClockMayNotGoBack:
    def test_a_small_step_is_clamped_to_the_last_entry(self, place, stopped_clock):
        ledger = place.open(dp.PureDP(1))
        first = ledger.charge(TWENTIETH, who="ann")
        stopped_clock.move(seconds=-4)
        assert ledger.charge(TWENTIETH, who="ann").time == first.time
        assert ledger.verify().charges == 2

    def test_a_large_step_is_refused_and_nothing_is_lost(self, place, stopped_clock):
        ledger = place.open(dp.PureDP(1), window="month")
        stopped_clock.move(days=31)
        ledger.charge(TWENTIETH, who="ann")
        stopped_clock.move(days=-31)
        for call in (lambda: ledger.charge(TWENTIETH, who="ann"), ledger.left):
            refusal = refused(call)
            assert isinstance(refusal, dp.LedgerUnavailable) and "Set the clock right" in str(
                refusal
            )
        stopped_clock.move(days=31)
        assert ledger.left() == dp.PureDP("19/20")


class TestReserveRunRelease:
    def test_an_answer_is_found_again_by_its_key(self, place):
        ledger = place.open(dp.PureDP(1))
        assert ledger.answer("k") is None and ledger.pending("k", "ann") is None
        charge = ledger.charge(TWENTIETH, who="ann", why="a look", question="q", key="k")
        assert (charge.kind, charge.who, charge.why, charge.question, charge.key) == (
            "charge",
            "ann",
            "a look",
            "q",
            "k",
        )
        assert ledger.pending("k", "ann") == charge and ledger.pending("k", "bob") is None
        assert ledger.answer("k") is None and ledger.body(charge) is None
        end = ledger.finish(charge, '{"n": 3}')
        assert (end.kind, end.refers, end.who, end.key, end.question) == (
            "answer",
            charge.number,
            "ann",
            "k",
            "q",
        )
        assert ledger.answer("k") == (charge, '{"n": 3}') and ledger.body(charge) == '{"n": 3}'
        assert ledger.pending("k", "ann") is None

    def test_keys_are_listed_by_their_beginning_and_person(self, place):
        """Names may have quotes, signs of SQL and other letters; who is no one's prefix is a stranger."""
        ledger = place.open(dp.PureDP(1))
        assert ledger.keys(["2:"]) == []
        names = ["ann", "an", 'a"%_n', "Änne ☃"]
        for name in names:
            for key in ("2:b", "2:a", "2%a", "1:a"):
                ledger.charge(Promise(dp.PureDP(0)), who=name, key=f"{key}:{len(name)}")
        ledger.finish(ledger.charge(TWENTIETH, who="ann", key="2:a:3"), "1")
        ledger.charge(TWENTIETH, who="ann")
        for name in names:
            assert ledger.keys(["2:"], name) == [f"2:a:{len(name)}", f"2:b:{len(name)}"]
        assert ledger.keys(["2:a", "1:a"], "ann") == ["1:a:3", "2:a:3"]
        assert ledger.keys(["2:"], "a") == ledger.keys([], "ann") == []
        assert ledger.keys(["2:a"]) == ["2:a:2", "2:a:3", "2:a:5", "2:a:6"]

    def test_the_first_answer_of_a_charge_wins(self, place):
        ledger = place.open(dp.PureDP(1))
        charge = ledger.charge(TWENTIETH, who="ann")
        first = ledger.finish(charge, "1")
        assert ledger.finish(charge, "2") == first and ledger.fail(charge) == first
        assert ledger.body(charge) == "1" and ledger.history()[-1] == first

    def test_a_failed_run_keeps_its_charge(self, place):
        ledger = place.open(dp.PureDP(1))
        charge = ledger.charge(TWENTIETH, who="ann", key="k")
        end = ledger.fail(charge)
        assert end.kind == "fail" and ledger.fail(charge) == end
        assert (
            ledger.spent() == dp.PureDP("1/20")
            and ledger.pending("k", "ann") is None
            and ledger.body(charge) is None
        )
        assert (
            ledger.finish(charge, "1") == end and ledger.answer("k") is None
        )  # the failure was told, and paid for
        assert ledger.verify().pending == 0

    def test_several_charges_of_one_key_each_have_their_end(self, place):
        ledger = place.open(dp.PureDP(1))
        one, two = (
            ledger.charge(TWENTIETH, who="ann", key="k"),
            ledger.charge(TWENTIETH, who="bob", key="k"),
        )
        ledger.finish(two, "two")
        assert ledger.answer("k") == (two, "two")
        assert ledger.pending("k", "ann") == one and ledger.pending("k", "bob") is None

    def test_only_a_charge_of_this_ledger_can_end(self, place):
        ledger, other = place.open(dp.PureDP(1)), dp.open_ledger(":memory:", dp.PureDP(1))
        stranger = other.charge(TWENTIETH, who="ann", key="k")
        assert "no charge of this ledger" in str(refused(ledger.finish, stranger, "1"))
        assert "no charge of this ledger" in str(refused(ledger.fail, ledger.history()[0]))

    def test_bodies_are_text(self):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        charge = ledger.charge(TWENTIETH, who="ann")
        assert "JSON text" in str(refused(ledger.finish, charge, {"n": 1}))

    def test_a_large_body_of_any_letters_comes_back(self, place):
        ledger = place.open(dp.PureDP(1))
        charge = ledger.charge(TWENTIETH, who="Ørsted", why="ε ≤ 1 😀", key="k")
        body = '"' + "ß𝄞" * 100_000 + '"'
        ledger.finish(charge, body)
        assert ledger.answer("k") == (charge, body) and ledger.history()[1].why == "ε ≤ 1 😀"


class TestNamesAndReasons:
    @pytest.mark.parametrize("who", ["", " ann", "ann\n", "*", "x" * 201, None, 7])
    def test_who_is_a_printable_name(self, who):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        assert "printable name" in str(refused(ledger.charge, TWENTIETH, who=who))

    @pytest.mark.parametrize(
        ("text", "word"),
        [("x" * 2001, "2001 characters"), ("\0", "no store"), ("\ud800", "no store"), (7, "int")],
    )
    def test_reasons_are_short_text(self, text, word):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        for name in ("why", "question", "key"):
            refusal = str(refused(ledger.charge, TWENTIETH, who="ann", **{name: text}))
            assert word in refusal and name in refusal


class TestOpeningAgain:
    def test_a_ledger_goes_on_where_it_was(self, durable):
        first = durable.open(
            dp.PureDP(1),
            allowances={"ann": dp.PureDP("1/2")},
            window="year",
            neighbours="add-remove",
        )
        charge = first.charge(TWENTIETH, who="ann", key="k")
        first.allow("bob", dp.PureDP("1/20"))
        first.close()
        again = durable.open()
        assert again.terms == first.terms and again.pending("k", "ann") == charge
        assert again.left("ann") == dp.PureDP("9/20")
        again.charge(TWENTIETH, who="bob")
        assert first.spent() == dp.PureDP("1/10")  # the first one opens its store again
        durable.open(
            dp.PureDP(1), kind="pure", window="year", allowances={"ann": dp.PureDP("1/2")}, delta=0
        )

    @pytest.mark.parametrize(
        ("terms", "word"),
        [
            ({"budget": dp.PureDP(2)}, "budget"),
            ({"budget": dp.ApproxDP(1, 1e-6), "kind": "zcdp"}, "kind"),
            ({"delta": 1e-7}, "delta"),
            ({"orders": [3]}, "orders"),
            ({"orders": 3}, "orders"),
            ({"neighbours": "replace"}, "neighbours"),
            ({"allowances": {"ann": dp.ApproxDP(1, 1e-7)}}, "allowances"),
            ({"window": "month"}, "window"),
            ({"parts": dp.Parts("t", "c", ["a"])}, "parts"),
        ],
    )
    def test_other_terms_are_refused(self, durable, terms, word):
        ledger = durable.open(dp.ApproxDP(1, 1e-6))
        before = ledger.history()
        with pytest.raises(dp.InvalidArgument, match=f"opened with {word} ="):
            durable.open(**terms)
        assert tuple(ledger.history()) == tuple(before)

    def test_half_of_delta_is_kept_for_unknown_keys_unless_said(self):
        budget, keys = dp.ApproxDP(1, "1e-6"), Promise(dp.ApproxDP("1/100", "1e-7"))
        kept = [
            dp.open_ledger(":memory:", budget, **terms).terms.filter.terms.delta * 10**7
            for terms in (
                {},
                {"delta": 0},
                {"delta": "1e-7"},
                {"kind": "zcdp"},
                {"kind": "approximate"},
            )
        ]
        assert kept == [5, 0, 1, 0, 10]
        assert dp.open_ledger(":memory:", dp.ApproxDP(1, 0)).terms.filter.terms.delta == 0
        ledger = dp.open_ledger(":memory:", budget, allowances={"ann": dp.ApproxDP("1/2", "4e-7")})
        ledger.charge(keys, who="ann")
        ledger.charge(keys, who="ann")
        with pytest.raises(dp.BudgetExceeded, match="the allowance of ann"):
            ledger.charge(keys, who="ann")  # half of 4e-7 was kept

    def test_there_must_be_a_budget_for_a_new_one(self, place):
        with pytest.raises(dp.InvalidArgument, match="needs a budget"):
            place.open()
        if place.kind == "sqlite":
            assert not place.where.exists()

    @pytest.mark.parametrize(
        ("terms", "word"),
        [
            ({"window": "hour"}, "window must be one of"),
            ({"allowances": "ann"}, "by name"),
            ({"wait": 0}, "wait must be greater"),
            ({"parts": ("t", "c", ["a"])}, "given as Parts"),
            ({"parts": dp.Parts("t", "c", ["a"])}, "needs neighbours"),
            ({"kind": "zcdp"}, "promises ZCDP or ApproxDP"),
            ({"allowances": {"": dp.PureDP(1)}}, "printable name"),
            ({"wait": "long"}, "wait must be"),
            ({"name": ""}, "printable name"),
        ],
    )
    def test_terms_that_make_no_sense_make_no_ledger(self, file, terms, word):
        with pytest.raises(dp.InvalidArgument, match=word):
            dp.open_ledger(file, dp.PureDP(1), **terms)
        assert not file.exists()

    @pytest.mark.parametrize("where", ["", 7, None, b"x"])
    def test_a_place_is_a_path_or_a_server(self, where):
        with pytest.raises(dp.InvalidArgument, match="a ledger is opened at"):
            dp.open_ledger(where, dp.PureDP(1))

    def test_two_ledgers_in_one_database_are_strangers(self, postgres_dsn):
        names = "one", "two"
        one, two = (
            dp.open_ledger(postgres_dsn, dp.PureDP(1), name=f"strangers {name}") for name in names
        )
        one.charge(TWENTIETH, who="ann", key="k")
        assert two.spent() == dp.PureDP(0) and two.pending("k", "ann") is None
        one.close(), two.close()

    def test_it_is_a_context(self, place):
        with place.open(dp.PureDP(1)) as ledger:
            assert repr(ledger) == "<Ledger of ε = 1, counted as pure>"


def test_a_store_that_writes_nothing_is_not_believed():
    with pytest.raises(dp.LedgerCorrupt, match="wrote nothing"):
        snapshot.written_entry(None)


class TestForeign:
    """What is no entry, no checkpoint or no path is refused with a word."""

    @pytest.mark.parametrize("foreign", [None, "2", 2])
    def test_entries(self, foreign):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        for use in (
            lambda: ledger.finish(foreign, "{}"),
            lambda: ledger.fail(foreign),
            lambda: ledger.body(foreign),
        ):
            with pytest.raises(dp.InvalidArgument, match="an entry is expected"):
                use()

    @pytest.mark.parametrize("foreign", [3, "7 abc", (7,), ("7", "abc")])
    def test_checkpoints(self, foreign):
        with pytest.raises(dp.InvalidArgument, match="a checkpoint is"):
            dp.open_ledger(":memory:", dp.PureDP(1)).verify(checkpoint=foreign)

    def test_paths(self):
        with pytest.raises(dp.InvalidArgument, match="opened at a path"):
            dp.open_ledger("people\0.ledger", dp.PureDP(1))
