"""`discreet record`: a folder from the ledger, its check, and what is refused with its reason."""

from __future__ import annotations

import json

import pytest

import discreet as dp

WORDS = 'data_curators = ["City of Example"]\nlooked_at_data = []\n'
RELEASE = """title = "Incomes"
source = "people.csv"
schema = "people.toml"
ledger = "people.ledger"
budget = { epsilon = "3" }
spend = { epsilon = "1" }

[questions.income]
sql = "SELECT region, AVG(income) AS income FROM people GROUP BY region"

[questions.cube]
sql = "SELECT region, age, COUNT(*) AS n FROM people WHERE age < 5 GROUP BY CUBE (region, age)"
"""
MAKE = ("record", "people.ledger", "--schema", "people.toml", "--words", "words.toml")


@pytest.fixture
def asked(run, home):
    """A ledger with one answered question, and words."""
    (home / "words.toml").write_text(WORDS)
    done = run(
        "query", "people.csv", "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
        "--schema", "people.toml", "--ledger", "people.ledger", "--epsilon", "1", "--budget", "3",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    return home


def test_makes_and_checks_a_record(run, asked):
    done = run(*MAKE, "--questions", "2", "--out", "record", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tier"] == 1 and "intended_use" in told["open"]
    assert (asked / "record" / "data" / "entry-2.csv").exists()
    done = run("record", "--check", "record", "--ledger", "people.ledger")
    assert done.exit_code == 0 and "equal to the ledger's" in done.stdout
    page = asked / "record" / "index.html"
    page.write_text(page.read_text(encoding="utf-8") + " ", encoding="utf-8")
    done = run("record", "--check", "record")
    assert done.exit_code == 1 and "index.html: was changed" in done.stderr


def test_a_release_with_words_makes_its_record(run, home):
    (home / "release.toml").write_text(f"{RELEASE}\n[words]\n{WORDS}")
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 0, done.stderr
    record = home / "out" / "record"
    for name in ("income", "cube"):
        ours = (record / "data" / f"{name}.csv").read_text()
        assert ours == (home / "out" / f"{name}.csv").read_text()
    tables = json.loads((record / "data" / "measurements.json").read_text())["tables"]
    assert tables["cube"]["n"]["components"] and tables["income"]["income"]["covariance"]
    assert "name: 'Incomes'" in (record / "registry.yaml").read_text()
    with dp.open_ledger("people.ledger") as ledger:
        assert dp.check_record(record, ledger).charges == 1
    # Written again for free: the same record.
    assert run("release", "release.toml", "--out", "two").exit_code == 0
    for path in record.rglob("*.*"):
        assert (
            path.read_bytes() == (home / "two" / "record" / path.relative_to(record)).read_bytes()
        )


def test_bad_words_of_a_release_are_refused_before_anything_is_spent(run, home):
    (home / "release.toml").write_text(f"{RELEASE}\n[words]\nnots = 'a'\n")
    done = run("release", "release.toml", "--out", "out")
    assert done.exit_code == 2 and "nots" in done.stderr
    assert not (home / "people.ledger").exists()


def test_what_is_refused(run, asked):
    local = asked / "browser.json"
    local.write_text('{"parameters": "{}", "hash": "0"}\n')
    other = (asked / "people.toml").read_text().replace("high = 120", "high = 90")
    (asked / "other.toml").write_text(other.replace('"N", "S"', '"N", "S", "E"'))
    cases = [
        (("record", "people.ledger"), "needs LEDGER, --schema, --words and --out"),
        (("record", "none.ledger", *MAKE[2:], "--out", "r"), "is not there"),
        (("record", "browser.json", *MAKE[2:], "--out", "r"), "local model"),
        ((*MAKE, "--out", "people.csv"), "is there already"),
        ((*MAKE, "--questions", "two", "--out", "r"), "numbers, as 12,15"),
        ((*MAKE, "--questions", "9", "--out", "r"), "no charge with a stored answer"),
        (("record", "people.ledger", "--schema", "other.toml", *MAKE[4:], "--out", "r"), "other schemas"),
        (("record", "--check", "none"), "no folder of a record"),
    ]  # fmt: skip
    for words, says in cases:
        done = run(*words)
        assert done.exit_code == 2 and says in done.stderr, (words, done.stderr)
    assert not (asked / "r").exists()


def test_the_service_s_file_gives_its_grid(run, asked):
    (asked / "curator.toml").write_text(
        '[service]\nurl = "http://localhost:8000"\nstore = "service.store"\ngrid = 0.5\n'
        '[datasets.people]\nschema = "people.toml"\nledger = "people.ledger"\n'
        'duckdb = { people = "people.csv" }\n'
    )
    done = run(*MAKE, "--service", "curator.toml", "--out", "r")
    assert done.exit_code == 0, done.stderr
    assert "time grid of 0.5 seconds" in (asked / "r" / "registry.yaml").read_text()
