"""What a command writes and reads beside the terminal's table: files by suffix, standard streams, lines that fit."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app

BY_REGION = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
AT = (
    "--schema",
    "people.toml",
    "--ledger",
    "people.ledger",
    "--budget",
    "epsilon=3",
    "--epsilon",
    "1",
)
COLUMNS = ["region", "n", "n_low", "n_high", "income", "income_low", "income_high"]


def test_every_suffix_is_what_it_says_and_all_hold_the_same(run, home):
    for suffix in ("csv", "json", "parquet", "arrow", "md", "html"):
        done = run("query", "people.csv", BY_REGION, *AT, "--out", f"n.{suffix}")
        assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((home / "n.csv").read_text())))
    parquet, arrow = pq.read_table(home / "n.parquet"), pf.read_table(home / "n.arrow")
    assert parquet.column_names == arrow.column_names == COLUMNS
    assert parquet.to_pylist() == arrow.to_pylist()
    assert [float(row["income"]) for row in rows] == parquet.column("income").to_pylist()
    assert [row[2] for row in json.loads((home / "n.json").read_text())["rows"]] == parquet.column(
        "income"
    ).to_pylist()
    page, shown = (home / "n.html").read_text(), (home / "n.md").read_text()
    assert (
        page.startswith("<!doctype html>")
        and page.count("<tr>") == shown.count("| N") + shown.count("| S") + 1
    )
    assert "±" in shown and "ε = 1; ± is noise only, at 95 %" in shown


@pytest.mark.parametrize("out", ["n.xlsx", "n", "nowhere/n.csv", "."])
def test_other_suffixes_and_places_are_refused_before_anything_is_made(run, home, out):
    done = run("query", "people.csv", BY_REGION, *AT, "--out", out)
    assert done.exit_code == 2 and not (home / "people.ledger").exists(), done.stdout


def test_standard_input_and_output(home):
    done = CliRunner().invoke(app, ["query", "people.csv", "-", *AT, "--out", "-"], input=BY_REGION)
    assert done.exit_code == 0, done.stderr
    assert [row["region"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["N", "S"]
    assert "cost ε = 1; ±" in done.stderr and not (home / "-").exists()
    nothing = CliRunner().invoke(app, ["query", "people.csv", "-", *AT], input=" ")
    assert nothing.exit_code == 2 and "standard input" in nothing.stderr
    both = CliRunner().invoke(app, ["query", "people.csv", BY_REGION, *AT, "--out", "-", "--json"])
    assert both.exit_code == 2
    data = CliRunner().invoke(app, ["query", "-", BY_REGION, *AT], input="age,region,income\n")
    assert data.exit_code == 2 and "more than once" in data.stderr


def test_lines_fit_the_terminal(run, monkeypatch):
    many = ", ".join(
        f"COUNT(*) FILTER (WHERE age > {age}) AS older_than_{age}" for age in range(20, 80, 10)
    )
    monkeypatch.setenv("COLUMNS", "72")
    for verb, words in (("query", ()), ("explain", ()), ("plan", ()), ("rehearse", ())):
        done = run(
            verb, "people.csv", f"SELECT region, {many} FROM people GROUP BY region", *AT, *words
        )
        assert done.exit_code == 0, done.stderr
        table = done.stdout.partition("GROUP BY")[2] if verb == "explain" else done.stdout
        assert max(map(len, table.splitlines())) <= 72, verb
    monkeypatch.delenv("COLUMNS")
    done = run("query", "people.csv", f"SELECT region, {many} FROM people GROUP BY region", *AT)
    assert max(map(len, done.stdout.splitlines())) > 72  # a pipe has no width


def test_the_stores_text_is_shown_when_asked_for(run):
    plain, more = (
        run("explain", "people.csv", BY_REGION, *AT, *words).stdout for words in ((), ("--store",))
    )
    assert "The store is asked" not in plain and "The store is asked" in more
    assert json.loads(run("explain", "people.csv", BY_REGION, *AT, "--json").stdout)["texts"] == []


def test_a_question_is_warned_of_before_it_is_paid_for(run):
    never = "SELECT COUNT(*) AS n FROM people WHERE age > 300"
    told = run("query", "people.csv", never, *AT)
    assert "before paying: no row can meet age > 300" in told.stderr
    again = run("query", "people.csv", never, *AT, "--details")
    assert "before paying" not in again.stderr
    assert "answered before, data version 1, nothing spent" in again.stdout


def test_an_allowance_is_in_the_measure_of_the_budget(run):
    done = run(
        "ledger", "create", "two.ledger", "--epsilon", "1", "--delta", "1e-6", "--allow", "ana=1"
    )
    assert done.exit_code == 2
    assert "epsilon=1,delta=1/1000000" in done.stderr and "residue" not in done.stderr


def test_a_fault_of_ours_has_its_own_code_and_tells_no_value(run, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret 4711")

    monkeypatch.setattr(dp.Curator, "explain", broken)
    done = run("explain", "people.csv", BY_REGION, *AT)
    assert (
        done.exit_code == 70
        and "RuntimeError" in done.stderr
        and "4711" not in done.stderr + done.stdout
    )
