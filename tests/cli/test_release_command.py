"""A release: one charge, all tables or none, a page that says how far off they are; again for free."""

from __future__ import annotations

import json
from datetime import date

import pytest

import discreet as dp
from discreet.data.files.schema_file import write_schemas

FILE = """title = "Incomes"
source = "people.csv"
schema = "people.toml"
ledger = "people.ledger"
budget = { epsilon = "3" }
spend = { epsilon = "1" }

[questions.income]
title = "Mean income by region"
sql = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
weight = 2

[questions.ages]
sql = "SELECT AVG(age) AS age FROM people"
"""


@pytest.fixture
def file(home):
    (home / "release.toml").write_text(FILE)
    return home / "release.toml"


def test_a_release_is_a_folder_of_tables_with_a_page(run, home, file):
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (home / "out").iterdir()) == [
        "README.md", "ages.csv", "ages.svg", "income.csv", "income.svg", "receipt.json",
    ]  # fmt: skip
    page = (home / "out" / "README.md").read_text()
    for words in (
        "# Incomes",
        "## Mean income by region",
        "ε = 1 was spent",
        "one row",
        "`_low`",
        "95 %",
    ):
        assert words in page
    assert "As answered, half of each 95 % interval: n ± " in page
    assert run("verify-receipt", "out/receipt.json", "--ledger", "people.ledger").exit_code == 0


def test_a_schedule_writes_by_date_and_never_over_what_is_there(run, home, file):
    done = run("release", "release.toml", "--out", "out", "--dated")
    assert done.exit_code == 0, done.stderr
    [folder] = (home / "out").iterdir()
    assert date.fromisoformat(folder.name) and (folder / "receipt.json").exists()
    before = (folder / "README.md").read_bytes()
    again = run("release", "release.toml", "--out", "out", "--dated")
    assert again.exit_code == 2 and "nothing was spent" in again.stderr
    assert (folder / "README.md").read_bytes() == before


def test_without_matplotlib_there_are_pictures_or_a_word(run, home, file, monkeypatch):
    wide = (
        file.read_text()
        + '''
[questions.both]
sql = """SELECT region, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS ages, COUNT(*) AS n
FROM people GROUP BY region, ages"""
'''
    )
    file.write_text(wide)
    monkeypatch.setattr("discreet.cli.commands.release.can_draw", lambda: False)
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    picture = (home / "out" / "income.svg").read_text()
    assert picture.startswith("<svg xmlns") or 'xmlns="http://www.w3.org/2000/svg"' in picture
    page = (home / "out" / "README.md").read_text()
    assert "![Mean income by region](income.svg)" in page
    assert page.count("No picture: this table needs matplotlib") == 1
    assert not (home / "out" / "both.svg").exists()


def test_a_plan_of_a_paid_release_says_how_wide_its_intervals_are(run, home, file):
    before = run("release", "release.toml", "--out", "out", "--plan")
    assert "As answered" not in before.stdout
    assert run("release", "release.toml", "--out", "out").exit_code == 0
    with dp.open_ledger("people.ledger") as ledger:
        lines = ledger.verify().entries
    after = run("release", "release.toml", "--out", "two", "--plan", "--json")
    answered = json.loads(after.stdout)["answered"]
    assert list(answered) == ["income", "ages"]
    assert all(text in (home / "out" / "README.md").read_text() for text in answered.values())
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.verify().entries == lines


def test_the_same_release_again_is_free_and_the_same(run, home, file):
    run("release", "release.toml", "--out", "out")
    assert run("release", "release.toml", "--out", "out").exit_code == 2
    assert run("release", "release.toml", "--out", "two").exit_code == 0
    assert (home / "out" / "income.csv").read_text() == (home / "two" / "income.csv").read_text()
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == dp.PureDP(1)


def test_a_cube_is_published_whole_and_with_its_measurements(run, home, file):
    """Like a census: tidy tables that add up, and the unbiased estimates with their covariance for models."""
    cube = "sql = \"SELECT COALESCE(region, 'none') AS place, COUNT(*) AS n FROM people GROUP BY CUBE (place)\""
    ages = 'sql = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM people GROUP BY age"'
    head = FILE[: FILE.index("[questions")].replace("spend", "whole = true\nspend")
    file.write_text(f"{head}[questions.cube]\n{cube}\n[questions.ages]\n{ages}\n")
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    names = {path.name for path in (home / "out").iterdir()}
    assert names > {"cube.csv", "measurements.json", "README.md", "receipt.json"}
    lines = [line.split(",") for line in (home / "out" / "cube.csv").read_text().splitlines()[1:]]
    counts = {line[0]: float(line[1]) for line in lines}
    assert counts.pop("") == sum(counts.values())
    raw = json.loads((home / "out" / "measurements.json").read_text())["tables"]["cube"]["n"]
    assert [one["keys"] for one in raw["components"]] == [[], ["place"]]
    page = (home / "out" / "README.md").read_text()
    assert "with their covariance" in page
    fold = page.partition("<details><summary>Details</summary>")[2].partition("</details>")[0]
    assert "- counts were moved to 0 or more, as asked" in fold and "entry 2 of the ledger" in fold


def test_a_release_by_error_and_its_plan(run, home, file):
    text = FILE.replace('spend = { epsilon = "1" }\n', "").replace(
        "weight = 2", "error = { n = 20, income = 60 }"
    )
    file.write_text(text.replace('sql = "SELECT AVG(age)', 'error = 5\nsql = "SELECT AVG(age)'))
    planned = run("release", "release.toml", "--out", "out", "--plan", "--json")
    assert planned.exit_code == 0, planned.stderr
    assert json.loads(planned.stdout)
    assert not (home / "out").exists()
    assert run("release", "release.toml", "--out", "out").exit_code == 0


def test_a_place_that_cannot_be_written_costs_nothing_more(run, home, file):
    (home / "wall").write_text("")
    done = run("release", "release.toml", "--out", "wall/out")
    assert done.exit_code == 2 and "paid for" in done.stderr
    assert run("release", "release.toml", "--out", "out").exit_code == 0
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == dp.PureDP(1)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "Incomes"', "title = 3", "title must be text"),
        ('title = "Incomes"', "titel = 3", "unknown titel"),
        ('source = "people.csv"', "", "lacks source"),
        ("[questions.ages]", "[questions.'a/b']", "cannot name a file"),
        ('spend = { epsilon = "1" }', "", "neither spend nor an error"),
        ("weight = 2", "error = 5", "one of the two"),
        ("weight = 2", "wait = 2", "unknown wait"),
        ('spend = { epsilon = "1" }', 'spend = { mu = "1", rho = "1" }', "one budget"),
        ('spend = { epsilon = "1" }', "spend = 1 2", "no TOML"),
        ('sql = "SELECT AVG(age) AS age FROM people"', "", "needs sql"),
        ('"SELECT AVG(age) AS age FROM people"', '"SELECT age FROM people"', "aggregate"),
    ],
)
def test_a_file_that_will_not_do_is_refused_and_nothing_is_spent(run, file, old, new, says):
    file.write_text(FILE.replace(old, new))
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 2, done.stdout
    assert says in done.stderr
    assert not (file.parent / "out").exists()


def test_no_file_and_no_questions(run, home, file):
    assert run("release", "nothing.toml", "--out", "out").exit_code == 2
    file.write_text(FILE.split("[questions", maxsplit=1)[0])
    assert "asks nothing" in run("release", "release.toml", "--out", "out").stderr


def test_a_made_up_country_is_published(run, home):
    """The example is written by code, and its small tables are published as its release file says."""
    assert run("release", "country", "--out", "land").exit_code == 0
    assert run("release", "country", "--out", "land").exit_code == 2
    text = (home / "land" / "tables.toml").read_text()
    assert "(state, county, tract, sex)" in text
    small = text[: text.index("[questions.places]")] + text[text.index("[questions.decades]") :]
    (home / "land" / "small.toml").write_text(small)
    done = run("release", "land/small.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    told = json.loads((home / "out" / "measurements.json").read_text())["tables"]
    assert told["decades"]["strategy_of"] == ["decades", "generations"]
    rows = {
        name: (home / "out" / f"{name}.csv").read_text().splitlines()
        for name in ("decades", "generations")
    }
    decades = [line.split(",") for line in rows["decades"][1:]]
    both = sum(float(line[2]) for line in decades if line[0] in ("0", "1") and not line[1])
    assert float(rows["generations"][1].split(",")[1]) == both


def test_invariants_are_refused_loudly(run, home, file):
    file.write_text('invariants = ["state"]\n' + FILE)
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 2
    assert "outside every promise" in " ".join(done.stderr.split())
    assert not (home / "people.ledger").exists()


def test_a_row_for_all_without_a_listed_value(run, home):
    """False alarm below 1e-9: no noise of scale 1/100 moves a count by 1."""
    cells = [("x", "0"), ("x", "1"), ("y", "1"), ("zz", ""), ("", "7")]
    lines = [f"{town},{sex}" for town, sex in cells for _ in range(20)]
    (home / "t.csv").write_text("\n".join(["town,sex", *lines, ""]))
    columns = {
        "town": dp.Category(["x", "y"]),
        "sex": dp.Category([0, 1], labels={0: "woman", 1: "man"}),
    }
    write_schemas(home / "t.toml", [dp.Schema("t", dp.Rows(), columns)])
    head = 'source = "t.csv"\nschema = "t.toml"\nledger = "t.ledger"\n'
    head += 'budget = { epsilon = "10000" }\nspend = { epsilon = "1000" }\n'
    asked = ""
    for key in ("town", "sex"):
        asked += f'[questions.{key}]\nsql = "SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}"\n'
    (home / "r.toml").write_text(f'{head}other = "other or unknown"\n{asked}')
    done = run("release", "r.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    page = (home / "out" / "README.md").read_text()
    assert "In a row *other or unknown* is what has no listed value of its column" in page
    assert "count in totals, but in no cell" not in page
    for key, counts in (
        ("town", {"x": 40, "y": 20, "other or unknown": 40}),
        ("sex", {"woman": 20, "man": 40, "other or unknown": 40}),
    ):
        rows = (home / "out" / f"{key}.csv").read_text().splitlines()[1:]
        found = {row.split(",")[0]: round(float(row.split(",")[1])) for row in rows}
        assert found == counts
    # Without the line, rows without a listed value are in no cell, and the page says so.
    (home / "r.toml").write_text(f"{head}{asked}")
    assert run("release", "r.toml", "--out", "plain").exit_code == 0
    assert len((home / "plain" / "town.csv").read_text().splitlines()) == 3
    assert "count in totals, but in no cell" in (home / "plain" / "README.md").read_text()
    (home / "r.toml").write_text(f'{head}other = "x"\n{asked}')
    refused = run("release", "r.toml", "--out", "none")
    assert refused.exit_code == 2 and "'x' is a listed value of town" in refused.stderr
