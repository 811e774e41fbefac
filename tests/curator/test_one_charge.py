"""One charge, whoever asks, from however many processes: decided in one transaction, on every store."""

from __future__ import annotations

import multiprocessing
import os
import random
import secrets
import threading
from contextlib import suppress
from itertools import count

import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS
from discreet.curator import pay as paying
from discreet.curator.pay import Locks, pay
from discreet.ledger import Ledger
from discreet.ledger.order import Order
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
                sql = f"SELECT region, COUNT(*) AS n FROM people WHERE age > {place} GROUP BY region"
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
    assert len(told) == len(set(told)) == PROCESSES * QUESTIONS and len({word[:2] for word in told}) == QUESTIONS
    with dp.open_ledger(**where) as ledger:
        verdict = ledger.verify()
        assert (verdict.charges, verdict.answers, verdict.pending) == (QUESTIONS, QUESTIONS, 0)
        assert ledger.spent() == dp.PureDP(QUESTIONS)
        assert {ledger.spent(f"person {n}") for n in range(PROCESSES)} == {dp.PureDP(QUESTIONS)}


class Died(BaseException):
    """The end of a process."""


class Stage:
    """Askers that move one at a time, from one touch of the store to the next, in an order that is chosen."""

    def __init__(self, choices):
        self.choices, self.taken = list(choices), []
        self.turn = {}
        self.moved = threading.Semaphore(0)
        self.ended = set()

    def point(self, asker):
        """Wait until it is this asker's turn."""
        self.moved.release()
        self.turn[asker].acquire()

    def play(self, acts):
        """Run all askers to their ends; note who could have moved at each step, and who did."""
        for asker, act in enumerate(acts):
            self.turn[asker] = threading.Semaphore(0)
            threading.Thread(target=self._act, args=(asker, act), daemon=True).start()
            self.moved.acquire()
        while len(self.ended) < len(acts):
            able = [asker for asker in range(len(acts)) if asker not in self.ended]
            place = len(self.taken)
            pick = self.choices[place] if place < len(self.choices) else able[0]
            self.taken.append((able, pick))
            self.turn[pick].release()
            self.moved.acquire()
        return self.taken

    def _act(self, asker, act):
        self.point(asker)
        try:
            act(asker)
        finally:
            self.ended.add(asker)
            self.moved.release()


def schedules(play):
    """Run every schedule once, each after the one before it."""
    choices = []
    while choices is not None:
        taken = play(choices)
        while taken and taken[-1][1] == taken[-1][0][-1]:
            taken.pop()
        choices = [*(pick for _, pick in taken[:-1]), taken[-1][0][taken[-1][0].index(taken[-1][1]) + 1]] if taken else None  # fmt: skip


class Watched:
    """A store that lets others move before it is touched, and whose asker may die there."""

    def __init__(self, store, stage, asker, dies=None):
        self.store, self.stage, self.asker, self.dies, self.touched = store, stage, asker, dies, 0

    def touch(self):
        if self.touched == self.dies:
            raise Died
        self.touched += 1
        self.stage.point(self.asker)

    def read(self, *asked):
        self.touch()
        return self.store.read(*asked)

    def append(self, *asked):
        self.touch()
        return self.store.append(*asked)


@pytest.fixture(params=["memory", "sqlite"])
def ledgers(request, tmp_path, monkeypatch):
    """Three ledgers on one store, as three processes would have them; nobody waits for anybody."""
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    if request.param == "memory":
        one = dp.open_ledger(":memory:", dp.PureDP(10**6))
        return [one] * 3
    return [dp.open_ledger(tmp_path / "a.ledger", dp.PureDP(10**6)) for _ in range(3)]


def _play_all(ledgers, dies=None, *, apart=False):
    """Let two askers meet in every schedule, the first of them dying at a touch; give the number of schedules."""
    before, played = ledgers[2].verify().charges, []

    def play(choices):
        key, told, drawn = f"2:{secrets.token_hex(32)}", [], count()
        stage = Stage(choices)

        def act(asker):
            store = Watched(ledgers[asker]._store, stage, asker, dies if asker == 0 else None)
            ledger = Ledger(store, ledgers[asker].terms)
            event = dp.Laplace(scale=1, sensitivity=1).event
            order = Order(f"person {asker}", "", key[2:], key, event, text="SELECT", apart=apart)
            with suppress(Died):
                told.append(pay(ledger, order, lambda: f"{next(drawn)}", Locks()))

        taken = list(stage.play([act, act]))
        final = Ledger(ledgers[2]._store, ledgers[2].terms)
        order = Order("person 2", "", key[2:], key, dp.Laplace(scale=1, sensitivity=1).event, apart=apart)
        told.append(pay(final, order, lambda: f"{next(drawn)}", Locks()))
        assert len({body for _, body in told}) == 1 and len(told) >= (3 if dies is None else 2), (choices, told)
        assert len({entry.number for entry, _ in told}) == (len(told) if apart else 1), (choices, told)
        played.append(key)
        return taken

    schedules(play)
    verdict = ledgers[2].verify()
    assert (verdict.charges, verdict.answers, verdict.pending) == (before + len(played), before + len(played), 0)
    return len(played)


def test_every_schedule_of_two_askers_has_one_charge_and_one_answer(ledgers):
    played = _play_all(ledgers)
    assert played > 100, played


@pytest.mark.parametrize("dies", [pytest.param(None, marks=pytest.mark.slow), 1, 3])
def test_every_schedule_of_askers_apart_has_one_charge_and_an_entry_for_each(ledgers, dies, monkeypatch):
    """Each asker's own account has the whole price, the ledger has it once."""
    monkeypatch.setattr(paying, "LONGEST_HOLD", 0.0)
    played, spent = _play_all(ledgers, dies, apart=True), ledgers[2].spent()
    assert played > 20 and spent == ledgers[2].spent("person 2") == dp.PureDP(played)
    assert ledgers[2].spent("person 1") == spent and ledgers[2].spent("person 0") <= spent


def test_so_it_is_if_one_of_them_dies_before_any_touch_of_the_store(ledgers):
    played = sum(_play_all(ledgers, dies) for dies in range(5))
    assert played > 100, played


def test_a_slow_run_of_an_older_plan_gives_what_was_stored_first(monkeypatch):
    """Both charges were paid, but one question has one answer."""
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    ledger, key = dp.open_ledger(":memory:", dp.PureDP(5)), "2:" + "a" * 64
    old, new = (Order("ana", "", "f" * 64, key, dp.Laplace(scale=n, sensitivity=1).event) for n in (1, 2))
    told = []

    def overtaken():
        told.append(pay(ledger, new, lambda: "quick", Locks()))
        return "slow"

    assert pay(ledger, old, overtaken, Locks()) == told[0] == pay(ledger, new, lambda: "never", Locks())
    assert told[0][1] == "quick" and ledger.spent() == dp.PureDP("3/2")
