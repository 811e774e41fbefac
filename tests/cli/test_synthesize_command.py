"""synthesize: tables and records from the command line, charged once, planned for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import discreet as dp
from discreet.cli.commands import synthesize
from discreet.synthetic import synthetic_from_json

AT = ("--schema", "people.toml", "--ledger", "people.ledger")
HOW = ("--epsilon", "2", "--delta", "1e-6", "--bins", "income=10", "--size", "1000")


def test_records_and_tables_are_written_and_free_again(run, tmp_path):
    files = ("--out", str(tmp_path / "r.csv"), "--tables", str(tmp_path / "t.json"), "--rows", "50")
    done = run(
        "synthesize", "people.csv", "people", *AT, "--budget", "epsilon=3,delta=1e-5", *HOW, *files
    )
    assert done.exit_code == 0, done.stderr
    assert "not good for" in done.stdout
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0] == "age,region,income"
    assert len(lines) == 51
    tables = synthetic_from_json((tmp_path / "t.json").read_text())
    assert abs(tables.rows - 1000) < 300
    with dp.open_ledger("people.ledger") as ledger:
        spent = ledger.spent()
    again = run("synthesize", "people.csv", "people", *AT, *HOW, "--json")
    assert json.loads(again.stdout)["tables"] == json.loads((tmp_path / "t.json").read_text())
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == spent


def test_files_are_tried_before_the_charge(run):
    budget = ("--budget", "epsilon=3,delta=1e-5")
    for flag in ("--out", "--tables"):
        asked = ("synthesize", "people.csv", "people", *AT, *budget, *HOW, flag, "nowhere/r.csv")
        refused = run(*asked)
        assert refused.exit_code == 2 and "cannot be written" in refused.stderr
    assert not Path("people.ledger").exists()


def test_no_record_is_a_formula(monkeypatch):
    class Made:
        def records(self, _rows):
            return {"team": ["=1+1", "north"], "n": [-3, 4]}

    assert synthesize._csv(Made(), None) == "team,n\n'=1+1,-3\nnorth,4\n"


def test_it_says_beforehand_what_it_would_be(run):
    done = run(
        "synthesize",
        "people.csv",
        "people",
        "--schema",
        "people.toml",
        *HOW,
        "--column",
        "region",
        "--plan",
    )
    assert done.exit_code == 0, done.stderr
    assert "deviation of the noise" in done.stdout


def test_refusals(run):
    for words in (("--bins", "income=x"), ("--workload", "triples"), ("--column", "nope")):
        done = run(
            "synthesize", "people.csv", "people", *AT, "--epsilon", "1", "--delta", "1e-6", *words
        )
        assert done.exit_code != 0, words
    assert run("synthesize", "people.csv", "people", *AT).exit_code != 0
