"""Kill −9 at every step of opening and closing: one charge, one value for each day, never two.

Each round forks a child that opens or closes a stream and is killed at one step; then a fresh process
goes on. A thousand rounds in `make deep`, otherwise one for each step.
"""

from __future__ import annotations

import json
import os
import signal
from itertools import cycle, islice

import pytest

import discreet as dp
from discreet.ledger import failpoints as steps
from streams.cases import BY_REGION, PEOPLE, START, curator, set_clock, visit
from support.fork import fork
from support.profile import DEEP

OPENING = ["charge:before", "charge:written", "charge:after", "noise"]
CLOSING = [
    "used:before",
    "seal:before", "seal:written", "seal:after",
    "draw:after",
    "period:before", "period:written", "period:after",
    "remember:after",
    "never",
]  # fmt: skip
STOPPING = ["stop:before", "stop:written", "stop:after"]
STREAMS = 10 if DEEP else 1
ROUNDS = 100 if DEEP else len(CLOSING)
"""Streams, and days of each: short ones, since a fresh process reads all days before."""
WORDS = {"start": START, "periods": 120, "per_person": dp.Days(5), "matters": {"day": 1}}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def ledger_of(home):
    """Open the ledger of a folder: its file, or the database that a file names."""
    server = home / "server"
    if server.exists():
        return dp.open_ledger(server.read_text(), name="kills")
    return dp.open_ledger(home / "v.ledger")


def run(home, rows, spend, *, stops=False):
    """Open the stream and close what is due, or stop it, as a fresh process does; return all days."""
    seal = dp.Seal.load(home / "v.key")
    with ledger_of(home) as ledger:
        if stops:
            curator(rows, ledger, PEOPLE).streams(seal)["v"].stop(why="over")
            return []
        report = curator(rows, ledger, PEOPLE).stream(
            BY_REGION, spend, name="v", seal=seal, **WORDS
        )
        report.close()
        return report.by("day").to_json()["rows"]


def in_a_child(home, rows, spend, deadly, **words):
    """Run in a child that dies at a step; return what came out of it."""
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(reading)
            steps.passed = lambda step: (
                os.kill(os.getpid(), signal.SIGKILL) if step == deadly else None
            )
            os.write(
                writing, json.dumps(run(home, rows, spend, **words)[-2:], default=str).encode()
            )
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        shown = pipe.read()
    os.waitpid(child, 0)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(STREAMS))
def test_a_death_at_any_step_leaves_one_value_for_each_day(number, tmp_path, monkeypatch):
    """Rows come late meanwhile: the sealed totals are those of the first that sealed."""
    spend = [dp.ZCDP("1/2"), dp.PureDP(1)][number % 2]
    dp.open_ledger(tmp_path / "v.ledger", spend).close()
    kill_many(number, tmp_path, monkeypatch, spend)


@pytest.mark.slow
def test_so_it_is_in_a_database(tmp_path, monkeypatch, postgres_dsn):
    dp.open_ledger(postgres_dsn, dp.ZCDP("1/2"), name="kills").close()
    (tmp_path / "server").write_text(postgres_dsn)
    kill_many(3, tmp_path, monkeypatch, dp.ZCDP("1/2"))


def kill_many(number, tmp_path, monkeypatch, spend):
    """Kill a closer of each of many days at one step, and go on in a fresh process."""
    dp.Seal.create(tmp_path / "v.key")
    set_clock(monkeypatch, 0)
    run(tmp_path, [], spend)
    given = {}
    for place, deadly in enumerate(islice(cycle(CLOSING), ROUNDS)):
        set_clock(monkeypatch, place + 1)
        rows = [visit(place, who=f"p{number}") for number in range(place % 7)]
        shown = in_a_child(tmp_path, rows, spend, deadly)
        if shown:
            given[place] = json.loads(shown)
        late = [*rows, visit(place, who="late")]
        final = json.loads(json.dumps(run(tmp_path, late, spend)[-2:], default=str))
        assert given.setdefault(place, final) == final
    for deadly in STOPPING:
        in_a_child(tmp_path, [], spend, deadly, stops=True)
    run(tmp_path, [], spend, stops=True)
    with ledger_of(tmp_path) as ledger:
        kinds = [entry.kind for entry in ledger.history()]
        assert [kinds.count(kind) for kind in ("charge", "period", "stop")] == [1, ROUNDS, 1]
        ledger.verify()


@pytest.mark.parametrize(
    "step", [step for step in CLOSING if not step.endswith((":written", "never"))]
)
@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.PureDP(1)])
def test_a_second_closer_between_any_two_steps_gives_the_same(step, spend, tmp_path, monkeypatch):
    """The second sees one row more. Both give the same days, and each day is counted once."""
    dp.open_ledger(tmp_path / "v.ledger", spend).close()
    dp.Seal.create(tmp_path / "v.key")
    set_clock(monkeypatch, 2)
    given = []

    def passed(name):
        if name == step and not given:
            given.append(None)
            given.append(run(tmp_path, [visit(0), visit(0, who="bob")], spend))

    with monkeypatch.context() as patched:
        patched.setattr(steps, "passed", passed)
        first = run(tmp_path, [visit(0)], spend)
    assert given[1] == first == run(tmp_path, [], spend)
    with dp.open_ledger(tmp_path / "v.ledger") as ledger:
        kinds = [entry.kind for entry in ledger.history()]
        assert kinds.count("charge") == 1 and kinds.count("period") == 2
        ledger.verify()


@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.PureDP(1)])
def test_a_death_at_the_opening_leaves_one_charge(spend, tmp_path, monkeypatch):
    set_clock(monkeypatch, 1)
    for place, deadly in enumerate([*OPENING, *CLOSING]):
        home = tmp_path / str(place)
        home.mkdir()
        dp.open_ledger(home / "v.ledger", spend).close()
        dp.Seal.create(home / "v.key")
        monkeypatch.setitem(WORDS, "periods", 12)
        shown = in_a_child(home, [visit(0)], spend, deadly)
        final = json.loads(json.dumps(run(home, [visit(0)] * 3, spend)[-2:], default=str))
        if shown:
            assert json.loads(shown) == final
        with dp.open_ledger(home / "v.ledger") as ledger:
            kinds = [entry.kind for entry in ledger.history()]
            assert kinds.count("charge") == 1 and kinds.count("period") == 1
            ledger.verify()
