"""learn: a model from the command line, charged, written as JSON, explained for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import discreet as dp
from discreet.cli.commands.learn import KINDS
from discreet.learn.stored import model_from_json

SQL = "SELECT region, income FROM people"
AT = ("--schema", "people.toml", "--ledger", "people.ledger")
HOW = ("--model", "LinearRegression", "--target", "income", "--epsilon", "1", "--delta", "1e-6")


def test_a_model_is_charged_and_written(run, tmp_path):
    done = run(
        "learn",
        "people.csv",
        SQL,
        *AT,
        "--budget",
        "epsilon=3,delta=1e-5",
        *HOW,
        "--out",
        str(tmp_path / "m.json"),
    )
    assert done.exit_code == 0, done.stderr
    assert "LinearRegression" in done.stdout
    model = model_from_json((tmp_path / "m.json").read_text(), KINDS)
    assert model.predict({"region": ["N"]}).shape == (1,)
    with dp.open_ledger("people.ledger") as ledger:
        spent = ledger.spent()
    again = run("learn", "people.csv", SQL, *AT, *HOW, "--json")
    assert json.loads(json.loads(again.stdout)["model"]) == json.loads(
        (tmp_path / "m.json").read_text()
    )
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == spent


def test_a_file_is_tried_before_the_charge(run):
    budget = ("--budget", "epsilon=3,delta=1e-5")
    refused = run("learn", "people.csv", SQL, *AT, *budget, *HOW, "--out", "nowhere/m.json")
    assert refused.exit_code == 2 and "cannot be written" in refused.stderr
    assert not Path("people.ledger").exists()


def test_it_says_beforehand_what_it_would_be(run):
    done = run("learn", "people.csv", SQL, "--schema", "people.toml", *HOW, "--rows", "1000")
    assert done.exit_code == 0, done.stderr
    assert "rows against noise" in done.stdout


def test_refusals(run):
    done = run(
        "learn", "people.csv", SQL, *AT, "--epsilon", "1", "--delta", "1e-6", "--model", "Forest"
    )
    assert done.exit_code != 0
    assert "there is no model 'Forest'" in done.stderr
