"""Schemas: values that say who is protected and what is public, and refuse what is not declared."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import discreet as dp
from data.strategies import given, schemas
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
)
from discreet.errors import InvalidArgument, SchemaMismatch

AGE = {"age": Integer(0, 120)}
SEEN = {
    "seen": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
    "joined": Date("2024-01-01", "2024-12-31"),
}


class TestEverySchema:
    """A schema is a value, and plain values hold all of it."""

    @given(schemas())
    def test_is_a_value(self, schema):
        twin = pickle.loads(pickle.dumps(schema))
        assert twin == schema
        assert hash(twin) == hash(schema)

    @given(schemas())
    def test_goes_through_json_without_loss(self, schema):
        twin = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
        assert twin == schema
        assert repr(twin.declared) == repr(
            schema.declared
        )  # 1 and True are equal, but not the same key

    @given(schemas())
    def test_shows_itself(self, schema):
        assert str(schema).startswith(f"{schema.name}: ")
        assert len(str(schema).split("\n")) == 1 + len(schema.declared)
        html = schema._repr_html_()
        assert html.count("<tr>") == 1 + len(schema.declared)
        assert repr(schema).startswith(f"<Schema {schema.name}")

    @given(schemas())
    def test_is_ready_or_a_draft(self, schema):
        if schema.needs_word:
            with pytest.raises(InvalidArgument, match=r"is a draft: .* came from the data"):
                schema.ready()
        else:
            assert schema.ready() is schema


class TestShown:
    def test_as_text(self):
        schema = Schema(
            "people",
            People("id", max_rows=3),
            {
                "age": Integer(0, 120, default=0),
                "paid": Real(0, "0.5", step=0.01, default=0.25),
                "ward": Category(range(20), null_key=True),
                "seen": Date("2024-01-01", "2024-12-31", default="2024-01-01"),
                "note": Text(9),
                "ok": Boolean(),
            },
            size=1000,
            needs_word=["unit", "columns.note"],
        )
        assert str(schema).splitlines() == [
            "people: private, the unit is one person (id), at most 3 rows (from the data, needs the steward's word), "
            "add-remove neighbours, 1000 units, version 1",
            "  age   integer   0 to 120                               NULL is 0",
            "  paid  real      0 to 0.5, step 1/100                   NULL is 0.25",
            "  ward  category  0, 1, 2, 3, 4, 5, 6, 7, … (20 in all)  NULL is a key",
            "  seen  date      2024-01-01 to 2024-12-31               NULL is 2024-01-01",
            "  note  text      at most 9 characters                   "
            "NULL absent; from the data, needs the steward's word",
            "  ok    boolean   no, yes                                NULL absent",
        ]

    def test_names_and_keys_are_escaped(self):
        html = Schema("t", Rows(), {"a<b": Category(["<script>"])})._repr_html_()
        assert "<script>" not in html
        assert "a&lt;b" in html

    def test_public_tables_have_no_unit(self):
        wards = Schema.public_table("wards", {"ward": Integer(1, 9)}, key="ward")
        assert str(wards).startswith("wards: public, unique by ward, version 1\n")
        assert str(Schema.public_table("wards", AGE)).startswith("wards: public, version 1\n")
        assert wards.unit is None
        most = Schema.public_table("wards", AGE, max_rows={"age": 3})
        assert str(most).startswith("wards: public, at most 3 rows with one age, version 1\n")


def test_the_former_name_of_the_fan_out_still_works_and_warns():
    wards = dp.Schema.public_table("wards", {"ward": dp.Integer(1, 40)}, key=("ward",))
    with pytest.warns(DeprecationWarning, match="is now Schema.max_matches"):
        assert wards.most_matches(["ward"]) == wards.max_matches(["ward"]) == 1


class TestColumns:
    def test_are_found_in_any_case(self):
        schema = Schema("people", Rows(), {"Age": Integer(0, 120), "Time spent": Integer(0, 9)})
        assert schema.column("aGE") == ("Age", Integer(0, 120))
        assert schema.columns["Time spent"] == Integer(0, 9)

    def test_a_column_that_is_not_there_is_named_with_the_nearest(self):
        schema = Schema("people", Rows(), {"age": Integer(0, 120), "income": Real(0, 1)})
        with pytest.raises(
            SchemaMismatch,
            match=r"people has no column 'agee'; it has age, income; did you mean age\?",
        ):
            schema.column("agee")
        with pytest.raises(SchemaMismatch, match=r"it has age, income$"):
            schema.column("zzz")

    def test_changing_the_mapping_does_not_change_the_schema(self):
        given = dict(AGE)
        schema = Schema("people", Rows(), given)
        given["more"] = Boolean()
        schema.columns["more"] = Boolean()
        assert list(schema.columns) == ["age"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (
                lambda: Schema("people", columns=AGE),
                "people needs a unit: who is protected.*unit=Rows",
            ),
            (lambda: Schema("people", "rows", AGE), "people needs a unit"),
            (lambda: Schema("people", Rows()), "people needs columns with public bounds, such as"),
            (lambda: Schema("people", Rows(), {}), "people needs columns"),
            (lambda: Schema("people", Rows(), [("age", AGE)]), "people needs columns"),
            (lambda: Schema("people", Rows(), {"age": int}), "declared by a type such as Integer"),
            (
                lambda: Schema("people", Rows(), {"age ": AGE["age"]}),
                "a column needs a printable name",
            ),
            (lambda: Schema("people", Rows(), {3: AGE["age"]}), "a column needs a printable name"),
            (
                lambda: Schema("people", Rows(), {**AGE, "AGE": AGE["age"]}),
                "differ only in case; rename one",
            ),
            (
                lambda: Schema("my people", Rows(), AGE),
                "must be an identifier.*got 'my people'; try 'people'",
            ),
            (lambda: Schema("naïve", Rows(), AGE), "must be an identifier"),
            (lambda: Schema("people\n", Rows(), AGE), "must be an identifier"),
            (lambda: Schema("p" * 64, Rows(), AGE), "must be an identifier"),
            (lambda: Schema(None, Rows(), AGE), "must be an identifier"),
            (lambda: Schema("people", Rows(), AGE, neighbours="swap"), "'add-remove' or 'replace'"),
            (
                lambda: Schema("people", Rows(), AGE, public=True),
                "public, so nobody in it is protected",
            ),
            (lambda: Schema("people", Rows(), AGE, public="yes"), "public must be True or False"),
            (
                lambda: Schema("people", Rows(), AGE, key="age"),
                "only a public table may state a key",
            ),
            (
                lambda: Schema("people", Rows(), AGE, size=0),
                "size must be a whole number of at least 1",
            ),
            (
                lambda: Schema("people", None, AGE, public=True, size=3),
                "a public table states no size",
            ),
            (
                lambda: Schema("people", Rows(), AGE, version=1),
                "version must be a short text such as '2024-06'",
            ),
            (lambda: Schema("people", Rows(), AGE, version=" "), "version must be a short text"),
            (
                lambda: Schema("people", Rows(), AGE, needs_word=["columns.x"]),
                "some of unit, columns.age",
            ),
            (lambda: Schema("people", Rows(), AGE, needs_word="unit"), "some of unit, columns.age"),
            (
                lambda: Schema("people", Rows(), AGE, max_rows={"age": 3}),
                "only a public table states max_rows",
            ),
            (lambda: Schema.public_table("wards", AGE, max_rows=3), "by column"),
            (
                lambda: Schema.public_table("wards", AGE, max_rows={"ward": 3}),
                "'ward', which is no column",
            ),
            (lambda: Schema.public_table("wards", AGE, max_rows={"age": 0}), "max_rows of age"),
            (
                lambda: Schema.public_table("wards", AGE, key="ward"),
                "'ward' must be one of the columns, once",
            ),
            (
                lambda: Schema.public_table("wards", AGE, key=["age", "age"]),
                "must be one of the columns, once",
            ),
            (
                lambda: Schema.public_table("wards", AGE, key=[["age"]]),
                "must be one of the columns, once",
            ),
            (lambda: Schema.public_table("wards", AGE, key=3), "must be one of the columns, once"),
            (
                lambda: Schema("people", People("id", max_rows=2, window=("age", "day")), AGE),
                "the window's column 'age' must be declared as a Timestamp or a Date; no such column is declared",
            ),
            (
                lambda: Schema("people", People("id", max_rows=2, window=("when", "day")), SEEN),
                "'when' must be declared .*; there is seen, joined",
            ),
            (
                lambda: Schema("people", People("id", max_rows=2, window=("joined", "hour")), SEEN),
                "'joined' is a Date, which has no hours; use 'day'",
            ),
        ],
    )
    def test_are_clear(self, make, words):
        with pytest.raises(InvalidArgument, match=words):
            make()

    def test_a_window_over_a_time_is_fine(self):
        assert Schema(
            "visits", People("id", max_rows=2, window=("seen", "hour")), SEEN
        ).unit.window == ("seen", "hour")


GOOD = Schema("people", People("id", max_rows=2), {"age": Integer(0, 120)}).to_dict()


def changed(path: str, value: object) -> dict:
    """Copy the plain values with one changed, at a dotted path; None removes it."""
    facts = json.loads(json.dumps(GOOD))
    *outer, last = path.split(".")
    inner = facts
    for key in outer:
        inner = inner[key]
    inner[last] = value
    if value is None:
        del inner[last]
    return facts


class TestPlainValues:
    @pytest.mark.parametrize(
        ("path", "value", "words"),
        [
            ("format", None, "format is missing; this version reads format = 1"),
            ("format", 2, "format is 2; this version reads format = 1"),
            ("name", None, "schema: a table's name must be an identifier"),
            (
                "colour",
                1,
                "schema.colour is not known here; what may stand here: version, neighbours",
            ),
            ("columns", 3, "schema.columns must be a table of names and values, got int"),
            ("columns", None, "schema: people needs columns"),
            ("columns.age", [], "schema.columns.age must be a table"),
            (
                "columns.age.type",
                None,
                "schema.columns.age.type is missing; use one of integer, real",
            ),
            (
                "columns.age.type",
                "int",
                "schema.columns.age.type is 'int'; use one of integer, real",
            ),
            ("columns.age.type", ["int"], "schema.columns.age.type is"),
            (
                "columns.age.low",
                None,
                "schema.columns.age.low is missing; write it, such as low = 0",
            ),
            (
                "columns.age.low",
                200,
                "schema.columns.age: Integer needs low < high, got 200 and 120",
            ),
            (
                "columns.age.hihg",
                200,
                "schema.columns.age.hihg is not known here; what may stand here: low, high",
            ),
            (
                "columns.age.needs_word",
                "yes",
                "schema.columns.age.needs_word must be True or False",
            ),
            ("unit", None, "schema: people needs a unit"),
            ("unit", "rows", "schema.unit must be a table of names and values, got str"),
            (
                "unit",
                {"kind": "rows", "max_rows_per_group": 2},
                'max_rows_per_group is a cap on the rows of a person, .* or declare kind = "people"',
            ),
            ("unit.kind", "crowd", 'schema.unit.kind must be "rows" or "people"'),
            (
                "unit.kind",
                "rows",
                "schema.unit.max_rows is a cap on the rows of a person, and the unit is one row",
            ),
            (
                "unit.max_rows",
                None,
                "schema.unit.max_rows is missing; write it, such as max_rows = 10",
            ),
            ("unit.max_rows", 0, "schema.unit: max_rows must be"),
            ("neighbours", "swap", "schema: neighbours must be"),
        ],
    )
    def test_a_refusal_names_the_path(self, path, value, words):
        with pytest.raises(InvalidArgument, match=words):
            Schema.from_dict(changed(path, value))

    def test_what_is_no_mapping_is_refused(self):
        with pytest.raises(
            InvalidArgument, match="the schema must be a table of names and values, got list"
        ):
            Schema.from_dict([])
        with pytest.raises(InvalidArgument, match="must be a table of names"):
            Schema.from_dict({1: 2})


def test_the_room_brings_nothing_heavy():
    script = "import discreet.data, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"scipy", "typer", "rich", "pandas", "duckdb"} & set(loaded)


def test_marks_of_a_draft_may_come_from_a_generator():
    """A mark that is read twice is lost, and the draft would count as declared."""
    marks = (path for path in ["columns.yes"])
    schema = dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}, needs_word=marks)
    assert schema.needs_word == ("columns.yes",)
