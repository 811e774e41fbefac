"""`discreet stream`: a stream is opened, closed by cron, shown and stopped from the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import discreet as dp
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
    rehearsed = json.loads(run(*opening("--rehearse", "--json")).stdout)
    assert [row[0] for row in rehearsed["rows"]] == ["2026-01-01", "2026-01-05"]
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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sql": "SELECT day, note, COUNT(*) AS n FROM visits GROUP BY day, note"}, "not public"),
        ({"sql": "SELECT day, AVG(age) AS a FROM visits GROUP BY day"}, "no sum of days"),
        ({"sql": "SELECT day, MEDIAN(age) AS a FROM visits GROUP BY day"}, "no sum of days"),
        ({"sql": "SELECT day, COUNT(DISTINCT who) AS n FROM visits GROUP BY day"}, "no sum of days"),
        ({"sql": "SELECT day, COUNT(*) AS n, SUM(age) AS a FROM visits GROUP BY day"}, "one stream"),
        ({"sql": "SELECT COUNT(*) AS n FROM visits"}, "the day of each row"),
        ({"--days": None}, "how many days of one count"),
        ({"--days": "0"}, "days"),
        ({"--periods": "36526"}, "36525"),
        ({"--zone": "Mars/Olympus"}, "Europe/Berlin"),
        ({"--late": "400"}, "late"),
        ({"--matters": "hour=1"}, "hour"),
        ({"--start": "soon"}, "2027-01-31"),
        ({"--name": "a b"}, "identifier"),
        ({"--rho": "2"}, "ρ = 1"),
    ],
)  # fmt: skip
def test_what_is_no_stream_is_refused_before_any_charge(run, tmp_path, change, said):
    """As in Python and over HTTP; the ledger is made, and has its terms alone."""
    with (tmp_path / "visits.toml").open("a") as schema:
        schema.write('age = { type = "integer", low = 0, high = 9 }\n')
        schema.write('note = { type = "text", max_length = 9 }\n')
    (tmp_path / "visits.csv").write_text("who,day,age,note\nann,2026-01-01,3,x\n")
    dp.open_ledger(tmp_path / "v.ledger", dp.ZCDP(1)).close()
    words = {
        "--start": "2026-01-01",
        "--periods": "9",
        "--days": "1",
        "--rho": "1/2",
        "--name": "v",
    }
    words |= {"--seal": "v.key", "--matters": "day=1", **change}
    sql = words.pop("sql", SQL)
    given = [word for pair in words.items() if pair[1] is not None for word in pair]
    refused = run("open", "visits.csv", sql, *given)
    assert refused.exit_code != 0 and said in refused.stderr
    with dp.open_ledger(tmp_path / "v.ledger") as ledger:
        assert len(ledger.history()) == 1


def test_ledgers_with_windows_and_other_schemas(run, tmp_path):
    dp.open_ledger(tmp_path / "w.ledger", dp.ZCDP(1), window="month").close()
    place = ("--schema", "visits.toml", "--ledger", "w.ledger")
    words = ["--name", "v", "--start", "2026-01-01", "--periods", "9", "--days", "1"]
    words += ["--seal", "v.key", "--rho", "1/2"]
    refused = run("open", "visits.csv", SQL, *words, place=place)
    assert refused.exit_code != 0 and "fall due in each window" in refused.stderr
    run(*opening())
    schema = tmp_path / "visits.toml"
    schema.write_text(schema.read_text().replace("max_rows = 3 }", 'max_rows = 3 }\nversion = "2"'))
    for verb in (("close", "--seal", "v.key"), ("show",)):
        refused = run(verb[0], "visits.csv", "v", *verb[1:])
        assert refused.exit_code != 0 and "stop it and open one of another name" in refused.stderr
    # What the refusal advises works: the stream is there, and is stopped.
    assert "0 of 9 days closed" in run("list", "visits.csv").stdout
    assert "stopped" in run("stop", "visits.csv", "v", "--why", "a new version").stdout
