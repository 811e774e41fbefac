"""The ledger on the command line: made, shown, changed, proved, copied; what is broken is told with exit code 1."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

import discreet as dp


def test_a_ledger_is_made_with_its_terms_once(run):
    made = run(
        "ledger",
        "create",
        "a.ledger",
        "--epsilon",
        "3",
        "--allow",
        "ana=1",
        "--allow",
        "*=1/2",
        "--window",
        "month",
    )
    assert made.exit_code == 0, made.stderr
    with dp.open_ledger("a.ledger") as ledger:
        assert (ledger.promise(), ledger.left("ana"), ledger.left("bob")) == (
            dp.PureDP(3),
            dp.PureDP(1),
            dp.PureDP("1/2"),
        )
    again = run("ledger", "create", "a.ledger", "--epsilon", "3")
    assert again.exit_code == 2 and "already" in again.stderr


def test_parts_and_kept_delta(run):
    words = (
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--keep-delta",
        "1e-7",
        "--parts",
        "visits.month=4,5",
        "--kind",
        "zcdp",
        "--neighbours",
        "add-remove",
    )
    assert run("ledger", "create", "b.ledger", *words).exit_code == 0
    with dp.open_ledger("b.ledger") as ledger:
        assert (ledger.terms.kind, ledger.terms.parts.values) == ("zcdp", ("4", "5"))


def test_blocks(run):
    made = run(
        "ledger", "create", "w.ledger", "--rho", "1/2", "--blocks", "visits.day=week,stays=26"
    )
    assert made.exit_code == 0, made.stderr
    with dp.open_ledger("w.ledger") as ledger:
        assert ledger.terms.blocks == dp.Blocks("visits", "day", "week", stays=26)
        noise = dp.Gaussian(scale=10, sensitivity=1)
        ledger.charge(noise.event, who="ana", part="2027-01-04/2027-01-10")
    shown = run("ledger", "show", "w.ledger").stdout
    assert "weeks of visits.day; a person counts in 26 in a row, from the first" in shown
    assert "2027-07-05/.." in shown
    facts = json.loads(run("ledger", "show", "w.ledger", "--json").stdout)
    assert facts["left_by_block"][-1] == {"part": "2027-07-05/..", "left": {"rho": "1/2"}}
    assert "2027-01-04/2027-01-10" in run("ledger", "history", "w.ledger").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "needs a budget"),
        (("--epsilon", "1", "--blocks", "visits.day"), "TABLE.COLUMN=week,stays=26"),
        (("--epsilon", "1", "--blocks", "visits.day=moon,stays=2"), "the period of blocks"),
        (
            ("--epsilon", "1", "--blocks", "visits.day=week,most=2", "--window", "year"),
            "blocks promise the budget for life",
        ),
        (("--epsilon", "1", "--kind", "best"), "kind"),
        (("--epsilon", "1", "--parts", "month"), "TABLE.COLUMN"),
        (("--epsilon", "1", "--allow", "ana"), "NAME=VALUE"),
        (("--epsilon", "1", "--window", "fortnight"), "window"),
    ],
)
def test_bad_terms_are_refused_and_nothing_is_made(run, home, words, says):
    done = run("ledger", "create", "c.ledger", *words)
    assert done.exit_code == 2, done.stderr
    assert says in done.stderr
    assert not (home / "c.ledger").exists()


@pytest.fixture
def used(run):
    """A ledger with one answered question."""
    run("ledger", "create", "u.ledger", "--epsilon", "2")
    question = (
        "people.csv",
        "SELECT COUNT(*) AS n FROM people",
        "--schema",
        "people.toml",
        "--ledger",
        "u.ledger",
    )
    assert (
        run("query", *question, "--epsilon", "1/2", "--who", "ana", "--why", "how many").exit_code
        == 0
    )


def test_show_history_and_allow(run, used):
    assert json.loads(run("ledger", "show", "u.ledger", "--json").stdout)["left"] == {
        "epsilon": "3/2"
    }
    assert "how many" in run("ledger", "history", "u.ledger", "--who", "ana").stdout
    assert (
        len(json.loads(run("ledger", "history", "u.ledger", "--last", "1", "--json").stdout)) == 1
    )
    assert run("ledger", "allow", "u.ledger", "ana", "epsilon=1").exit_code == 0
    with dp.open_ledger("u.ledger") as ledger:
        assert ledger.left("ana") == dp.PureDP("1/2")
    assert run("ledger", "allow", "u.ledger", "ana", "none").exit_code == 0


def test_the_chain_is_proved_also_elsewhere_and_against_a_checkpoint(run, used, home):
    shown = json.loads(run("ledger", "verify", "u.ledger", "--json").stdout)
    assert (shown["holds"], shown["entries"]) == (True, 3)
    assert run("ledger", "verify", "u.ledger", "--checkpoint", shown["checkpoint"]).exit_code == 0
    assert run("ledger", "export", "u.ledger", "u.jsonl").exit_code == 0
    assert run("ledger", "verify", "u.jsonl").exit_code == 0
    (home / "u.jsonl").write_text((home / "u.jsonl").read_text().replace("how many", "how much"))
    broken = run("ledger", "verify", "u.jsonl")
    assert broken.exit_code == 1 and "changed" in broken.stderr
    assert run("ledger", "verify", "u.ledger", "--checkpoint", "soon").exit_code == 2
    assert run("ledger", "verify", "u.ledger", "--checkpoint", "3:" + "0" * 64).exit_code == 1


def test_a_backup_names_its_last_entry(run, used):
    done = run("ledger", "backup", "u.ledger", "copy.ledger", "--json")
    assert done.exit_code == 0, done.stderr
    mark = json.loads(done.stdout)["checkpoint"]
    assert run("ledger", "verify", "copy.ledger", "--checkpoint", mark).exit_code == 0


def test_a_ledger_moves_and_the_old_one_is_closed(run, used):
    assert run("ledger", "move", "nowhere.ledger", "v.ledger").exit_code == 2
    done = run("ledger", "move", "u.ledger", "v.ledger", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["charges"] == 1, done.stderr
    assert (
        run(
            "ledger", "verify", "v.ledger", "--checkpoint", json.loads(done.stdout)["checkpoint"]
        ).exit_code
        == 0
    )
    closed = run("ledger", "allow", "u.ledger", "ana", "epsilon=1")
    assert closed.exit_code == 4 and "It goes on as v.ledger" in closed.stderr
    assert run("ledger", "move", "u.ledger", "w.ledger").exit_code == 4
    assert run("ledger", "history", "u.ledger").exit_code == 0


def test_an_export_is_imported_with_its_answers(run, used):
    assert run("ledger", "export", "u.ledger", "u.jsonl", "--answers").exit_code == 0
    done = run("ledger", "import", "u.jsonl", "v.ledger")
    assert done.exit_code == 0 and "the chain holds" in done.stdout, done.stderr
    assert json.loads(run("ledger", "show", "v.ledger", "--json").stdout)["left"] == {
        "epsilon": "3/2"
    }
    assert run("ledger", "import", "u.jsonl", "v.ledger").exit_code == 2
    assert (
        run("ledger", "import", "u.jsonl", "w.ledger", "--checkpoint", "9:" + "0" * 64).exit_code
        == 1
    )


def test_a_clock_is_repaired_where_it_was_wrong(run, used, monkeypatch):
    assert run("ledger", "repair", "nowhere.ledger").exit_code == 2
    right = run("ledger", "repair", "u.ledger")
    assert right.exit_code == 2 and "needs no repair" in right.stderr
    ahead = datetime.now(UTC) + timedelta(days=365)
    with monkeypatch.context() as patched:
        patched.setattr("discreet.ledger.clock.now", lambda: ahead)
        run("ledger", "allow", "u.ledger", "ana", "epsilon=1")
    assert run("ledger", "show", "u.ledger").exit_code == 4
    done = run("ledger", "repair", "u.ledger", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["number"] == 5, done.stderr
    assert json.loads(run("ledger", "show", "u.ledger", "--json").stdout)["left"] == {
        "epsilon": "3/2"
    }
    assert run("ledger", "repair", "u.ledger", "--lost").exit_code == 2


def test_what_is_no_ledger_is_told(run, home):
    assert run("ledger", "show", "nowhere.ledger").exit_code == 2
    (home / "torn.ledger").write_bytes(b"not a ledger at all" * 100)
    assert run("ledger", "show", "torn.ledger").exit_code == 1
