"""query, explain, plan and rehearse say the library's words, spend what they are told, and refuse with exit codes."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp

BY_REGION = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
AT = ("--schema", "people.toml", "--ledger", "people.ledger")


def test_one_command_gives_a_private_mean_by_group_with_error_bars(run):
    done = run("query", "people.csv", BY_REGION, *AT, "--budget", "epsilon=3", "--epsilon", "1")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("±") == 5
    assert done.stdout.splitlines()[-1] == "cost ε = 1; ± is noise only, at 95 %"
    with dp.open_ledger("people.ledger") as ledger:
        assert (ledger.spent(), ledger.promise()) == (dp.PureDP(1), dp.PureDP(3))


def test_a_new_ledger_without_a_budget_promises_just_what_is_spent(run):
    done = run("query", "people.csv", BY_REGION, *AT, "--epsilon", "1/2")
    assert done.exit_code == 0
    assert "its budget is what this question spends" in done.stderr
    more = run("query", "people.csv", "SELECT COUNT(*) AS n FROM people", *AT, "--epsilon", "1/2")
    assert more.exit_code == 3
    assert "left" in more.stderr
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.promise() == dp.PureDP("1/2")


def test_a_new_ledger_of_epsilon_and_delta_admits_the_question_it_is_made_for(run):
    done = run("query", "people.csv", BY_REGION, *AT, "--epsilon", "1", "--delta", "1e-6")
    assert done.exit_code == 0, done.stderr


def test_the_same_question_again_is_the_same_and_free(run):
    words = ("query", "people.csv", BY_REGION, *AT, "--epsilon", "1", "--json")
    first, second = run(*words), run(*words)
    one, other = json.loads(first.stdout), json.loads(second.stdout)
    told = f"answered before, data version 1, nothing spent; it {one.pop('details')}"
    assert other.pop("details") == told
    assert other.pop("caption") == one.pop("caption").replace("cost", "answered before for")
    assert one == other
    assert len(json.loads(first.stdout)["rows"]) == 2


def test_asking_by_error(run):
    words = (
        "query",
        "people.csv",
        BY_REGION,
        *AT,
        "--budget",
        "epsilon=9",
        "--error",
        "n=20",
        "--error",
        "income=40",
    )
    done = run(*words, "--size", "500")
    assert done.exit_code == 0, done.stderr
    with dp.open_ledger("people.ledger") as ledger:
        assert dp.PureDP(0) != ledger.spent() != dp.PureDP(9)


def test_the_table_is_shown_at_the_level_that_was_asked_for(run):
    shown = []
    for level in ("0.5", "0.95", "0.999"):
        done = run("query", "people.csv", "SELECT COUNT(*) AS n FROM people", *AT, "--budget", "epsilon=3",
                   "--epsilon", "1/10", "--level", level)  # fmt: skip
        shown.append(float(done.stdout.splitlines()[1].split(" ± ")[1].split()[0]))
        assert f"at {100 * float(level):g} %" in done.stdout
    half, usual, wide = shown
    assert half < usual < wide
    assert usual == 30


def test_a_file_that_cannot_be_written_is_refused_before_the_charge(run, home):
    asked = ("query", "people.csv", BY_REGION, *AT, "--epsilon", "1")
    for flag in ("--out", "--receipt", "--plot"):
        refused = run(*asked, flag, "nowhere/n.svg" if flag == "--plot" else "nowhere/n.csv")
        assert refused.exit_code == 2 and "cannot be written" in refused.stderr
    assert not (home / "people.ledger").exists()


def test_what_is_also_written(run, home):
    more = (
        "--out",
        "n.csv",
        "--receipt",
        "receipt.json",
        "--plot",
        "n.svg",
        "--why",
        "a first look",
        "--who",
        "ana",
    )
    done = run("query", "people.csv", BY_REGION, *AT, "--epsilon", "1", *more)
    assert done.exit_code == 0, done.stderr
    assert (
        (home / "n.csv")
        .read_text()
        .startswith("region,n,n_low,n_high,income,income_low,income_high\n")
    )
    assert "<svg" in (home / "n.svg").read_text()
    receipt = json.loads((home / "receipt.json").read_text())
    assert (receipt["who"], receipt["why"]) == ("ana", "a first look")
    good = run("verify-receipt", "receipt.json", "--ledger", "people.ledger")
    assert good.exit_code == 0 and "the receipt holds" in good.stdout
    (home / "receipt.json").write_text(json.dumps(receipt | {"who": "bob"}))
    bad = run("verify-receipt", "receipt.json")
    assert bad.exit_code == 1 and "changed" in bad.stderr


def test_a_receipt_of_0_1_0_says_what_the_ledger_does_not_know(run, home):
    old = Path(__file__).parents[1] / "fixtures" / "ledger_0_1_0"
    told = json.loads((old / "expected.json").read_text(encoding="utf-8"))["sqlite"]["pure"][
        "answers"
    ][0]
    shutil.copy(old / "pure.ledger", home / "old.ledger")
    (home / "old.json").write_text(told["receipt"])
    done = run("verify-receipt", "old.json", "--ledger", "old.ledger")
    assert done.exit_code == 0 and "the receipt holds" in done.stdout
    assert "but release 0.1.0 stored this answer without the question's text" in " ".join(
        done.stdout.split()
    )
    done = run("verify-receipt", "old.json", "--ledger", "old.ledger", "--json")
    assert len(json.loads(done.stdout)["unproven"]) == 1


def test_explain_shows_cost_and_error_and_touches_nothing(run, home):
    done = run("explain", "people.csv", BY_REGION, *AT, "--epsilon", "1")
    assert done.exit_code == 0, done.stderr
    assert "Nothing was touched, nothing was spent." in done.stdout
    assert not (home / "people.ledger").exists()
    shown = json.loads(
        run(
            "explain", "people.csv", BY_REGION, "--schema", "people.toml", "--rho", "1/8", "--json"
        ).stdout
    )
    assert shown["fits"] and 0.124 < Fraction(shown["price"]["rho"]) <= 0.125


def test_plan_finds_the_third_of_spend_error_and_queries(run):
    count = ("plan", "people.csv", "SELECT COUNT(*) AS n FROM people", "--schema", "people.toml")
    done = run(*count, "--epsilon", "1", "--error", "30", "--json")
    assert done.exit_code == 0, done.stderr
    assert run(*count, "--error", "30", "--queries", "10").exit_code == 0
    assert run(*count, "--epsilon", "1", "--queries", "10").exit_code == 0
    assert run(*count, "--epsilon", "1").exit_code == 0


def test_what_a_cap_cuts_off_is_estimated_and_given_again_for_free(run, home):
    (home / "visits.csv").write_text(
        "\n".join(["who,cost", *(f"{k % 50},{k % 7}" for k in range(300))]) + "\n"
    )
    (home / "visits.toml").write_text(
        'format = 1\n[tables.visits]\nunit = { kind = "people", id = "who", max_rows = 4 }\n'
        '[tables.visits.columns]\ncost = { type = "integer", low = 0, high = 10 }\n'
    )
    words = (
        "estimate-truncation",
        "visits.csv",
        "visits",
        "--schema",
        "visits.toml",
        "--ledger",
        "visits.ledger",
    )
    done = run(*words, "--up-to", "10", "--of", "cost", "--epsilon", "200", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    row = dict(zip((column["name"] for column in found["columns"]), found["rows"][0], strict=True))
    assert row["share"] == pytest.approx(1 / 3, abs=0.02) and row["rows"] == pytest.approx(
        300, abs=5
    )
    more = ("--up-to", "10", "--of", "cost", "--epsilon", "200", "--details")
    again = run(*words, *more)
    assert "nothing spent" in again.stdout and "share_total" in again.stdout
    former = run("estimate-cut", *words[1:], *more)
    assert former.stdout == again.stdout
    assert "estimate-cut is now estimate-truncation" in former.stderr
    refused = run(*words, "--up-to", "4", "--epsilon", "1")
    assert refused.exit_code != 0 and "above max_rows = 4" in refused.stderr


def test_a_rehearsal_is_free_and_marked(run, home):
    done = run("rehearse", "people.csv", BY_REGION, *AT, "--epsilon", "1", "--rows", "50")
    assert done.exit_code == 0, done.stderr
    assert "made-up data" in done.stdout
    assert not (home / "people.ledger").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "spend"),
        (("--epsilon", "1", "--rho", "1"), "one budget"),
        (("--delta", "1e-6"), "--delta belongs to --epsilon"),
        (("--epsilon", "lots"), "epsilon"),
        (("--epsilon", "0"), "budget"),
        (("--epsilon", "1", "--budget", "rub=1"), "--budget"),
        (("--epsilon", "1", "--budget", "epsilon=1,epsilon=2"), "twice"),
        (("--epsilon", "1", "--size", "1e400"), "size"),
        (("--error", "1e-300"), "larger"),
        (("--epsilon", "1", "--budget", "delta=1e-6"), "delta"),
        (("--error", "n"), "error"),
        (("--error", "n=5", "--error", "n=6"), "twice"),
        (("--epsilon", "1", "--weight", "n"), "NAME=VALUE"),
        (("--epsilon", "1", "--plot", "n.txt"), "picture"),
        (("--epsilon", "1", "--of", "sample"), '"data" or "population"'),
        (("--epsilon", "1", "--table", "people=people.csv"), "again"),
        (("--epsilon", "1", "--table", "other=other.csv"), "no file"),
    ],
)
def test_bad_flags_are_refused_before_anything_is_made(run, home, words, says):
    done = run("query", "people.csv", BY_REGION, *AT, *words)
    assert done.exit_code == 2, (done.stdout, done.stderr)
    assert says in done.stderr
    assert not (home / "people.ledger").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("people.csv", "DROP TABLE people"), "SELECT"),
        (("people.csv", "SELECT * FROM people"), "aggregate"),
        (("nobody.csv", BY_REGION), "no file"),
        (("people.toml", BY_REGION), "no file this engine reads"),
    ],
)
def test_bad_questions_and_sources_are_refused(run, words, says):
    done = run("query", *words, *AT, "--epsilon", "1")
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_refusal_as_json(run):
    done = run("query", "people.csv", "SELECT * FROM people", *AT, "--epsilon", "1", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stderr)["error"]["kind"] == "UnsupportedQuery"


def test_what_is_spent_must_be_kept(run):
    done = run("query", "people.csv", BY_REGION, "--schema", "people.toml", "--epsilon", "1")
    assert done.exit_code == 2 and "--ledger" in done.stderr
    unsaid = run("query", "people.csv", BY_REGION, *AT, "--error", "20")
    assert unsaid.exit_code == 2 and "--budget" in unsaid.stderr


def test_a_file_of_another_name_is_the_only_private_table(run, home):
    (home / "people.csv").rename(home / "march.csv")
    assert run("query", "march.csv", BY_REGION, *AT, "--epsilon", "1").exit_code == 0


def test_a_database_has_its_own_tables(run, home):
    import duckdb

    with duckdb.connect(str(home / "store.duckdb")) as store:
        store.execute("CREATE TABLE people AS SELECT * FROM read_csv('people.csv')")
    assert run("query", "store.duckdb", BY_REGION, *AT, "--epsilon", "1").exit_code == 0
    done = run("query", "store.duckdb", BY_REGION, *AT, "--epsilon", "1", "--table", "a=people.csv")
    assert done.exit_code == 2 and "its own tables" in done.stderr
    far = run(
        "query",
        "postgresql://127.0.0.1:1/x",
        BY_REGION,
        *AT,
        "--epsilon",
        "1",
        "--table",
        "a=people.csv",
    )
    assert far.exit_code == 2 and "its own tables" in far.stderr


def test_intervals_of_the_population_are_wider_and_free(run):
    words = ("query", "people.csv", BY_REGION, *AT, "--epsilon", "1")
    data = json.loads(run(*words, "--json").stdout)
    shown = run(*words, "--of", "population", "--out", "-")
    assert shown.exit_code == 0, shown.stderr
    wide = json.loads(run(*words, "--of", "population", "--json").stdout)
    assert (data["of"], wide["of"], data["rows"]) == ("data", "population", wide["rows"])
    for narrow, more in zip(data["intervals"], wide["intervals"], strict=True):
        assert more[1][0] < narrow[1][0] < narrow[1][1] < more[1][1]
    # The file has the same ends as the reply.
    assert repr(wide["intervals"][0][1][0]) in shown.stdout
    assert "± includes sampling" in run(*words, "--of", "population").stdout
    assert "± is noise only" in run(*words).stdout
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == dp.PureDP(1)


def test_a_population_that_is_not_told_is_refused_before_the_charge(run):
    assert (
        run(
            "query", "people.csv", BY_REGION, *AT, "--budget", "epsilon=3", "--epsilon", "1"
        ).exit_code
        == 0
    )
    median = "SELECT MEDIAN(income) AS m FROM people"
    done = run("query", "people.csv", median, *AT, "--epsilon", "1", "--of", "population")
    assert done.exit_code == 2
    assert "ask for COUNT, SUM or AVG" in done.stderr
    with dp.open_ledger("people.ledger") as ledger:
        assert ledger.spent() == dp.PureDP(1)
