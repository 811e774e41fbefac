"""Kill −9 at every step of opening, sealing, closing, the key file and the stop: one charge, one value of each day.

Each round forks a child that opens, closes or stops a stream and is killed at one step; then a fresh process goes
on. Every death is checked to be one. `make deep` kills more than a thousand times: both forms of noise, on a ledger
in a file and on one in a database. A ledger in memory ends with its process: `test_schedules` has its deaths.
"""

from __future__ import annotations

import os
import shutil
import signal
from hashlib import sha256
from itertools import cycle, islice

import pytest

import discreet as dp
from discreet.ledger import failpoints as steps
from discreet.streams.closing import stored_notes, unpack_numbers
from streams.cases import BY_REGION, PEOPLE, START, curator, set_clock, visit
from support.fork import fork
from support.profile import DEEP

OPENING = ["charge:before", "charge:written", "charge:after"]
CLOSING = [
    "used:before", "used:written", "used:after",
    "seal:before", "seal:written", "seal:after",
    "draw:after",
    "period:before", "period:written", "period:after",
    "remember:written", "remember:after",
]  # fmt: skip
BEFORE_THE_SEAL = CLOSING[:5]
SEALS = [step for step in CLOSING if step.startswith("seal")]
"""Under a pure ε the first of these is the seal of all noise, at the opening."""
STOPPING = ["stop:before", "stop:written", "stop:after"]
FORMS = {"Gaussian": dp.ZCDP("1/2"), "pure": dp.PureDP(1)}
ROUNDS = 120 if DEEP else len(CLOSING)
"""Days of a stream: short ones, since a fresh process reads all days before."""
STREAMS = range(2 if DEEP else 1)
WORDS = {"start": START, "periods": 120, "per_person": dp.Days(5), "matters": {"day": 1}}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def ledger_of(home):
    """Open the ledger of a folder: its file, or one of the database that a file names."""
    server = home / "server"
    if server.exists():
        return dp.open_ledger(server.read_text(), name=name_of(home))
    return dp.open_ledger(home / "v.ledger")


def name_of(home):
    """Return the name of a ledger in a database that all tests of this process share."""
    return f"k{sha256(str(home).encode()).hexdigest()[:16]}"


def make(home, spend):
    """Make a ledger and a key file."""
    where = home / "v.ledger"
    if (home / "server").exists():
        where = (home / "server").read_text()
    dp.open_ledger(where, spend, name=name_of(home)).close()
    dp.Seal.create(home / "v.key")


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
        return shown(report)


def shown(report):
    """Return what is published of each day; the last digits of bounds hang on how many are worked out at once."""
    rows = report.by("day").rows()
    return [(*row[:-2], *(round(end, 6) for end in row[-2:])) for row in rows]


def look(home, day):
    """Return what is published of all days, and how many rows the seal of a day has, None before there is one."""
    seal = dp.Seal.load(home / "v.key")
    with ledger_of(home) as ledger:
        report = curator([], ledger, PEOPLE).streams(seal)["v"]
        closer = report._closer()
        sealed = stored_notes(ledger, closer.lines, [day]).get(("seal", day))
        if sealed is None:
            return shown(report), None
        exact = unpack_numbers(closer._plain(day, sealed)[16:]).sum()
        return shown(report), exact * report.plan.question.unit


def die(deadly, times, act, *words, **options):
    """Run something in a child that is killed when it passes a step for the so-many-th time."""
    child = fork()
    if child == 0:
        left = [times]

        def passed(step):
            left[0] -= step == deadly
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            steps.passed = passed
            act(*words, **options)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    # A step that is never passed would prove nothing.
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, deadly


@pytest.fixture(params=["file", pytest.param("database", marks=pytest.mark.slow)])
def home(request, tmp_path):
    """A folder for a ledger in a file, or with the address of a database."""
    if request.param == "database":
        (tmp_path / "server").write_text(request.getfixturevalue("postgres_dsn"))
    return tmp_path


def check(home, **counts):
    """Check the number of entries of each kind, and the ledger itself."""
    with ledger_of(home) as ledger:
        kinds = [entry.kind for entry in ledger.history()]
        assert {kind: kinds.count(kind) for kind in counts} == counts
        ledger.verify()


@pytest.mark.slow
@pytest.mark.parametrize("number", STREAMS)
@pytest.mark.parametrize("form", FORMS)
def test_a_death_at_any_step_leaves_one_value_for_each_day(number, form, home, monkeypatch):
    """Rows come late meanwhile: the sealed totals are those of the first that sealed."""
    spend = FORMS[form]
    make(home, spend)
    set_clock(monkeypatch, 0)
    run(home, [], spend)
    for day, deadly in enumerate(islice(cycle(CLOSING), ROUNDS)):
        set_clock(monkeypatch, day + 1)
        rows = [visit(day, who=f"p{number}/{day}/{each}") for each in range(day % 7)]
        # Under a pure ε each opening asks for the seal of its noise first, which is there already.
        again = form == "pure" and deadly in ("seal:before", "seal:after")
        die(deadly, 1 + again, run, home, rows, spend)
        stored, sealed = look(home, day)
        final = run(home, [*rows, visit(day, who=f"late/{day}")], spend)
        assert final[: len(stored)] == stored and len(final) == 2 * (day + 1)
        # A day that was not sealed is begun anew, and has the row that came meanwhile.
        assert (sealed is None) == (deadly in BEFORE_THE_SEAL)
        assert look(home, day) == (final, len(rows) + (sealed is None))
    for deadly in STOPPING:
        die(deadly, 1, run, home, [], spend, stops=True)
    run(home, [], spend, stops=True)
    check(home, charge=1, period=ROUNDS, stop=1)


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


@pytest.mark.parametrize("form", FORMS)
def test_a_death_at_the_opening_leaves_one_charge(form, home, monkeypatch):
    set_clock(monkeypatch, 1)
    monkeypatch.setitem(WORDS, "periods", 12)
    spend = FORMS[form]
    points = [(step, 1) for step in (*OPENING, *CLOSING)]
    if form == "pure":
        points += [(step, 2) for step in SEALS]
    for place, (deadly, times) in enumerate(points):
        own = home / str(place)
        own.mkdir()
        if (home / "server").exists():
            shutil.copy(home / "server", own)
        make(own, spend)
        die(deadly, times, run, own, [visit(0)], spend)
        final = run(own, [visit(0)] * 3, spend)
        assert len(final) == 2 and run(own, [], spend) == final
        check(own, charge=1, seal=1 + (form == "pure"), period=1)


def test_a_death_while_a_key_file_is_made_leaves_none(tmp_path):
    die("key:written", 1, dp.Seal.create, tmp_path / "v.key")
    assert not (tmp_path / "v.key").exists()
    assert dp.Seal.open(tmp_path / "v.key") == dp.Seal.load(tmp_path / "v.key")
