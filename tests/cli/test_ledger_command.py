"""The ledger on the command line: made, shown, changed, proved, copied; what is broken is told with exit code 1."""

from __future__ import annotations

import json

import pytest

import discreet as dp


def test_a_ledger_is_made_with_its_terms_once(run):
    made = run(
        "ledger", "create", "a.ledger", "--epsilon", "3", "--allow", "ana=1", "--allow", "*=1/2", "--window", "month"
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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "needs a budget"),
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
    question = ("people.csv", "SELECT COUNT(*) AS n FROM people", "--schema", "people.toml", "--ledger", "u.ledger")
    assert run("query", *question, "--epsilon", "1/2", "--who", "ana", "--why", "how many").exit_code == 0


def test_show_history_and_allow(run, used):
    assert json.loads(run("ledger", "show", "u.ledger", "--json").stdout)["left"] == {"epsilon": "3/2"}
    assert "how many" in run("ledger", "history", "u.ledger", "--who", "ana").stdout
    assert len(json.loads(run("ledger", "history", "u.ledger", "--last", "1", "--json").stdout)) == 1
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


def test_what_is_no_ledger_is_told(run, home):
    assert run("ledger", "show", "nowhere.ledger").exit_code == 2
    (home / "torn.ledger").write_bytes(b"not a ledger at all" * 100)
    assert run("ledger", "show", "torn.ledger").exit_code == 1
