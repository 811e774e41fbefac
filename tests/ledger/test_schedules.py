"""Every schedule of askers, with a death at every step, on the real code: one charge, one answer, no over-spend.

`pytest -s` shows how many there were.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

import discreet as dp
from discreet.curator import pay as paying
from discreet.curator.pay import Locks, Work, pay
from discreet.ledger import failpoints as steps
from discreet.ledger.charge_order import ChargeOrder
from ledger.schedules import READS, STEPS, TOUCHES, Stage, every_schedule

NOISE = dp.Laplace(scale=1, sensitivity=1).event
DEATHS = [*STEPS, "charge:written", "finish:written"]
STORES = ["memory", "sqlite"]
PLENTY = dp.PureDP(10**9)


class World:
    """A ledger as several processes see it; every schedule has a question of its own."""

    def __init__(self, where, name="main", askers=4, **terms):
        if where == ":memory:":
            self.ledgers = [dp.open_ledger(where, PLENTY, **terms)] * askers
        else:
            self.ledgers = [
                dp.open_ledger(where, PLENTY, name=name, **terms) for _ in range(askers)
            ]

    def orders(self, who, *, same, apart=False):
        keys = (
            [f"2:{secrets.token_hex(32)}"] * 9
            if same
            else [f"2:{secrets.token_hex(32)}" for _ in range(9)]
        )
        return [
            ChargeOrder(who(asker), "", key[2:], key, NOISE, text="", apart=apart)
            for asker, key in enumerate(keys)
        ]


def crossed(name, values):
    """Every value and every store; all pairs in deep."""
    pairs = [
        pytest.param(value, store, marks=[pytest.mark.slow] * ((row + column) % 2))
        for row, value in enumerate(values)
        for column, store in enumerate(STORES)
    ]
    return pytest.mark.parametrize((name, "world"), pairs, indirect=["world"])


@pytest.fixture(params=STORES)
def world(request, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(paying, "PATIENCE", 0.0)  # nobody waits for anybody: whoever can run, runs
    yield from _world(request.param, tmp_path_factory)


def _world(kind, tmp_path_factory, **terms):
    if kind == "memory":
        yield World(":memory:", **terms)
        return
    shared = Path("/dev/shm")  # noqa: S108 a disk in memory: what is durable is proved elsewhere
    folder = tmp_path_factory.mktemp("schedules")
    path = shared / f"{secrets.token_hex(8)}.ledger" if shared.is_dir() else folder / "a.ledger"
    made = World(path, **terms)
    yield made
    for ledger in made.ledgers:
        ledger.close()
    path.unlink()


def play_all(
    world,
    monkeypatch,
    *,
    askers=2,
    points=STEPS,
    dies=None,
    reduced=False,
    enough=None,
    apart=False,
):
    """Let askers of one question meet in every schedule; then somebody asks once more. Give how many there were."""
    before = world.ledgers[-1].verify().charges
    asked = count()

    def play(choose):
        next(asked)
        told, drawn, orders = (
            [],
            count(),
            world.orders(lambda asker: f"person {asker}", same=True, apart=apart),
        )
        stage = Stage(points, choose, dies)
        monkeypatch.setattr(steps, "passed", stage.passed)

        def act(asker):
            told.append(
                pay(world.ledgers[asker], orders[asker], Work(lambda: f"{next(drawn)}"), Locks())
            )

        stage.play([act] * askers)
        told.append(pay(world.ledgers[-1], orders[askers], Work(lambda: f"{next(drawn)}"), Locks()))
        assert len({one.body for one in told}) == 1 and len(told) >= askers + 1 - (
            dies is not None
        ), told
        assert len({one.entry.number for one in told}) == (len(told) if apart else 1), told

    played, repeated = every_schedule(play, reduced=reduced, enough=enough)
    verdict, asked = world.ledgers[-1].verify(), next(asked)
    ended = (verdict.charges, verdict.answers, verdict.pending)
    assert ended == (before + asked, before + asked, 0) and verdict.exact
    shown = f"{askers} askers, {dies or 'no'} death: {played} schedules, {repeated} repeated"
    print(f"{shown}; one charge, one answer each")  # noqa: T201 the numbers are asked for
    return played


def test_two_askers_in_every_schedule_are_charged_once_and_told_the_same(world, monkeypatch):
    """At the steps before the store is touched, which loses none that differ; at all steps in the slow test.

    With and without sleep sets the same charges and answers come out; with them there are fewer schedules.
    """
    plain = play_all(world, monkeypatch, points=TOUCHES)
    fewer = play_all(world, monkeypatch, points=TOUCHES, reduced=True)
    assert READS and plain > 40 and 1 < fewer < plain


@crossed("dies", DEATHS)
def test_so_it_is_if_one_of_them_dies_at_any_step(world, monkeypatch, dies):
    assert play_all(world, monkeypatch, dies=dies, points=TOUCHES) >= 10


@pytest.mark.parametrize(
    "dies", [None, "charge:after", *(pytest.param(one, marks=pytest.mark.slow) for one in DEATHS)]
)
def test_so_it_is_on_blocks(tmp_path_factory, monkeypatch, dies):
    """A ledger with blocks: the charge of a week is one, whoever asks and whoever dies."""
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    weeks = dp.Blocks("visits", "day", "week", stays=2)
    for made in _world("memory", tmp_path_factory, blocks=weeks):
        orders = made.orders

        def on_a_week(who, orders=orders, **more):
            return [replace(one, part="2027-01-04/2027-01-10") for one in orders(who, **more)]

        made.orders = on_a_week
        assert play_all(made, monkeypatch, dies=dies, points=TOUCHES) >= 10
        assert made.ledgers[-1].left(part="2027-01-18/2027-01-24") == PLENTY


@crossed("dies", [None, "charge:after", "run:after", "finish:written"])
def test_askers_apart_have_an_entry_each_and_the_ledger_one_charge(world, monkeypatch, dies):
    """Each asker's own account has the whole price, the ledger has it once."""
    monkeypatch.setattr(paying, "LONGEST_HOLD", 0.0)
    before = world.ledgers[-1].spent()
    played = play_all(world, monkeypatch, points=TOUCHES, dies=dies, apart=True)
    assert (
        world.ledgers[-1].spent().epsilon - before.epsilon
        == world.ledgers[-1].spent("person 2").epsilon
        >= played
    )


@pytest.mark.slow
def test_so_it_is_at_all_steps_whoever_dies_where(world, monkeypatch):
    assert sum(play_all(world, monkeypatch, dies=dies) for dies in [None, *DEATHS]) > 4000


@pytest.mark.slow
def test_so_it_is_with_three_askers(world, monkeypatch):
    """Sleep sets leave out orders of readers; where no store is touched nobody else moves."""
    assert play_all(world, monkeypatch, askers=3, points=TOUCHES, reduced=True) > 1000


@pytest.mark.slow
def test_so_it_is_on_a_server_as_far_as_half_a_minute_goes(postgres_dsn, monkeypatch):
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    world, end = World(postgres_dsn, secrets.token_hex(8)), time.monotonic() + 30
    for points in (TOUCHES, STEPS):
        for dies in [None, *DEATHS]:
            play_all(
                world, monkeypatch, dies=dies, points=points, enough=lambda: time.monotonic() > end
            )
    for ledger in world.ledgers:
        ledger.close()


def test_if_one_run_fails_one_end_is_told_for_each_charge(world, monkeypatch):
    """Nobody is told an answer of a charge whose failure was told; who asks again is charged again and answered."""
    ledger, played = world.ledgers[-1], count()

    def play(choose):
        next(played)
        told, drawn, orders = [], count(), world.orders(lambda asker: f"person {asker}", same=True)
        stage = Stage((*TOUCHES, "fail:before", "fail:after"), choose)
        monkeypatch.setattr(steps, "passed", stage.passed)

        def act(asker):
            def run():
                if asker == 0:
                    raise RuntimeError
                return f"{next(drawn)}"

            try:
                told.append(pay(world.ledgers[asker], orders[asker], Work(run), Locks()))
            except dp.EngineFailure:
                told.append("failed")

        stage.play([act, act])
        told.append(pay(ledger, orders[2], Work(lambda: f"{next(drawn)}"), Locks()))
        ends = [
            entry
            for entry in ledger.history(last=8)
            if entry.key == orders[0].key and entry.refers is not None
        ]
        charges = [
            entry
            for entry in ledger.history(last=8)
            if entry.key == orders[0].key and entry.kind == "charge"
        ]
        assert sorted(entry.refers for entry in ends) == [charge.number for charge in charges]
        failed = {entry.refers for entry in ends if entry.kind == "fail"}
        answers = {one for one in told if one != "failed"}
        assert len(answers) == 1 and len(failed) == len(charges) - 1
        assert next(iter(answers)).entry.number not in failed and ("failed" in told) == bool(failed)

    every_schedule(play)
    print(f"one of two runs fails: {next(played)} schedules; one end for each charge")  # noqa: T201 the numbers are asked for
    assert ledger.verify().exact


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_two_questions_of_which_one_fits_one_is_granted(kind, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(paying, "PATIENCE", 0.0)
    for world in _world(kind, tmp_path_factory, allowances={"*": dp.PureDP(1)}):
        people = count()

        def play(choose, world=world, people=people):
            told, who = [], f"person {next(people)}"
            orders = world.orders(lambda _: who, same=False)
            stage = Stage(STEPS if kind == "memory" else TOUCHES, choose)
            monkeypatch.setattr(steps, "passed", stage.passed)

            def act(asker):
                with suppress(dp.BudgetExceeded):
                    told.append(
                        pay(world.ledgers[asker], orders[asker], Work(lambda: "1"), Locks())
                    )

            stage.play([act, act])
            assert len(told) == 1 and world.ledgers[-1].left(who) == dp.PureDP(0)

        played, _ = every_schedule(play)
        assert world.ledgers[-1].verify().charges == played > 10
        print(f"two questions, room for one: {played} schedules; one is granted")  # noqa: T201 the numbers are asked for
