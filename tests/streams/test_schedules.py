"""Every schedule of two closers of one day, with a death at every step, on three stores: one value of each day.

The real code runs in threads that move one at a time, from one step before shared state is touched to the next.
"""

from __future__ import annotations

import secrets
from itertools import count
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger import failpoints as steps
from discreet.streams.closing import stored_notes, unpack_numbers
from discreet.streams.seal import Seal
from ledger.schedules import Stage, every_schedule
from streams.cases import BY_REGION, PEOPLE, PLENTY, START, curator, set_clock, visit

FEW = ("seal:before", "period:before")
ALL = ("used:before", "seal:before", "period:before", "period:after")
"""Steps before which a closer waits: each is followed by one write, to the key file or to the ledger."""
DEATHS = [
    "used:before", "used:written", "used:after", "seal:before", "seal:written", "seal:after", "draw:after",
    "period:before", "period:written", "period:after", "remember:written", "remember:after",
]  # fmt: skip
# Longer than a strategy is searched for; days enough for every schedule.
WORDS = {"start": START, "periods": 5000, "matters": {"day": 1}, "per_person": dp.Days(3)}


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def ledgers(request, tmp_path):
    """Two handles of one ledger, as two processes have them, and one that checks."""
    if request.param == "memory":
        yield [dp.open_ledger(":memory:", PLENTY)] * 3
        return
    where = tmp_path / "v.ledger"
    shared = Path("/dev/shm")  # noqa: S108 a disk in memory: what is durable is proved elsewhere
    if request.param == "postgres":
        where = request.getfixturevalue("postgres_dsn")
    elif shared.is_dir():
        where = shared / f"{secrets.token_hex(8)}.ledger"
    name = f"v{secrets.token_hex(4)}"
    made = [dp.open_ledger(where, PLENTY, name=name) for _ in range(3)]
    yield made
    for ledger in made:
        ledger.close()
    if isinstance(where, Path):
        where.unlink()


def close_in_every_schedule(ledgers, tmp_path, monkeypatch, points, dies=None):
    """Let two closers, who see other rows, meet in every schedule; give how many there were."""
    seal = Seal.create(tmp_path / "v.key")
    set_clock(monkeypatch, 0)
    opening = curator([], ledgers[2], PEOPLE)
    opening.stream(BY_REGION, dp.ZCDP(10**11), name="v", seal=seal, **WORDS)
    days = count()

    def play(choose):
        day = next(days)
        set_clock(monkeypatch, day + 1)
        given = []
        rows = [[visit(day, who=f"p{day}")], [visit(day, who=f"p{day}"), visit(day, who="late")]]
        # Opened before the schedule begins, as a service has them.
        reports = []
        for ledger, seen in zip(ledgers[:2], rows, strict=True):
            reports.append(curator(seen, ledger, PEOPLE).streams(seal)["v"])
        stage = Stage(points, choose, dies)
        with monkeypatch.context() as patched:
            patched.setattr(steps, "passed", stage.passed)
            stage.play([lambda asker: given.append(reports[asker].close().rows())] * 2)
        again = curator([], ledgers[2], PEOPLE).streams(seal)["v"]
        assert len(again.close()) == 0 or dies is not None
        last = again.by("day", 1).rows()
        # Who came when the other was done had nothing to close.
        assert all(rows in ([], last) for rows in given) and (given or dies)

    played, _ = every_schedule(play)
    ledger = ledgers[2]
    kinds = [entry.kind for entry in ledger.history()]
    assert [kinds.count(kind) for kind in ("charge", "seal", "period")] == [1, played, played]
    ledger.verify()
    report = curator([], ledger, PEOPLE).streams(seal)["v"]
    closer = report._closer()
    # Noise is nothing here: what is published is what was sealed, whoever of the two published it.
    sealed = stored_notes(ledger, closer.lines, range(played))
    unit = report.plan.question.unit
    exact = [
        unpack_numbers(closer._plain(day, sealed["seal", day])[16:]).sum() * unit
        for day in range(played)
    ]
    days = report.by("day").column("n")
    assert exact == [one + other for one, other in zip(days[::2], days[1::2], strict=True)]
    # The days used are those of the seals that won: nobody is counted twice on one day.
    attempts = [each.attempt for each in closer._read_history(played)]
    used = seal.used(closer.stream, attempts)
    counts = sorted(days for days, _ in used.values())
    # Who comes late each day counts on three days at most, everybody else came on one.
    assert counts[-1] <= 3 and all(days == 1 for days in counts[:-1])
    return played


def test_two_closers_in_every_schedule(ledgers, tmp_path, monkeypatch):
    assert close_in_every_schedule(ledgers, tmp_path, monkeypatch, FEW) >= 18


@pytest.mark.slow
def test_so_it_is_at_all_steps(ledgers, tmp_path, monkeypatch):
    assert close_in_every_schedule(ledgers, tmp_path, monkeypatch, ALL) > 100


@pytest.mark.parametrize(
    "dies", ["seal:after", *(pytest.param(one, marks=pytest.mark.slow) for one in DEATHS)]
)
def test_so_it_is_if_one_of_them_dies(ledgers, tmp_path, monkeypatch, dies):
    assert close_in_every_schedule(ledgers, tmp_path, monkeypatch, FEW, dies) >= 3
