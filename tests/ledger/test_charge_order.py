"""What a ledger finds for an order, and that it charges only what it does not find, on every store."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet.ledger.charge_order import ChargeOrder, Overtaken, Settlement, Watch
from discreet.ledger.stores.store import Since

NOISE = dp.Laplace(scale=1, sensitivity=1).event
LESS = dp.Laplace(scale=2, sensitivity=1).event
KEY = "2:" + "a" * 64
QUESTION = "f" * 64


def order(who="ann", event=NOISE, key=KEY, part=None, fits=None):
    return ChargeOrder(who, "why", QUESTION, key, event, part, fits, text="", apart=False)


class TestAnOrder:
    def test_is_charged_once_and_then_found(self, place):
        ledger = place.open(dp.PureDP(3))
        assert ledger.find(order()) is None
        first = ledger.settle(order())
        assert first.fresh and first.body is None and first.charge.question == QUESTION
        assert ledger.settle(order()) == ledger.find(order()) == Settlement(first.charge)
        ledger.finish(first.charge, "1")
        assert ledger.settle(order("bob")) == ledger.find(order()) == Settlement(first.charge, "1")
        assert ledger.spent() == dp.PureDP(1) and ledger.verify().charges == 1

    def test_finds_the_pending_charge_of_whoever_was_first(self, place):
        ledger = place.open(dp.PureDP(3), allowances={"ann": dp.PureDP(1), "bob": dp.PureDP("1/8")})
        first = ledger.settle(order("ann"))
        assert ledger.settle(order("bob")) == Settlement(first.charge)
        with pytest.raises(dp.NotAllowed):
            ledger.settle(order("eve"))
        with pytest.raises(dp.NotAllowed):
            ledger.find(order("eve"))

    def test_is_not_charged_once_there_are_entries_that_it_must_come_before(self, place):
        """Only new ones count, of the asker or of everyone, under keys that begin as it says."""
        ledger = place.open(dp.PureDP(9))
        first = ledger.settle(order(key="2:b1")).charge
        since = ledger.last_number()
        ledger.settle(order("bob", key="2:c1"))
        ledger.finish(first, "1")
        for number, who, starts, refused in (
            (since, "ann", ("2:x", "2:b"), True),  # an answer is an entry too
            (since, None, ("2:c",), True),
            (since - 1, "ann", ("2:b1",), True),
            (since, "ann", ("2:c",), False),  # that is another person's
            (since, "bob", ("2:c",), True),
            (since + 3, None, ("2:",), False),
        ):
            key = f"2:{number}{who}{starts}"
            watched = replace(order(key=key), watch=Watch(Since(number, who), starts))
            if refused:
                before = ledger.last_number()
                with pytest.raises(Overtaken, match="nothing was spent"):
                    ledger.settle(watched)
                assert ledger.last_number() == before
            else:
                # Once it is charged it is found, whatever comes later.
                assert ledger.settle(watched).fresh and not ledger.settle(watched).fresh

    def test_is_pending_for_who_paid_for_it(self, place):
        ledger = place.open(dp.PureDP(9))
        first = ledger.settle(replace(order("ann"), apart=True))
        assert ledger.pending(KEY, "bob") is None
        ledger.settle(replace(order("bob"), apart=True))
        for who in ("ann", "bob", None):
            assert ledger.pending(KEY, who) == first.charge
        assert ledger.pending(KEY, "eve") is None

    def test_is_not_run_under_a_charge_for_another_event_or_part(self, place):
        ledger = place.open(
            dp.PureDP(5), neighbours="add-remove", parts=dp.Parts("visits", "sex", [0, 1])
        )
        first = ledger.settle(order(part=1))
        for other in (order(event=LESS, part=1), order(part=0), order()):
            assert ledger.find(other) is None
            assert ledger.settle(other).charge.number > first.charge.number

    def test_is_charged_anew_after_a_failure(self, place):
        ledger = place.open(dp.PureDP(3))
        ledger.fail(ledger.settle(order()).charge)
        assert (
            ledger.find(order()) is None
            and ledger.settle(order()).fresh
            and ledger.spent() == dp.PureDP(2)
        )

    def test_leaves_pending_charges_of_an_earlier_window_alone(self, place, stopped_clock):
        ledger = place.open(dp.PureDP(3), window="month")
        ledger.settle(order())
        stopped_clock.move(days=31)
        assert ledger.find(order()) is None and ledger.settle(order()).fresh

    def test_gives_the_answer_that_was_stored_first_for_ever(self, place):
        """A slow run of an older plan may end after a newer one; what was given once is given again."""
        ledger = place.open(dp.PureDP(3))
        slow = ledger.settle(order()).charge
        quick = ledger.settle(order(event=LESS)).charge
        ledger.finish(quick, "quick")
        assert ledger.find(order()).body == "quick"
        ledger.finish(slow, "slow")
        assert ledger.find(order()) == ledger.find(order(event=LESS)) == Settlement(quick, "quick")

    def test_that_does_not_fit_is_refused_and_changes_nothing(self, place):
        ledger = place.open(dp.PureDP("1/2"))
        with pytest.raises(dp.BudgetExceeded):
            ledger.settle(order())
        assert ledger.verify().entries == 1


class TestAKeyOfTheFirstFormat:
    """It is found by the question it was charged for, if the order knows how to tell."""

    def test_is_taken_if_it_fits(self, place):
        ledger = place.open(dp.PureDP(5))
        charge = ledger.charge(LESS, who="ann", question=QUESTION, key="0" * 64)
        ledger.finish(charge, "old")
        assert ledger.find(order()) is None and ledger.find(order(fits=lambda *_: False)) is None
        seen = []
        assert ledger.find(order(fits=lambda *one: seen.append(one) or True)) == Settlement(
            charge, "old"
        )
        assert seen == [(charge, "old")]

    def test_of_the_same_noise_comes_first(self, place):
        ledger = place.open(dp.PureDP(5))
        for event, key in ((LESS, "0" * 64), (NOISE, "1" * 64)):
            ledger.finish(ledger.charge(event, who="ann", question=QUESTION, key=key), key[0])
        assert ledger.find(order(fits=lambda *_: True)).body == "1"

    def test_that_is_pending_is_run_for_the_same_event(self, place):
        ledger = place.open(dp.PureDP(5))
        charge = ledger.charge(NOISE, who="ann", question=QUESTION, key="0" * 64)
        assert ledger.find(order(event=LESS, fits=lambda *_: True)) is None
        assert ledger.settle(order(fits=lambda *_: True)) == Settlement(charge)

    @pytest.mark.parametrize("key", ["", "2:" + "b" * 64])
    def test_is_no_other_key(self, place, key):
        ledger = place.open(dp.PureDP(5))
        ledger.finish(ledger.charge(NOISE, who="ann", question=QUESTION, key=key), "other")
        assert ledger.find(order(fits=lambda *_: True)) is None

    def test_is_not_taken_for_a_question_that_a_reason_quotes(self, place):
        """The field is found in the line by its name; a text that looks like it is escaped."""
        ledger = place.open(
            dp.PureDP(5),
            neighbours="add-remove",
            parts=dp.Parts("t", "c", [f'"question":"{QUESTION}"']),
        )
        quoted = f'"question":"{QUESTION}"'
        charge = ledger.charge(
            NOISE, who=quoted[:80], why=quoted, question="e" * 64, key="0" * 64, part=quoted
        )
        ledger.finish(charge, "other")
        assert ledger.find(order(fits=lambda *_: True)) is None


class TestAnAnswerThatIsPaidFor:
    """`find_paid` returns what `find` returns for an order of the key, without an event."""

    def test_is_found_by_its_key_alone(self, place):
        ledger = place.open(dp.PureDP(3))
        first = ledger.settle(order())
        assert ledger.find_paid("ann", KEY, apart=True) is None
        ledger.finish(first.charge, "1")
        found = ledger.find_paid("ann", KEY, apart=True)
        assert found == ledger.find(order()) == Settlement(first.charge, "1")
        assert ledger.find_paid("ann", "2:other", apart=True) is None

    def test_of_others_is_found_only_where_questions_are_shared(self, place):
        ledger = place.open(dp.PureDP(3))
        first = ledger.settle(order())
        ledger.finish(first.charge, "1")
        assert ledger.find_paid("bob", KEY, apart=True) is None
        assert ledger.find_paid("bob", KEY, apart=False) == Settlement(first.charge, "1")

    def test_through_an_again_is_told_with_the_entry_of_its_asker(self, place):
        ledger = place.open(dp.PureDP(3))
        apart = replace(order("bob"), apart=True)
        ledger.finish(ledger.settle(order()).charge, "1")
        settled = ledger.settle(apart)
        found = ledger.find_paid("bob", KEY, apart=True)
        assert found == ledger.find(apart) and found.entry == settled.own
        # A stopped `again` has ended: the answer has to be paid for anew.
        ledger.fail(settled.own)
        assert ledger.find_paid("bob", KEY, apart=True) is None

    def test_is_the_one_stored_first_of_several(self, place):
        ledger = place.open(dp.PureDP(3))
        slow = ledger.settle(order()).charge
        quick = ledger.settle(order(event=LESS)).charge
        ledger.finish(quick, "quick")
        ledger.finish(slow, "slow")
        assert ledger.find_paid("ann", KEY, apart=True) == Settlement(quick, "quick")

    def test_is_none_after_a_failure_and_without_an_allowance(self, place):
        ledger = place.open(dp.PureDP(3), allowances={"ann": dp.PureDP(2)})
        ledger.fail(ledger.settle(order()).charge)
        assert ledger.find_paid("ann", KEY, apart=True) is None
        ledger.finish(ledger.settle(order()).charge, "1")
        assert ledger.find_paid("ann", KEY, apart=True).body == "1"
        ledger.allow("ann", None)
        assert ledger.find_paid("ann", KEY, apart=True) is None
