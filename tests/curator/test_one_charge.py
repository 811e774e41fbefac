"""One charge, whoever asks, from however many processes: decided in one transaction, on every store."""

from __future__ import annotations

import multiprocessing
import os
import random
import secrets

import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS
from discreet.curator import pay as paying
from discreet.curator.pay import Locks, Work, pay
from discreet.ledger.charge_order import ChargeOrder
from ledger.crowd import forked, heard

PROCESSES, QUESTIONS = 4, 6
FEW = {"people": ROWS["people"][:20]}


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    """A store that several processes can use: how to open it."""
    if request.param == "sqlite":
        return {"where": tmp_path / "people.ledger"}
    return {"where": request.getfixturevalue("postgres_dsn"), "name": secrets.token_hex(8)}


def _asks(where, who, start):
    """Ask all questions in an order of one's own, as a process of its own does."""
    places = list(range(QUESTIONS))
    random.Random(who).shuffle(places)

    def work(say):
        with dp.open_ledger(**where) as ledger:
            curator = dp.Curator(dp.Memory(FEW), [PEOPLE], ledger, who=who)
            start.wait()
            for place in places:
                sql = (
                    f"SELECT region, COUNT(*) AS n FROM people WHERE age > {place} GROUP BY region"
                )
                answer = curator.sql(sql, spend=dp.PureDP(1))
                say([place, repr(answer.rows), answer.receipt.who])

    return work


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_four_processes_with_the_same_six_questions_are_charged_six_times(where):
    with dp.open_ledger(budget=dp.PureDP(100), **where):
        pass
    start = multiprocessing.get_context("fork").Barrier(PROCESSES)
    children = [forked(_asks(where, f"person {n}", start)) for n in range(PROCESSES)]
    ended = [heard(*child) for child in children]
    assert [code for _, code in ended] == [0] * PROCESSES
    told = [tuple(word) for words, _ in ended for word in words]
    assert (
        len(told) == len(set(told)) == PROCESSES * QUESTIONS
        and len({word[:2] for word in told}) == QUESTIONS
    )
    with dp.open_ledger(**where) as ledger:
        verdict = ledger.verify()
        assert (verdict.charges, verdict.answers, verdict.pending) == (QUESTIONS, QUESTIONS, 0)
        assert ledger.spent() == dp.PureDP(QUESTIONS)
        assert {ledger.spent(f"person {n}") for n in range(PROCESSES)} == {dp.PureDP(QUESTIONS)}


def test_a_slow_run_of_an_older_plan_gives_what_was_stored_first(monkeypatch):
    """Both charges were paid, but one question has one answer."""
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    ledger, key = dp.open_ledger(":memory:", dp.PureDP(5)), "2:" + "a" * 64
    old, new = (
        ChargeOrder(
            "ana", "", "f" * 64, key, dp.Laplace(scale=n, sensitivity=1).event, text="", apart=False
        )
        for n in (1, 2)
    )
    told = []

    def overtaken():
        told.append(pay(ledger, new, Work(lambda: "quick"), Locks()))
        return "slow"

    assert (
        pay(ledger, old, Work(overtaken), Locks())
        == told[0]
        == pay(ledger, new, Work(lambda: "never"), Locks())
    )
    assert told[0].body == "quick" and ledger.spent() == dp.PureDP("3/2")
