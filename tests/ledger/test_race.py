"""No race over-spends: whatever is granted fits, and everything that fits is granted."""

from __future__ import annotations

import threading
from collections import Counter
from fractions import Fraction

import pytest

import discreet as dp
from discreet.privacy.events import LaplaceNoise
from ledger.crowd import forked, heard
from support.profile import DEEP

PROCESSES, REQUESTS = (32, 60) if DEEP else (6, 12)
MAKERS = 8 if DEEP else 4


def ask(ledger, who, sizes):
    """Ask for each size, and count what was granted and refused."""
    answers = Counter()
    for size in sizes:
        try:
            ledger.charge(LaplaceNoise(size, 1), who=who)
            answers[f"granted {size}"] += 1
        except dp.BudgetExceeded:
            answers[f"refused {size}"] += 1
    return answers


def crowd(durable, sizes):
    """Let every process open the ledger and ask, all at once."""

    def work(place):
        def asked(say):
            with dp.open_ledger(durable.where, name=durable.name, wait=300) as ledger:
                say(ask(ledger, f"analyst {place}", sizes))

        return asked

    children = [forked(work(place)) for place in range(PROCESSES)]
    ends = [heard(*child) for child in children]
    assert all(code == 0 for _, code in ends)
    return sum((Counter(words[0]) for words, _ in ends), Counter())


class TestManyProcesses:
    def test_of_equal_requests_exactly_as_many_are_granted_as_fit(self, durable):
        fit = PROCESSES * REQUESTS // 6
        ledger = durable.open(dp.PureDP(Fraction(fit, 20)))
        answers = crowd(durable, [20] * REQUESTS)
        assert answers == {"granted 20": fit, "refused 20": PROCESSES * REQUESTS - fit}
        assert ledger.spent() == ledger.promise() and ledger.left() == dp.PureDP(0)
        verdict = ledger.verify()
        assert (verdict.charges, verdict.exact) == (fit, True)

    def test_of_large_and_small_requests_none_is_refused_that_would_have_fitted(self, durable):
        ledger = durable.open(
            dp.PureDP(Fraction(7 * PROCESSES, 16)), allowances={"*": dp.PureDP(Fraction(1, 2))}
        )
        answers = crowd(durable, [3, 20, 50, 7, 200] * 3)
        spent = sum(
            count * Fraction(1, int(name.split()[1]))
            for name, count in answers.items()
            if "granted" in name
        )
        assert ledger.spent() == dp.PureDP(spent) and 16 * spent <= 7 * PROCESSES
        assert not any(
            ledger.admits(LaplaceNoise(3, 1), who=f"analyst {place}") for place in range(PROCESSES)
        )
        assert ledger.verify().exact

    def test_only_one_of_many_makers_makes_the_ledger(self, durable):
        def make(place):
            def made(say):
                budget = dp.PureDP(1 + place % 2)
                try:
                    with dp.open_ledger(durable.where, budget, name=durable.name) as ledger:
                        say(str(ledger.promise()))
                except dp.InvalidArgument:
                    say("other terms")

            return made

        children = [forked(make(place)) for place in range(MAKERS)]
        words = Counter(heard(*child)[0][0] for child in children)
        ledger = durable.open()
        assert words == {str(ledger.promise()): MAKERS // 2, "other terms": MAKERS // 2}
        assert ledger.verify().entries == 1


class TestManyThreads:
    def test_one_ledger_serves_many_threads(self, place):
        ledger = place.open(dp.PureDP(Fraction(30, 20)))
        answers, errors = [], []

        def work(who):
            try:
                answers.append(ask(ledger, who, [20] * 6))
            except Exception as problem:  # noqa: BLE001 shown by the assertion
                errors.append(problem)

        threads = [threading.Thread(target=work, args=(f"analyst {i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert sum(answers, Counter()) == {"granted 20": 30, "refused 20": 18}
        assert ledger.verify().exact

    def test_a_fork_while_other_threads_charge_leaves_both_sides_whole(self, durable):
        ledger = durable.open(dp.PureDP(10))
        stop = threading.Event()

        def charge_on():
            while not stop.wait(0 if DEEP else 0.002):  # a chain that is walked in the end
                ledger.charge(LaplaceNoise(1000, 1), who="thread")

        thread = threading.Thread(target=charge_on)
        thread.start()
        children = [
            forked(lambda say: say(ledger.charge(LaplaceNoise(1000, 1), who="child").number))
            for _ in range(5)
        ]
        ends = [heard(*child) for child in children]
        stop.set()
        thread.join()
        assert all(code == 0 for _, code in ends) and len({words[0] for words, _ in ends}) == 5
        assert sum(entry.who == "child" for entry in ledger.history()) == 5
        assert ledger.verify().exact


def test_a_ledger_in_memory_does_not_cross_a_fork():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))

    def work(say):
        for call in (
            ledger.left,
            ledger.verify,
            lambda: ledger.charge(LaplaceNoise(20, 1), who="ann"),
        ):
            with pytest.raises(dp.LedgerConflict, match="whole budget again"):
                call()
        say("refused")

    assert heard(*forked(work)) == (["refused"], 0)
    assert ledger.spent() == dp.PureDP(0)
