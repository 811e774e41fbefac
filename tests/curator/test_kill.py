"""Kill −9 at every step of charge, run and finish: never an answer without its charge, and a restart goes on.

Each round forks a child that asks one question and is killed at one step; then a fresh process asks again.
A thousand rounds in `make deep`, otherwise two for each step.
"""

from __future__ import annotations

import json
import os
import signal
from itertools import cycle, islice

import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS
from curator.test_contrast import BY_REGION, OLD, SPEND, TOTAL, YOUNG
from curator.test_contrast import curator as of_shops
from discreet.answer.stored import answer_to_json
from discreet.ledger import failpoints as steps
from support.fork import fork
from support.profile import DEEP

STEPS = [
    "charge:before", "charge:written", "charge:after",
    "run:before", "run:after",
    "finish:before", "finish:written", "finish:after",
    "never",
]  # fmt: skip
ROUNDS = 200 if DEEP else 2 * len(STEPS)
PRICE = dp.PureDP("1/10")
FEW = {"people": ROWS["people"][:20]}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def ask(path, question):
    """Ask as a fresh process does: open the ledger, ask, give what an analyst would see."""
    with dp.open_ledger(path) as ledger:
        answer = dp.Curator(dp.Memory(FEW), [PEOPLE], ledger, who="ana").sql(question, spend=PRICE)
    return json.dumps([answer_to_json(answer), answer.receipt.to_json()])


def in_a_child(path, question, deadly, ask=ask):
    """Run in a child that dies at a step; give what came out of it, and how it ended."""
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            steps.passed = lambda step: (
                os.kill(os.getpid(), signal.SIGKILL) if step == deadly else None
            )
            shown = ask(path, question).encode()
            while shown:
                shown = shown[os.write(writing, shown) :]
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        shown = pipe.read()
    _, status = os.waitpid(child, 0)
    return shown.decode(), status


def entries(path):
    with dp.open_ledger(path) as ledger:
        return list(ledger.history())


def test_at_every_step_nothing_goes_out_unpaid_and_a_restart_goes_on(tmp_path):
    path = tmp_path / "people.ledger"
    dp.open_ledger(path, dp.PureDP(1_000)).close()
    ask(path, "SELECT COUNT(*) AS n FROM people")  # everything is imported before the first fork
    charged = 1
    for place, deadly in enumerate(islice(cycle(STEPS), ROUNDS)):
        question = (
            f"SELECT region, COUNT(*) AS n FROM people WHERE income > {place} GROUP BY region"
        )
        shown, status = in_a_child(path, question, deadly)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert killed == (deadly != "never") and bool(shown) == (deadly == "never"), (
            deadly,
            status,
            shown,
        )
        with dp.open_ledger(path) as ledger:
            paid = ledger.spent() == dp.PureDP((charged + 1) * PRICE.epsilon)
            assert paid or (
                ledger.spent() == dp.PureDP(charged * PRICE.epsilon)
                and deadly.startswith("charge:")
            )
            assert paid or deadly != "charge:after"
        again = ask(path, question)
        assert not shown or again == shown
        charged += 1
        with dp.open_ledger(path) as ledger:
            assert ledger.spent() == dp.PureDP(charged * PRICE.epsilon), deadly
    with dp.open_ledger(path) as ledger:
        ledger.verify()
    found = entries(path)
    charges = [entry.number for entry in found if entry.kind == "charge"]
    assert len(charges) == charged and [e.refers for e in found if e.kind == "answer"] == charges


@pytest.mark.parametrize("deadly", ["fail:before", "fail:written", "fail:after"])
def test_at_every_step_of_a_failure_the_charge_stays(tmp_path, deadly):
    path, broken = tmp_path / "people.ledger", {"people": [{**ROWS["people"][0], "age": object()}]}
    dp.open_ledger(path, dp.PureDP(3)).close()

    class Broken(dp.Memory):
        def tally(self, tally):
            raise RuntimeError(broken)

    def failing(where, question):
        with dp.open_ledger(where) as ledger:
            return str(dp.Curator(Broken(ROWS), [PEOPLE], ledger).sql(question, spend=PRICE))

    child = fork()
    if child == 0:
        try:
            steps.passed = lambda step: (
                os.kill(os.getpid(), signal.SIGKILL) if step == deadly else None
            )
            failing(path, "SELECT COUNT(*) AS n FROM people")
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    with dp.open_ledger(path) as ledger:
        assert ledger.spent() == PRICE
        ledger.verify()
    ask(path, "SELECT COUNT(*) AS n FROM people")
    with dp.open_ledger(path) as ledger:
        assert ledger.spent() in (PRICE, dp.PureDP("1/5"))


def ask_shops(path, question):
    """Ask a question about shops as a fresh process does; what answers for nothing is not read from rows."""
    with dp.open_ledger(path) as ledger:
        answer = of_shops(ledger=ledger).sql(question, spend=SPEND)
    return json.dumps([answer_to_json(answer), answer.receipt.to_json()])


@pytest.mark.slow
@pytest.mark.parametrize(("source", "asked"), [
    (TOTAL, YOUNG), (BY_REGION, OLD), (BY_REGION, TOTAL), (YOUNG, f"{TOTAL} WHERE NOT age < 18"),
])  # fmt: skip
def test_at_every_step_of_what_answers_another_question(tmp_path, source, asked):
    """Killed while the source is paid for, or the question of it: nothing is paid twice, and one answer is told."""
    alone = tmp_path / "alone.ledger"
    dp.open_ledger(alone, dp.ZCDP(99)).close()
    ask_shops(alone, source)
    ask_shops(alone, asked)
    for deadly in STEPS:
        for killed in (source, asked):
            path = tmp_path / f"{deadly}-{killed == source}.ledger".replace(":", "-")
            dp.open_ledger(path, dp.ZCDP(99)).close()
            if killed == asked:
                ask_shops(path, source)
            shown, _ = in_a_child(path, killed, deadly, ask_shops)
            ask_shops(path, source)
            told = ask_shops(path, asked)
            if killed == asked and shown:
                assert told == shown
            assert ask_shops(path, asked) == told
            with dp.open_ledger(path) as ledger, dp.open_ledger(alone) as whole:
                assert ledger.spent() == whole.spent(), (deadly, killed)
                assert ledger.verify().pending == 0
