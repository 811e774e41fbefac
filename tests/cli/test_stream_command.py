"""`discreet stream`: a stream is opened, closed by cron, shown and stopped from the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

SCHEMA = """
format = 1
[tables.visits]
unit = { kind = "people", id = "who", max_rows = 3 }
[tables.visits.columns]
day = { type = "date", low = "2020-01-01", high = "2060-12-31" }
"""
SQL = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.toml").write_text(SCHEMA)
    (tmp_path / "visits.csv").write_text(
        "who,day\nann,2026-01-01\nbob,2026-01-02\nann,2026-01-02\n"
    )

    def stream(*words, place=("--schema", "visits.toml", "--ledger", "v.ledger")):
        return CliRunner().invoke(app, ["stream", *words, *place])

    return stream


def opening(*more):
    return (
        "open", "visits.csv", SQL, "--name", "v", "--start", "2026-01-01", "--periods", "9",
        "--days", "1", "--seal", "v.key", "--rho", "1000000000000",
        "--budget", "rho=1000000000000", "--matters", "day=1", *more,
    )  # fmt: skip


def test_a_stream_from_opening_to_stop(run, tmp_path):
    planned = run(*opening("--plan", "--json"))
    assert json.loads(planned.stdout)["errors"]["day"] < 1
    assert not (tmp_path / "v.key").exists() and not (tmp_path / "v.ledger").exists()
    opened = run(*opening("--json"))
    assert json.loads(opened.stdout)["closed"] == 0 and (tmp_path / "v.key").exists()
    # The same again finds the stream and its key file.
    assert json.loads(run(*opening("--json")).stdout) == json.loads(opened.stdout)
    closed = run("close", "visits.csv", "v", "--seal", "v.key", "--json")
    assert [row[2] for row in json.loads(closed.stdout)["rows"]] == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert "nothing is due" in run("close", "visits.csv", "v", "--seal", "v.key").stdout
    place = ["--schema", "visits.toml", "--ledger", "v.ledger", "--json"]
    sql = "SELECT SUM(n) AS n FROM stream.v"
    found = CliRunner().invoke(app, ["query", "visits.csv", sql, *place])
    assert json.loads(found.stdout)["rows"] == [[2.0]]
    assert "counted on 1 days no longer count" in json.loads(found.stdout)["details"]
    refused = CliRunner().invoke(app, ["query", "visits.csv", sql, *place, "--receipt", "r"])
    assert refused.exit_code and "leave out --receipt" in refused.stdout + refused.stderr
    week = json.loads(run("show", "visits.csv", "v", "--by", "week", "--json").stdout)
    assert [row[2] for row in week["rows"]] == [2, 0]
    between = run(
        "show", "visits.csv", "v", "--from", "2026-01-01", "--to", "2026-01-02", "--joint"
    )
    assert "of all numbers at once" in between.stdout
    assert "9 of 9 days closed" in run("list", "visits.csv").stdout
    assert json.loads(run("stop", "visits.csv", "v", "--why", "over", "--json").stdout)["stopped"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "visits.csv", "w"), "there is no stream"),
        (("show", "visits.csv", "v", "--from", "2026-01-01"), "two ends"),
        (("close", "visits.csv", "v", "--seal", "visits.csv"), "no key of streams"),
        (("stop", "visits.csv", "v", "--why", ""), "why"),
        (("open", "visits.csv", SQL, "--name", "x", "--start", "2026-01-01", "--periods", "9",
          "--seal", "v.key", "--rho", "1"), "how many days"),
        (("open", "visits.csv", SQL, "--name", "x", "--start", "2026-01-01", "--periods", "9",
          "--seal", "v.key"), "say what to spend"),
    ],
)  # fmt: skip
def test_refusals_in_the_users_words(run, words, said):
    run(*opening())
    refused = run(*words)
    assert refused.exit_code != 0
    assert said in refused.stderr
