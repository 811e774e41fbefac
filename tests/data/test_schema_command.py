"""`discreet schema`: the steward's way from a file to a schema."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.commands.schema import app
from discreet.data import (
    Category,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
    read_schemas,
    schemas_from_toml,
    write_schemas,
)

SAMPLES = Path(str(files("discreet.samples")))
PUMS, WEEK = str(SAMPLES / "pums.csv"), str(SAMPLES / "restaurant_week.csv")
ANSWERS = [
    "--bounds", "age=0:120", "--bounds", "income=0:1000000:0.01", "--categories", "sex=0,1",
    "--bounds", "educ=1:16", "--bounds", "race=1:6", "--categories", "married=0,1", "--leave-out", "pid",
]  # fmt: skip


def run(*words: str, answers: str | None = None):
    return CliRunner().invoke(app, list(words), input=answers)


def drafted(done) -> str:
    """The draft alone: the runner shows the answers on the same screen."""
    return done.stdout[done.stdout.index("# A draft") :]


def refusal(*words: str) -> str:
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("discreet: ")
    return done.stderr


class TestInfer:
    def test_the_census_sample_with_all_answers_is_a_ready_schema(self, tmp_path):
        out = tmp_path / "pums.toml"
        done = run(
            "infer", PUMS, "--unit", "rows", *ANSWERS,
            "--data-version", "2000", "--size", "1000", "--out", str(out),
        )  # fmt: skip
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
        (schema,) = read_schemas(out)
        assert (schema.unit, schema.version, schema.size) == (Rows(), "2000", 1000)
        assert schema.columns["income"] == Real(0, 10**6, step=0.01)
        assert schema.columns["sex"] == Category([0, 1])
        assert run("check", str(out)).stdout == f"{out}: ready: pums\n"

    def test_what_is_open_is_said_and_stands_in_the_draft(self):
        done = run("infer", PUMS, "--bounds", "age=0:120")
        assert done.exit_code == 0
        assert "open: unit: who is protected?" in done.stderr
        assert "open: columns.income: say low and high" in done.stderr
        assert 'income = { type = "real" }  # say low and high' in done.stdout
        assert "# unit: who is protected?" in done.stdout

    def test_the_restaurant_week_by_person_from_the_data(self, tmp_path):
        out = tmp_path / "week.toml"
        done = run(
            "infer",
            WEEK,
            "--people",
            "VisitorId",
            "--from-data",
            "--name",
            "visits",
            "--out",
            str(out),
        )
        assert done.exit_code == 0
        assert done.stderr.count("from the data:") == 5
        assert "visits is a draft: unit, columns.Time entered" in refusal(
            "check", str(out)
        ).replace("\n", " ")
        out.write_text(out.read_text().replace(", needs_word = true", ""))
        assert run("check", str(out)).exit_code == 0

    def test_people_with_a_window(self, tmp_path):
        rows = tmp_path / "seen.csv"
        rows.write_text("id,seen,note\n1,2024-01-01T10:00:00,x\n")
        done = run(
            "infer", str(rows), "--people", "id", "--max-rows", "10", "--max-groups", "2",
            "--max-rows-per-group", "3", "--window", "seen=month",
            "--bounds", "seen=2024-01-01T00:00:00..2024-12-31T23:59:59", "--length", "note=20",
            "--neighbours", "replace",
        )  # fmt: skip
        (schema,) = schemas_from_toml(drafted(done))
        assert schema == Schema(
            "seen",
            People("id", max_rows=10, max_groups=2, max_rows_per_group=3, window=("seen", "month")),
            {"seen": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"), "note": Text(20)},
            neighbours="replace",
        )

    def test_a_guess_can_be_overruled(self):
        done = run(
            "infer", PUMS, "--unit", "rows", "--type", "educ=text", "--categories", "educ=1,2"
        )
        assert 'educ = { type = "category", values = ["1", "2"] }' in done.stdout
        assert 'race = { type = "text" }' in run("infer", PUMS, "--type", "race=text").stdout

    def test_from_the_data_the_guess_is_from_all_rows(self, tmp_path):
        rows = tmp_path / "long.csv"
        rows.write_text("x\n" + "1\n" * 1500 + "word\n" * 500)
        assert 'x = { type = "integer" }' in run("infer", str(rows)).stdout
        assert (
            'x = { type = "text", max_length = 4' in run("infer", str(rows), "--from-data").stdout
        )
        assert (
            'x = { type = "integer" }'
            in run("infer", str(rows), "--from-data", "--type", "x=integer").stdout
        )

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["none.csv"], "none.csv cannot be read: there is no such file"),
            ([PUMS, "--unit", "crowd"], "say --unit rows, or --people COLUMN --max-rows N"),
            ([PUMS, "--unit", "rows", "--people", "pid"], "one of the two"),
            ([PUMS, "--people", "who"], "there is no column 'who'"),
            (
                [PUMS, "--people", "pid", "--window", "age=day"],
                "--max-rows-per-group, --window and --who go with --people",
            ),
            ([PUMS, "--max-rows", "3"], "go with --people COLUMN --max-rows N"),
            (
                [PUMS, "--people", "pid", "--max-rows", "0"],
                "max_rows must be a whole number of at least 1",
            ),
            (
                [PUMS, "--people", "pid", "--max-rows", "3", "--window", "month"],
                "the window's column needs a printable",
            ),
            ([PUMS, "--bounds", "agee=0:9"], "names no column; write NAME=ANSWER"),
            ([PUMS, "--bounds", "age=9:0"], "Integer needs low < high"),
            (
                [PUMS, "--bounds", "age=0:9", "--categories", "age=1"],
                "column 'age' is answered twice",
            ),
            ([PUMS, "--type", "age=number"], "'number' is no type of column; use one of integer"),
            ([PUMS, "--leave-out", "who"], "there is no column 'who'"),
            ([PUMS, "--neighbours", "swap"], "neighbours must be 'add-remove' or 'replace'"),
        ],
    )
    def test_a_wrong_answer_is_refused(self, words, says):
        assert says in refusal("infer", *words)

    def test_a_file_that_exists_is_kept(self, tmp_path):
        kept = tmp_path / "kept.toml"
        kept.write_text("mine")
        assert "exists; draft into a new file" in refusal("infer", PUMS, "--out", str(kept))
        assert kept.read_text() == "mine"

    def test_a_folder_that_is_not_there_is_refused(self, tmp_path):
        assert "cannot be written; give a path in a folder" in refusal(
            "infer", PUMS, "--out", str(tmp_path / "no" / "x")
        )


class TestAsking:
    def test_every_open_question_is_asked_and_asked_again(self):
        answers = "crowd\nrows\n0:120\n0,1\nsixteen\n1:16\n\n0:1000000\nno,yes\n0,1\nmany\n2000\n"
        done = run("infer", PUMS, "--ask", answers=answers)
        assert done.exit_code == 0
        assert "'crowd' is neither 'rows' nor a column" in done.stderr
        assert "'sixteen' are no bounds for a column of kind integer" in done.stderr
        assert "size must be a finite number" in done.stderr
        assert "size = 2000" in done.stdout
        assert 'unit = { kind = "rows" }' in done.stdout
        assert 'sex = { type = "category", values = [0, 1] }' in done.stdout
        assert 'race = { type = "integer" }  # say low and high' in done.stdout

    def test_what_was_said_is_not_asked(self):
        done = run("infer", PUMS, "--ask", "--unit", "rows", *ANSWERS, answers="\n")
        assert done.exit_code == 0
        assert schemas_from_toml(drafted(done))[0].columns["age"] == Integer(0, 120)

    def test_people_are_asked_for_their_bound(self):
        done = run(
            "infer", WEEK, "--ask", answers="VisitorId\n0\n3\nmorning,noon\n0:240\n0:500\n1:7\n\n"
        )
        (schema,) = schemas_from_toml(drafted(done))
        assert "max_rows must be a whole number of at least 1" in done.stderr
        assert schema.unit == People("VisitorId", max_rows=3)
        assert schema.columns["Time entered"] == Category(["morning", "noon"])
        left = run("infer", WEEK, "--ask", "--people", "VisitorId", answers="\n8\n\n\n\n\n")
        assert 'unit = { kind = "people", id = "VisitorId" }' in left.stdout
        assert '"Time entered" = { type = "text", max_length = 8 }' in left.stdout

    def test_an_id_without_a_bound_is_not_asked_for_as_a_column(self):
        done = run("infer", WEEK, "--ask", answers="VisitorId\n\n8\n0:240\n0:500\n1:7\n\n")
        assert done.exit_code == 0
        assert "VisitorId (integer)" not in done.stderr
        assert 'Day = { type = "integer", low = 1, high = 7 }' in done.stdout

    def test_nobody_may_be_named_yet(self):
        done = run("infer", WEEK, "--ask", answers="\n" * 7)
        assert "open: unit" in done.stderr

    def test_yes_or_no_and_declared_categories(self, tmp_path):
        rows = tmp_path / "votes.csv"
        rows.write_text("yes,town\ntrue,A\n")
        done = run(
            "infer",
            str(rows),
            "--ask",
            "--unit",
            "rows",
            "--type",
            "town=category",
            answers="A\n\n",
        )
        assert schemas_from_toml(drafted(done))[0].columns["town"] == Category(["A"])


class TestShowAndCheck:
    @pytest.fixture
    def file(self, tmp_path):
        people = Schema(
            "people",
            Rows(),
            {"a [b]": Category(["[bold]x"]), "age": Integer(0, 120)},
            needs_word=["columns.age"],
        )
        wards = Schema.public_table("wards", {"ward": Integer(1, 9)}, key="ward")
        write_schemas(tmp_path / "s.toml", [people, wards])
        return str(tmp_path / "s.toml")

    def test_a_draft_is_shown_with_its_marks(self, file):
        shown = run("show", file)
        assert shown.exit_code == 0
        for words in (
            "people: private, the unit is one row",
            "wards: public",
            "a [b]",
            "'[bold]x'",
            "steward's",
        ):
            assert words in shown.stdout

    def test_json_is_the_schema(self, file):
        facts = json.loads(run("show", file, "--json").stdout)
        assert tuple(Schema.from_dict(f) for f in facts) == read_schemas(file, draft=True)

    def test_a_draft_does_not_pass(self, file):
        assert "people is a draft: columns.age came from the data" in refusal("check", file)

    def test_what_is_no_schema_is_refused(self, tmp_path):
        bad = tmp_path / "bad.toml"
        bad.write_text("format = 1\n[tables.people]\n")
        assert "tables.people: people needs columns" in refusal("show", str(bad))
        assert "cannot be read" in refusal("check", str(tmp_path / "none.toml"))

    def test_help_has_an_example_for_every_command(self):
        for command in ("infer", "check", "show"):
            assert "Example: discreet schema" in run(command, "--help").stdout
