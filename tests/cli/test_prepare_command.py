"""`discreet prepare`: a store from files, the steward's report, and whether a store is stale."""

from __future__ import annotations

from typer.testing import CliRunner

from discreet.cli.app import app

SCHEMA = """format = 1
[tables.people]
unit = { kind = "people", id = "id", max_rows = 3 }
columns = { age = { type = "integer", low = 0, high = 120 }, cost = { type = "real", low = 0, high = 9, thousands = "," } }
[tables.regions]
public = true
columns = { name = { type = "text", max_length = 9 } }
"""


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_prepare_ask_and_check(tmp_path):
    people, schema, store = (
        tmp_path / "people.csv",
        tmp_path / "people.toml",
        tmp_path / "people.store",
    )
    people.write_text("id,age,cost\na,37,1\nb,old,\n")
    (tmp_path / "regions.csv").write_text("name\nN\n")
    schema.write_text(SCHEMA)
    done = run(
        "prepare",
        people,
        "--schema",
        schema,
        "--out",
        store,
        "--table",
        f"regions={tmp_path}/regions.csv",
    )
    assert done.exit_code == 0, done.output
    assert "age: 1 unreadable, such as aaa" in done.output and "regions: 1 rows" in done.output
    asked = run(
        "explain", store, "SELECT COUNT(*) AS n FROM people", "--schema", schema, "--epsilon", "1"
    )
    assert asked.exit_code == 0, asked.output
    assert run("prepare", "--check", store).exit_code == 0
    people.write_text("id,age,cost\n")
    stale = run("prepare", "--check", store)
    assert stale.exit_code == 1 and "stale" in stale.output


def test_refusals(tmp_path):
    (tmp_path / "people.toml").write_text(SCHEMA)
    assert run("prepare", tmp_path / "people.csv").exit_code == 2
    words = (
        "prepare",
        tmp_path / "people.csv",
        "--schema",
        tmp_path / "people.toml",
        "--out",
        tmp_path / "s",
    )
    assert run(*words, "--table", "people=x.csv").exit_code == 2
    assert run(*words).exit_code == 2
    assert not (tmp_path / "s").exists()
