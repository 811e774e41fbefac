"""Drafts: names and kinds from the file, facts from the steward, values only when told to, and then marked."""

from __future__ import annotations

import csv
import gzip
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import discreet as dp
from data.strategies import cells, given
from discreet.data import (
    Boolean,
    Category,
    Date,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
    infer,
    schemas_from_toml,
)
from discreet.data.drafting.answers import read_bounds, read_key_list, read_max_length, split_answer
from discreet.data.drafting.sniff import FIRST_ROWS, sniff
from discreet.errors import InvalidArgument

SAMPLES = Path(str(files("discreet.samples")))
PUMS, WEEK = SAMPLES / "pums.csv", SAMPLES / "restaurant_week.csv"


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_text(text, encoding=encoding)
    return path


def kinds(source) -> dict[str, str]:
    return {name: seen.kind for name, seen in sniff(source).columns.items()}


class TestKinds:
    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (["1", " -2 ", ""], "integer"),
            (["1", "2.5"], "real"),
            (["1", "1e3"], "real"),
            (["1", "x"], "text"),
            (["true", "False"], "boolean"),
            (["y", "n", "1"], "text"),
            (["0", "1"], "integer"),
            (["0152", "0481"], "text"),
            (["12345678901234567890"], "text"),
            (["2024-01-01"], "date"),
            (["2024-01-01", "2024-01-01 10:00"], "timestamp"),
            (["2024-01-01", "1"], "text"),
            (["9:27AM"], "text"),
            (["", " ", None, float("nan")], "text"),
            ([True, None], "boolean"),
            ([np.bool_(True)], "boolean"),
            ([True, 2], "text"),
            ([3, np.int64(4)], "integer"),
            ([3, 4.5, Decimal("1.5"), float("inf")], "real"),
            ([date(2024, 1, 1)], "date"),
            ([date(2024, 1, 1), datetime(2024, 1, 1, 9)], "timestamp"),
            ([b"x"], "text"),
            ([[1]], "text"),
            ([np.datetime64("2024-01-01")], "timestamp"),
        ],
    )
    def test_are_the_narrowest_that_fit(self, values, kind):
        assert kinds([{"x": value} for value in values]) == {"x": kind}

    def test_of_the_census_sample(self):
        assert kinds(PUMS) == dict.fromkeys(["age", "sex", "educ", "race"], "integer") | {
            "income": "real", "married": "integer", "pid": "integer",
        }  # fmt: skip

    def test_of_the_restaurant_week(self):
        assert list(kinds(WEEK).values()) == ["integer", "text", "integer", "integer", "integer"]

    def test_come_from_the_first_rows_alone(self):
        rows = [{"x": "1"}] * FIRST_ROWS + [{"x": "word"}]
        assert kinds(rows) == {"x": "integer"}
        assert sniff(rows, every_row=True).columns["x"].kind == "text"

    @given(st.lists(cells(), max_size=5))
    def test_no_value_makes_a_guess_fail(self, values):
        """… and the kind guessed for typed values can hold every one that is not NULL."""
        draft = infer([{"x": None}, *({"x": value} for value in values)], name="t", from_data=True)
        assert set(draft.open) <= {"unit", "columns.x"}


class TestFiles:
    @pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
    def test_the_delimiter_is_the_header_s(self, mark, tmp_path):
        assert kinds(write(tmp_path / "a.csv", f"a{mark}b\n1{mark}x,y;z\n")) == {
            "a": "integer",
            "b": "text",
        }

    def test_one_column_a_byte_order_mark_and_ragged_lines(self, tmp_path):
        assert kinds(write(tmp_path / "a.csv", "only\n1\n", "utf-8-sig")) == {"only": "integer"}
        assert kinds(write(tmp_path / "b.csv", "a,b\n1\n2,3,4\n")) == {
            "a": "integer",
            "b": "integer",
        }

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "the columns need names that differ"),
            ("a,A\n1,2\n", "the columns need names that differ, also in lower case"),
            ("a,\n1,2\n", "column 2 needs a printable name"),
            (
                "59,1,2024-01-01\n31,0,2024-01-02\n",
                r"the first line of a\.csv looks like values; infer needs",
            ),
        ],
    )
    def test_without_a_header_are_refused(self, text, words, tmp_path):
        with pytest.raises(InvalidArgument, match=words):
            infer(write(tmp_path / "a.csv", text))

    def test_a_refusal_shows_no_value_of_a_file_without_a_header(self, tmp_path):
        with pytest.raises(InvalidArgument) as refusal:
            infer(write(tmp_path / "a.csv", 'Anna "Secret",37\n'))
        assert "Secret" not in str(refusal.value)

    def test_that_cannot_be_read_are_refused(self, tmp_path):
        with pytest.raises(
            InvalidArgument, match=r"none\.csv cannot be read: there is no such file"
        ):
            infer(tmp_path / "none.csv")
        huge = write(tmp_path / "huge.csv", "a\n" + "x" * (csv.field_size_limit() + 1))
        with pytest.raises(InvalidArgument, match=r"huge\.csv cannot be read as CSV"):
            infer(huge)

    @pytest.mark.parametrize("rows", [[], [1], [[1, 2]]])
    def test_rows_are_mappings(self, rows):
        with pytest.raises(InvalidArgument, match="at least one row as a mapping"):
            infer(rows, name="t")


class TestDraft:
    def test_says_what_is_open_and_does_not_load(self):
        draft = infer(PUMS, columns={"age": Integer(0, 120)}, leave_out=["pid"])
        assert draft.name == "pums"
        assert list(draft.open) == [
            "unit",
            *(f"columns.{c}" for c in ("sex", "educ", "race", "income", "married")),
        ]
        assert draft.open["columns.sex"] == "say low and high"
        assert draft.needs_word == ()
        with pytest.raises(InvalidArgument, match=r"the draft of pums lacks unit, columns\.sex"):
            draft.schema()
        with pytest.raises(InvalidArgument, match=r"tables\.pums\.columns\.sex\.low is missing"):
            schemas_from_toml(draft.to_toml())

    def test_no_value_of_the_data_is_in_a_draft_unless_asked_for(self, tmp_path):
        path = write(tmp_path / "a.csv", "name,pay\nZebulon,98765\nAda,12\n")
        text = infer(path, unit=Rows()).to_toml()
        assert not [value for value in ("Zebulon", "Ada", "98765", "12") if value in text]

    def test_that_is_answered_is_a_schema(self):
        facts = {name: Integer(0, 20) for name in ("sex", "educ", "race", "married")}
        facts |= {"age": Integer(0, 120), "income": Real(0, 10**6)}
        draft = infer(PUMS, unit=Rows(), columns=facts, leave_out=["pid"])
        assert draft.open == {}
        assert schemas_from_toml(draft.to_toml()) == (draft.schema(),)
        assert draft.schema().ready().unit == Rows()

    def test_from_the_data_is_marked_and_refuses_to_be_used(self):
        draft = infer(WEEK, people="VisitorId", from_data=True)
        assert draft.unit == People("VisitorId", max_rows=6)
        assert dict(draft.columns) == {
            "Time entered": Text(7),
            "Time spent (minutes)": Integer(10, 120),
            "Money spent (euros)": Integer(10, 120),
            "Day": Integer(1, 7),
        }
        assert draft.needs_word == ("unit", *(f"columns.{name}" for name, _ in draft.columns))
        with pytest.raises(
            InvalidArgument, match=r"restaurant_week is a draft: unit, columns\.Time entered"
        ):
            schemas_from_toml(draft.to_toml())
        assert schemas_from_toml(draft.to_toml(), draft=True) == (draft.schema(),)
        with pytest.raises(InvalidArgument, match="is a draft"):
            draft.schema().ready()

    def test_the_steward_s_word_needs_no_mark(self):
        unit = People("VisitorId", max_rows=3)
        draft = infer(
            WEEK, unit=unit, columns={"Day": Integer(1, 7), "Time entered": Text(8)}, from_data=True
        )
        assert draft.unit == unit
        assert draft.needs_word == ("columns.Time spent (minutes)", "columns.Money spent (euros)")

    def test_every_kind_is_drafted_from_data(self):
        rows = [
            {
                "b": "yes",
                "i": "1",
                "r": "0.1",
                "d": "2024-01-01",
                "t": "2024-01-01 10:00",
                "s": "é",
                "c": "x",
            },
            {
                "b": "no",
                "i": "2",
                "r": "0.7",
                "d": "2024-01-02",
                "t": "2024-01-01 10:30",
                "s": "ab",
                "c": "x",
            },
        ]
        draft = infer(rows, name="t", from_data=True, types={"c": "category"})
        assert dict(draft.columns) == {
            "b": Boolean(),
            "i": Integer(1, 2),
            "r": Real("0.1", "0.7"),
            "d": Date("2024-01-01", "2024-01-02"),
            "t": Timestamp("2024-01-01T10:00:00", "2024-01-01T10:30:00"),
            "s": Text(2),
            "c": "category",
        }
        assert draft.needs_word == tuple(f"columns.{name}" for name in "irdts")

    def test_one_value_makes_no_bounds_so_it_stays_open(self):
        row = {
            "i": 1,
            "r": 1.5,
            "d": date(2024, 1, 1),
            "t": datetime(2024, 1, 1),
            "n": None,
            "v": 1,
        }
        kinds = {"n": "real", "v": "text"}
        draft = infer([row], name="t", unit=Rows(), from_data=True, types=kinds)
        assert list(draft.open) == [f"columns.{name}" for name in "irdtn"]
        assert draft.needs_word == ("columns.v",)

    def test_kinds_without_extremes_stay_open(self):
        rows = [{"i": "x", "r": "x", "d": "x", "t": "x"}]
        draft = infer(
            rows,
            name="t",
            from_data=True,
            types={"i": "integer", "r": "real", "d": "date", "t": "timestamp"},
        )
        assert len(draft.open) == 5

    def test_people_without_a_bound_are_open(self):
        draft = infer(WEEK, people="VisitorId")
        assert draft.open["unit"] == "say max_rows, the most rows of one person that may count"
        assert 'unit = { kind = "people", id = "VisitorId" }  # say max_rows' in draft.to_toml()
        with pytest.raises(InvalidArgument, match=r"unit\.max_rows is missing|columns.*is missing"):
            schemas_from_toml(draft.to_toml())

    def test_nobody_in_the_file_leaves_the_bound_open(self):
        draft = infer(
            [{"id": None, "x": 1}, {"id": "", "x": 2}], name="t", people="id", from_data=True
        )
        assert draft.unit == "id"
        assert "unit" in draft.open

    def test_an_id_is_no_column_unless_it_is_declared(self):
        rows = [{"id": 1, "x": 1}]
        unit = People("id", max_rows=2)
        assert [name for name, _ in infer(rows, name="t", unit=unit).columns] == ["x"]
        assert [
            name
            for name, _ in infer(rows, name="t", unit=unit, columns={"id": Integer(0, 9)}).columns
        ] == [
            "id",
            "x",
        ]

    def test_other_facts_are_passed_on(self):
        draft = infer([{"x": True}], name="t", unit=Rows(), neighbours="replace", version="June")
        assert draft.schema() == Schema(
            "t", Rows(), {"x": Boolean()}, neighbours="replace", version="June"
        )

    @pytest.mark.parametrize(
        ("stem", "name"), [("my people", "my_people"), ("2024", "table_2024"), ("a-b.c", "a_b_c")]
    )
    def test_is_named_after_its_file(self, stem, name, tmp_path):
        assert infer(write(tmp_path / f"{stem}.csv", "x\n1\n")).name == name

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"name": None}, "rows have no name; say name='people'"),
            ({"unit": Rows(), "people": "x"}, "give the unit, or only the people's id, not both"),
            ({"people": "id"}, "there is no column 'id' to tell people by; there are x"),
            ({"unit": People("id", max_rows=2)}, "there is no column 'id'"),
            ({"columns": {"y": Boolean()}}, "there is no column 'y'; there are x"),
            ({"types": {"y": "text"}}, "there is no column 'y'"),
            ({"types": {"x": "number"}}, "'number' is no kind of column; use one of integer, real"),
            ({"leave_out": ["y"]}, "there is no column 'y'"),
            ({"neighbours": "swap"}, "neighbours must be"),
            ({"name": "my people"}, "a table's name must be an identifier"),
            ({"version": ""}, "version must be a short text"),
            (
                {
                    "columns": {"x": Integer(0, 9)},
                    "unit": People("x", max_rows=2, window=("x", "day")),
                },
                "the window's column 'x' must be declared as a Timestamp or a Date",
            ),
            ({"unit": People("x", max_rows=2)}, "needs columns"),
        ],
    )
    def test_refusals_are_clear(self, options, words):
        with pytest.raises(InvalidArgument, match=words):
            infer([{"x": 1}], **{"name": "t", **options})


class TestAnswers:
    def test_bounds(self):
        assert read_bounds("integer", "0:120") == Integer(0, 120)
        assert read_bounds("integer", "-5..5") == Integer(-5, 5)
        assert read_bounds("integer", "0:0.5") == Real(0, 0.5)
        assert read_bounds("integer", "0:500:5") == Real(0, 500, step=5)
        assert read_bounds("real", "0:1/3") == Real(0, "1/3")
        assert read_bounds("date", "2024-01-01 : 2024-12-31") == Date("2024-01-01", "2024-12-31")
        assert read_bounds("timestamp", "2024-01-01T00:00:00..2024-01-02T00:00:00") == Timestamp(
            "2024-01-01T00:00:00", "2024-01-02T00:00:00"
        )

    @pytest.mark.parametrize(
        ("kind", "answer"),
        [
            ("integer", "120"),
            ("text", "0:9"),
            ("date", "a:b:c"),
            ("timestamp", "2024-01-01T00:00:00:2024-01-02T00:00:00"),
        ],
    )
    def test_others_are_refused_with_what_would_work(self, kind, answer):
        with pytest.raises(
            InvalidArgument, match=f"are no bounds for a column of kind {kind}; write 0:120"
        ):
            read_bounds(kind, answer)

    def test_keys_and_lengths(self):
        assert read_key_list("integer", "1,-2") == Category([1, -2])
        assert read_key_list("text", "1, 2") == Category(["1", "2"])
        assert read_max_length("20") == Text(20)
        with pytest.raises(InvalidArgument, match="mix integer and text"):
            read_key_list("integer", "1,x")
        with pytest.raises(InvalidArgument, match="the length must be a whole number"):
            read_max_length("2.5")

    def test_name_a_column(self):
        assert split_answer("a=b=c", ["a", "a=b"]) == ("a=b", "c")
        with pytest.raises(
            InvalidArgument, match="'z=1' names no column; write NAME=ANSWER, with one of a, b"
        ):
            split_answer("z=1", ["a", "b"])


class TestSources:
    """The same draft from every source, and declarations for cells that are written in another way."""

    ROWS = [{"age": 37, "paid": 12.5, "day": "31/12/2024", "cost": "1,688.80"}] * 3

    def test_frames_and_stored_tables(self, tmp_path):
        table = pa.Table.from_pylist(self.ROWS)
        pq.write_table(table, tmp_path / "people.parquet")
        with duckdb.connect(str(tmp_path / "company.duckdb")) as connection:
            connection.execute("CREATE SCHEMA sales")
            connection.register("given", table)
            connection.execute("CREATE TABLE sales.people AS FROM given")
        places = [tmp_path / "people.parquet", f"{tmp_path}/company.duckdb#sales.people"]
        wanted = infer(self.ROWS, name="people")
        for source in (
            *places,
            table,
            pd.DataFrame(self.ROWS),
            pl.DataFrame(self.ROWS),
            pl.DataFrame(self.ROWS).lazy(),
        ):
            named = {} if isinstance(source, str | Path) else {"name": "people"}
            assert infer(source, **named) == wanted

    def test_proposes_how_cells_are_written(self):
        said = infer(self.ROWS, name="people").open
        assert said["columns.cost"] == "say low and high; declare thousands=','"
        assert said["columns.day"] == "say low and high; declare format='%d/%m/%Y'"
        assert said["columns.paid"] == "say low and high; step = 0.1 fits its decimals"
        assert "thousands" in infer(self.ROWS, name="people").to_toml()

    def test_proposes_units_and_takes_no_code_for_a_number(self):
        cells = [
            {"mass": "12 kg", "share": "7%", "code": "12AB", "price": "€ 1.688,80"},
            {"mass": "3", "share": "81%"},
        ]
        said = infer(cells, name="people").open
        assert said["columns.mass"] == "say low and high; declare unit='kg'"
        assert said["columns.share"] == "say low and high; declare unit='%'"
        assert (
            said["columns.price"]
            == "say low and high; declare thousands='.', decimal=',', unit='€'"
        )
        assert said["columns.code"] == "say max_length"

    @pytest.mark.parametrize("name", ["no.parquet", "no.duckdb#t"])
    def test_refuses_what_is_not_there(self, tmp_path, name):
        with pytest.raises(InvalidArgument, match="no."):
            infer(f"{tmp_path}/{name}")

    def test_no_cell_is_in_a_refusal(self, tmp_path):
        """A view that fails on a late row: the words of the library would have its cell."""
        place = tmp_path / "company.duckdb"
        with duckdb.connect(str(place)) as connection:
            cells = "CASE WHEN i = 5000 THEN 'secret' ELSE i::varchar END"
            connection.execute(f"CREATE TABLE t AS SELECT {cells} AS s FROM range(6000) r(i)")
            connection.execute("CREATE VIEW v AS SELECT CAST(s AS INTEGER) AS n FROM t")
        with pytest.raises(InvalidArgument, match="has a row that cannot be read") as refused:
            infer(f"{place}#v", name="v", from_data=True)
        assert "secret" not in str(refused.value)


class TestWritten:
    def test_refuses_marks_and_formats(self):
        for column in (
            lambda: dp.Real(0, 1, thousands="x"),
            lambda: dp.Real(0, 1, thousands="."),
            lambda: dp.Real(0, 1, decimal="'"),
            lambda: dp.Integer(0, 9, thousands=",,"),
            *(
                lambda unit=unit: dp.Real(0, 1, unit=unit)
                for unit in ("e", "E", "", "5", "k g", "+", "a" * 17, 7, "[", "\\")
            ),
            lambda: dp.Date("2020-01-01", "2021-01-01", format="%d/%m"),
            lambda: dp.Date("2020-01-01", "2021-01-01", format="%d/%m/%y"),
            lambda: dp.Timestamp(
                "2020-01-01T00:00:00", "2021-01-01T00:00:00", format="%d/%m/%Y %H"
            ),
        ):
            with pytest.raises(InvalidArgument):
                column()
        for code in ("y", "b", "B"):
            with pytest.raises(
                InvalidArgument, match=f"format cannot hold %{code}: .*try_strptime"
            ):
                dp.Date("2020-01-01", "2021-01-01", format=["%Y-%m-%d", f"%d.%m.%{code}"])

    def test_a_unit_is_a_fact_of_a_schema_and_older_ones_keep_their_fingerprints(self):
        with_unit, without = (
            dp.Schema("p", dp.Rows(), {"x": dp.Real(0, 9, unit=unit)}) for unit in ("kg", None)
        )
        assert dp.Schema.from_dict(with_unit.to_dict()) == with_unit != without
        assert "unit" not in without.to_dict()["columns"]["x"]

    def test_what_is_no_text_is_read_as_ever(self):
        assert dp.Real(0, 5000, thousands=",").read(7.5) == Fraction(15, 2)
        assert dp.Date("2020-01-01", "2021-01-01", format="%d/%m/%Y").read(
            date(2020, 5, 1)
        ) == date(2020, 5, 1)
        assert dp.Integer(0, 9, thousands=",").read(True) == 1


def test_a_compressed_file_is_read_as_it_was_before(tmp_path):
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(b"age;zip\n37;0152\n"))
    draft = infer(tmp_path / "people.csv.gz", unit=Rows())
    assert draft.name == "people"
    assert draft.open == {"columns.age": "say low and high", "columns.zip": "say max_length"}
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"age;zip\n37;0152\n")[:-9])
    with pytest.raises(InvalidArgument, match="cut.csv.gz cannot be read"):
        infer(tmp_path / "cut.csv.gz", unit=Rows())
