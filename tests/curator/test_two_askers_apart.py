"""Two people who ask the same, apart: each pays once and has one answer, whoever ends first and whatever fails."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

import discreet as dp
from curator.cases import COUNT, PEOPLE, ROWS, VISITS, WARDS, opened
from discreet.curator.pay import Locks, Work, pay
from discreet.ledger import clock
from discreet.ledger.charge_order import ChargeOrder

NOISE = dp.Laplace(scale=1, sensitivity=1).event
TABLES = [PEOPLE, VISITS, WARDS]


@pytest.mark.parametrize("allowance", [2, 1])
def test_who_waits_for_a_run_that_fails_has_paid_for_that_failure(allowance):
    ledger = opened(allowances={"ana": dp.PureDP(5), "bob": dp.PureDP(allowance)})

    class Breaks(dp.Memory):
        """A store that fails once Bob has paid too."""

        def tally(self, tally):
            while ledger.spent("bob") == dp.PureDP(0):
                time.sleep(0.01)
            raise RuntimeError("disk")

    ana = dp.Curator(Breaks(ROWS), TABLES, ledger, who="ana")
    bob = dp.Curator(dp.Memory(ROWS), TABLES, ledger, who="bob")

    def ask():
        with pytest.raises(dp.EngineFailure):
            ana.sql(COUNT, spend=dp.PureDP(1))

    first = threading.Thread(target=ask)
    first.start()
    while ledger.spent() == dp.PureDP(0):
        time.sleep(0.01)
    with pytest.raises(dp.EngineFailure):
        bob.sql(COUNT, spend=dp.PureDP(1))
    first.join()
    assert bob.spent() == dp.PureDP(1) == ledger.spent() and ledger.verify().exact


@pytest.mark.parametrize("allowance", [2, 1])
def test_ones_own_paid_answer_is_given_though_another_was_stored_first(allowance, monkeypatch):
    """Ana was charged yesterday and her run ends while Bob's, of today, is under way."""
    now = [datetime(2026, 3, 1, 23, 59, 58, tzinfo=UTC)]
    monkeypatch.setattr(clock, "now", lambda: now[0])
    shares = {"ana": dp.PureDP(2), "bob": dp.PureDP(allowance)}
    ledger = dp.open_ledger(":memory:", dp.PureDP(3), window="day", allowances=shares)
    ana, bob = (
        ChargeOrder(who, "", "q", "2:k", NOISE, text="", apart=True) for who in ("ana", "bob")
    )
    first = ledger.settle(ana)
    now[0] += timedelta(seconds=4)

    def run():
        ledger.finish(first.charge, '"ana"')
        return '"bob"'

    assert (
        pay(ledger, bob, Work(run), Locks()).body
        == '"bob"'
        == pay(ledger, bob, Work(run), Locks()).body
    )
    assert ledger.spent("bob") == dp.PureDP(1) and ledger.verify().exact


def test_what_was_paid_for_by_another_event_is_another_question():
    """Else whether it is refused would tell what a colleague has asked."""
    ledger = opened(allowances={"ana": dp.PureDP(5), "bob": dp.PureDP(1)})
    ana = ChargeOrder(
        "ana", "", "q", "2:k", dp.Laplace(scale="1/2", sensitivity=1).event, text="", apart=True
    )
    bob = ChargeOrder("bob", "", "q", "2:k", NOISE, text="", apart=True)
    assert pay(ledger, ana, Work(lambda: '"ana"'), Locks()).body == '"ana"'
    assert pay(ledger, bob, Work(lambda: '"bob"'), Locks()).body == '"bob"'
    assert (ledger.spent("ana"), ledger.spent("bob"), ledger.spent()) == (
        dp.PureDP(2),
        dp.PureDP(1),
        dp.PureDP(3),
    )
    assert pay(ledger, ana, Work(lambda: '"never"'), Locks()).body == '"ana"'


def test_synthetic_tables_are_asked_apart_too():
    schema = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"]), "old": dp.Boolean()})
    rows = [{"sex": "fm"[n % 2], "old": n % 3 == 0} for n in range(500)]
    ledger = dp.open_ledger(
        ":memory:",
        dp.ZCDP(3),
        allowances={"ana": dp.ZCDP(2), "bob": dp.ZCDP(2), "eve": dp.ZCDP("1/2")},
    )
    office = dp.Curator(dp.Memory({"people": rows}), [schema], ledger)
    office.named("ana").synthesize("people", dp.ZCDP(1), why="a secret")
    found = office.named("bob").synthesize("people", dp.ZCDP(1))
    assert (found.receipt.who, found.receipt.why) == ("bob", "") and ledger.spent(
        "bob"
    ) == ledger.spent()
    with pytest.raises(dp.BudgetExceeded, match="the allowance of eve"):
        office.named("eve").synthesize("people", dp.ZCDP(1))
    assert any("people" in text for text in ledger.history().asked.values())
