"""Messy files: proposals are counted over whole files, shown, accepted or not, and written; nothing gets worse."""

from __future__ import annotations

import csv
import random
from itertools import product

import pytest
from typer.testing import CliRunner

import discreet as dp
from data.test_proposals import CELLS, COLUMNS
from discreet.cli.app import app
from discreet.data.columns.outcome import outcome
from discreet.data.drafting.proposals import effect_of
from discreet.data.files.schema_file import read_schemas, write_schemas
from discreet.engines import find_proposals
from discreet.intake.report import table_from_dict, table_to_dict

WARD = dp.Category(["emergency", "surgery"])
SEEN = dp.Date("2020-01-01", "2024-12-31")
COUNTS = ("null", "unreadable", "clipped", "unlisted")


def run(*words, answers=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=answers)


def write(path, rows, names=("x",)):
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        lines.writerow(names)
        lines.writerows(rows)
    return path


class TestCounts:
    """Outcomes and effects counted in SQL are those that Python counts cell by cell."""

    @pytest.mark.parametrize("column", COLUMNS, ids=repr)
    def test_of_a_file_are_those_of_its_cells(self, column, tmp_path):
        dice = random.Random(repr(column))
        cells = dict.fromkeys(dice.sample([cell for cell in CELLS if cell], 30))
        cells = {cell: dice.randrange(1, 60) for cell in cells}
        rows = [(cell,) for cell, count in cells.items() for _ in range(count)]
        path = write(tmp_path / "t.csv", rows)
        schema = dp.Schema("t", dp.Rows(), {"x": column})
        with dp.DuckDB({"t": path}) as store:
            store.check(schema)
            (report,) = store.report.tables[0].columns
        counted = [0, 0, 0, 0]
        for cell, count in cells.items():
            became = outcome(column, cell)
            if became is not None:
                counted[became] += count
        assert [getattr(report, name) for name in COUNTS] == counted
        (found,) = find_proposals(path, schema)
        now = column
        for proposal, shown in zip(found.proposals, report.proposals, strict=True):
            assert proposal.effect == effect_of(now, proposal.declared, cells)
            assert proposal.effect.gain > 0
            assert shown == (proposal.masked, *proposal.effect.counts)
            now = proposal.declared

    @pytest.mark.parametrize(("commas", "given"), [(1300, 0), (1400, 0), (1401, 1)])
    def test_candidates_are_chosen_by_a_sample_and_counted_over_all_cells(
        self, commas, given, tmp_path
    ):
        """The sample has 25 of 1,400 cells that a decimal comma would break: it is given from 1,401 commas on."""
        rows = [(f"{whole}.{part}",) for whole in range(1000, 1350) for part in range(10, 14)]
        rows += [("1,5",)] * commas
        path = write(tmp_path / "t.csv", rows)
        (found,) = find_proposals(path, dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 9999)}))
        assert len(found.proposals) == given

    def test_common_forms_do_not_hide_a_rare_one(self, tmp_path):
        rows = [("".join(word),) for word in product("abcdefghi", repeat=3)] * 2
        path = write(tmp_path / "t.csv", [*rows, ("80 kg",)])
        (found,) = find_proposals(path, dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 99)}))
        assert [proposal.text for proposal in found.proposals] == ["unit='kg'"]

    @pytest.mark.parametrize(
        ("cells", "counts"),
        [
            ({"1.234": 3, "1.234,50": 9, "1.5": 2}, [(9, 2, 3)]),
            ({"1.234": 9, "1.234,50": 5}, []),
        ],
    )
    def test_cells_that_are_read_otherwise_are_counted_in_sql_too(self, cells, counts, tmp_path):
        path = write(tmp_path / "t.csv", [(cell,) for cell, n in cells.items() for _ in range(n)])
        column = dp.Real(0, 9999, step="0.001")
        (found,) = find_proposals(path, dp.Schema("t", dp.Rows(), {"x": column}))
        assert [proposal.effect.counts for proposal in found.proposals] == counts


class TestReport:
    def read(self, path, schema, tmp_path):
        with dp.prepare({"t": path}, [schema], tmp_path / "t.store") as store:
            return store.report.tables[0]

    def test_duplicate_ids_constant_columns_and_rows_without_a_key(self, tmp_path):
        rows = [
            ("a", "E.R.", 1),
            ("b", "surgery", 1),
            ("c", "", 1),
            ("c", "x", 1),
            ("d", "x", 1),
            ("e", "emergency", 1),
        ]
        path = write(tmp_path / "t.csv", rows, ("id", "ward", "k"))
        columns = {"ward": WARD, "k": dp.Integer(0, 9)}
        schema = dp.Schema("t", dp.People("id", max_rows=1), columns)
        table = self.read(path, schema, tmp_path)
        assert table.over_rows == 1
        ward, k = table.columns
        assert (ward.keyless, ward.unlisted, ward.null) == (4, 3, 1)
        assert (ward.constant, k.constant) == (False, True)
        assert ward.forms == (("a", 2), ("a.a.", 1))
        for words in (
            "1 ids with more rows",
            "no listed key takes 4 of the rows",
            "one value only",
        ):
            assert words in str(table)
        for forgiving in (
            dp.Category(["surgery"], other=True),
            dp.Category(["surgery"], null_key=True),
        ):
            declared = dp.Schema("t", dp.Rows(), {"ward": forgiving})
            assert self.read(path, declared, tmp_path).columns[0].keyless == 0
        # The same from the files in place, and when the report is written and read.
        with dp.DuckDB({"t": path}) as store:
            store.check(schema)
            assert store.report.tables[0] == table
        assert table_from_dict(table_to_dict(table)) == table

    def test_reports_of_older_stores_are_read(self, tmp_path):
        path = write(tmp_path / "t.csv", [("E.R.",)], ("ward",))
        table = self.read(path, dp.Schema("t", dp.Rows(), {"ward": WARD}), tmp_path)
        facts = table_to_dict(table)
        del facts["over_rows"]
        for name in ("proposals", "constant", "keyless"):
            del facts["columns"][0][name]
        assert table_from_dict(facts).columns[0].unlisted == 1

    def test_days_that_could_mean_two_are_named(self, tmp_path):
        path = write(tmp_path / "t.csv", [("01/02/2023",)] * 3, ("seen",))
        schema = dp.Schema("t", dp.Rows(), {"seen": SEEN})
        told = "99/99/9999 may be %d/%m/%Y or %m/%d/%Y: say which, by format="
        assert told in str(self.read(path, schema, tmp_path))
        write(path, [("01/02/2023",), ("13/02/2023",)], ("seen",))
        assert told not in str(self.read(path, schema, tmp_path))

    def test_a_latin_file_with_another_delimiter_is_fixed(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes("ort;n\nKÖLN;1\nKöln;2\n".encode("latin-1"))
        write_schemas(
            tmp_path / "t.toml", [dp.Schema("t", dp.Rows(), {"ort": dp.Category(["Köln"])})]
        )
        words = ("schema", "fix", tmp_path / "t.toml", path, "--yes")
        done = run(*words, "--delimiter", ";", "--encoding", "latin-1")
        assert "ort: with fold=True: 1 cell mended, 0 lost" in done.output

    def test_no_text_of_a_cell_is_in_it(self, tmp_path):
        path = write(tmp_path / "t.csv", [("emergancy",)] * 30 + [("secret",)], ("ward",))
        table = self.read(path, dp.Schema("t", dp.Rows(), {"ward": WARD}), tmp_path)
        assert "with aliases={'aaaaaaaaa': 'emergency'}: 30 cells mended, 0 lost" in str(table)
        assert "emergancy" not in str(table_to_dict(table)) and "secret" not in str(table)

    def test_a_terminal_gets_no_control_characters(self, tmp_path):
        path = write(tmp_path / "t.csv", [("\x1b[31mred",)] * 30, ("ward",))
        schema = dp.Schema("t", dp.Rows(), {"ward": WARD})
        assert "such as '\\x1b[99aaaa'" in str(self.read(path, schema, tmp_path))
        write_schemas(tmp_path / "t.toml", [schema])
        done = run("schema", "fix", tmp_path / "t.toml", path, "--yes")
        assert "\x1b" not in done.output and "30 rows is not listed" in done.output

    @pytest.mark.parametrize("mark", ["999", "-1", "9999-12-31", "01.01.1900"])
    def test_a_mark_among_clipped_cells_is_found(self, mark, tmp_path):
        """… and values beyond the bounds alone are no reason to propose anything."""
        is_day = len(mark) == 10
        column = dp.Date("2020-01-01", "2024-12-31") if is_day else dp.Integer(0, 90)
        if mark == "01.01.1900":
            column = dp.Date("2020-01-01", "2024-12-31", format="%d.%m.%Y")
        path = write(tmp_path / "t.csv", [(mark,)] * 3)
        schema = dp.Schema("t", dp.Rows(), {"x": column})
        (report,) = self.read(path, schema, tmp_path).columns
        assert (report.clipped, report.advice) == (3, f"declare null=['{mark}']")

    def test_clipped_cells_alone_are_not_grouped(self, tmp_path, monkeypatch):
        path = write(tmp_path / "t.csv", [("130",)] * 3)
        monkeypatch.setattr("discreet.engines.duckdb.findings.propose_cells", None)
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 120)})
        assert self.read(path, schema, tmp_path).columns[0].clipped == 3

    def test_clean_columns_are_looked_at_once(self, tmp_path, monkeypatch):
        """Nothing is proposed, and no cell grouped, where every cell is read."""
        path = write(tmp_path / "t.csv", [("surgery",)] * 3, ("ward",))
        monkeypatch.setattr("discreet.engines.duckdb.findings.propose_cells", None)
        assert self.read(path, dp.Schema("t", dp.Rows(), {"ward": WARD}), tmp_path).rows == 3


class TestCommands:
    ROWS = [("2023-12-31", "emergency"), ("31.12.2023", "Emergency"), ("n/a", "E.R.")] * 20

    @pytest.fixture
    def files(self, tmp_path):
        path = write(tmp_path / "t.csv", self.ROWS, ("seen", "ward"))
        schema = tmp_path / "t.toml"
        write_schemas(schema, [dp.Schema("t", dp.Rows(), {"seen": SEEN, "ward": WARD})])
        return path, schema

    def test_a_dry_run_writes_nothing(self, files, tmp_path):
        path, schema = files
        done = run("prepare", path, "--schema", schema, "--dry-run")
        assert done.exit_code == 0, done.output
        assert "with null=['n/a']: 20 cells mended, 0 lost" in done.output
        assert "with format=['%Y-%m-%d', '%d.%m.%Y']: 20 cells mended, 0 lost" in done.output
        assert "nothing was written" in done.output
        assert sorted(one.name for one in tmp_path.iterdir()) == ["t.csv", "t.toml"]

    def test_prepare_says_what_it_replaces(self, files, tmp_path):
        path, schema = files
        words = ("prepare", path, "--schema", schema, "--out", tmp_path / "t.store")
        assert "is there" not in run(*words).output
        assert (
            "t.store is there: t (60 rows); it is replaced when all is read" in run(*words).output
        )

    def test_fix_accepts_all(self, files):
        path, schema = files
        schema.write_text("# Ours.\n" + schema.read_text())
        done = run("schema", "fix", schema, path, "--yes", "--alias", "ward=E.R.:emergency")
        assert done.exit_code == 0, done.output
        assert "ward: with fold=True: 20 cells mended, 0 lost" in done.output
        (fixed,) = read_schemas(schema)
        assert fixed.columns["ward"] == dp.Category(
            ["emergency", "surgery"], fold=True, aliases={"E.R.": "emergency"}
        )
        assert fixed.columns["seen"] == dp.Date(
            "2020-01-01", "2024-12-31", format=["%Y-%m-%d", "%d.%m.%Y"], null=["n/a"]
        )
        assert fixed.looked_at == (
            "columns.seen.format", "columns.seen.null", "columns.ward.fold", "columns.ward.aliases",
        )  # fmt: skip
        assert schema.read_text().startswith("# Ours.\n")
        assert "nothing to change" in run("schema", "fix", schema, path, "--yes").output
        done = run("prepare", path, "--schema", schema, "--dry-run")
        assert (
            "seen: 20 NULL; one value only\n  ward: every cell read; one value only\n"
            in done.output
        )

    def test_fix_asks_and_takes_no_for_an_answer(self, files):
        path, schema = files
        done = run("schema", "fix", schema, path, answers="n\ny\ny\nemergency\n")
        assert done.exit_code == 0, done.output
        assert "ward: 'E.R.' in 20 rows is not listed. Which key does it mean?" in done.output
        (fixed,) = read_schemas(schema)
        assert fixed.columns["seen"].null is None
        assert fixed.columns["seen"].format == ("%Y-%m-%d", "%d.%m.%Y")
        assert fixed.columns["ward"].aliases == (("E.R.", "emergency"),)

    def test_fix_without_any_yes_changes_nothing(self, files):
        path, schema = files
        before = schema.read_text()
        assert (
            "nothing to change"
            in run("schema", "fix", schema, path, answers="n\nn\nn\nn\n\n\n").output
        )
        assert schema.read_text() == before

    def test_a_file_in_another_shape_is_written_anew(self, files):
        path, schema = files
        schema.write_text(
            'format = 1\n# gone\n[tables.t]\nunit = { kind = "rows" }\n[tables.t.columns.ward]\n'
            'type = "category"\nvalues = ["emergency", "surgery"]\n'
        )
        done = run("schema", "fix", schema, path, "--yes")
        assert "without its comments" in done.output
        assert "'E.R.' in 20 rows is not listed; say --alias COLUMN=SPELLING:KEY" in done.output
        assert read_schemas(schema)[0].columns["ward"].fold

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--alias", "ward=E.R.:nowhere"], "must be a listed key"),
            (["--alias", "seen=x:y"], "cannot be an alias"),
            (["--alias", "none=x:y"], "names no column"),
        ],
    )
    def test_refusals(self, files, words, says):
        path, schema = files
        done = run("schema", "fix", schema, path, "--yes", *words)
        assert done.exit_code == 2
        assert says in done.output.replace("\n", " ")

    def test_servers_and_missing_files_are_refused(self, files, tmp_path):
        _, schema = files
        assert "reads files" in run("schema", "fix", schema, "postgresql://db/x#t", "--yes").output
        for words in (
            ("schema", "fix", schema, tmp_path / "t2.csv", "--yes"),
            ("schema", "infer", tmp_path / "t2.csv"),
        ):
            done = run(*words)
            assert done.exit_code == 2
            assert "t2.csv cannot be read: there is no such file" in done.output.replace("\n", "")
