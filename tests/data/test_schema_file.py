"""Schema files: TOML that people write, read and written without loss."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from data.strategies import given, schemas
from discreet.data import (
    Category,
    Date,
    Integer,
    Real,
    Rows,
    Schema,
    Timestamp,
    read_schemas,
    schemas_from_toml,
    schemas_to_toml,
    write_schemas,
)
from discreet.data.files.schema_file import toml_key, toml_value
from discreet.errors import InvalidArgument

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.booleans() | st.integers(-(2**63), 2**63 - 1) | ANY_TEXT
TEXT = """
format = 1

[tables.people]
version = "2024-06"
unit = { kind = "people", id = "user_id", max_rows = 10, window = ["seen", "month"] }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
paid = { type = "real", low = 0, high = 1e3, step = 0.01 }
third = { type = "real", low = 0, high = "1/3" }
joined = { type = "date", low = 2024-01-01, high = "2024-12-31" }
seen = { type = "timestamp", low = 2024-01-01T00:00:00Z, high = 2024-12-31T23:59:59 }
"Time entered" = { type = "category", values = ["9:27AM", "say \\"hi\\""] }

[tables.wards]
public = true
key = ["ward"]
columns = { ward = { type = "integer", low = 1, high = 40 } }
"""


class TestRoundTrip:
    @given(st.lists(schemas(), min_size=1, max_size=3, unique_by=lambda schema: schema.name))
    def test_nothing_is_lost(self, several):
        twins = schemas_from_toml(schemas_to_toml(several), draft=True)
        assert twins == tuple(several)
        assert [repr(twin.declared) for twin in twins] == [
            repr(schema.declared) for schema in several
        ]

    def test_through_a_file(self, tmp_path):
        schema = Schema(
            "people", Rows(), {"naïve": Real(0, Fraction(1, 3), step="1/7")}, version="Jänner"
        )
        write_schemas(tmp_path / "people.toml", [schema])
        assert read_schemas(tmp_path / "people.toml") == (schema,)

    @given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner)))
    def test_the_writer_writes_what_the_standard_library_reads(self, value):
        assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value

    @given(st.floats(allow_nan=False, allow_infinity=False), ANY_TEXT)
    def test_numbers_and_keys_are_read_back(self, number, key):
        assert tomllib.loads(f"{toml_key(key)} = {toml_value(number)}") == {key: number}


class TestReading:
    def test_several_tables_in_order(self):
        people, wards = schemas_from_toml(TEXT)
        assert (people.name, people.version, wards.public, wards.key) == (
            "people",
            "2024-06",
            True,
            ("ward",),
        )
        assert people.columns["paid"] == Real(0, 1000, step=0.01)
        assert people.columns["third"].high == Fraction(1, 3)
        assert people.columns["joined"] == Date(date(2024, 1, 1), date(2024, 12, 31))
        assert people.columns["seen"] == Timestamp(
            datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 59, 59)
        )
        assert people.columns["Time entered"] == Category(["9:27AM", 'say "hi"'])
        assert people.unit.window == ("seen", "month")

    def test_decimals_are_exact_however_long(self):
        text = TEXT.replace("1e3", "1000.00000000000000000000001")
        assert schemas_from_toml(text)[0].columns["paid"].high == 1000 + Fraction(1, 10**23)

    def test_a_mark_stops_the_reading_until_it_is_removed(self):
        marked = TEXT.replace("high = 120", "high = 120, needs_word = true")
        with pytest.raises(
            InvalidArgument, match=r"here\.toml: people is a draft: columns\.age came from the data"
        ):
            schemas_from_toml(marked, where="here.toml")
        (people, _) = schemas_from_toml(marked, draft=True)
        assert people.needs_word == ("columns.age",)
        with pytest.raises(InvalidArgument, match="people is a draft"):
            people.ready()
        assert schemas_from_toml(
            marked.replace("needs_word = true", "needs_word = false")
        ) == schemas_from_toml(TEXT)

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("format = 1", "", "f.toml: format is missing; this version reads format = 1"),
            (
                "format = 1",
                "format = 1\ncolour = 2",
                "f.toml: colour is not known here; write format = 1 and",
            ),
            ("format = 1", "format = ", "f.toml is no TOML: .*line 2"),
            ("high = 120", "", "f.toml is no TOML"),
            (
                ", high = 120",
                "",
                "f.toml: tables.people.columns.age.high is missing; write it, such as high = 120",
            ),
            (
                "high = 120",
                "high = -1",
                "f.toml: tables.people.columns.age: Integer needs low < high",
            ),
            (
                "high = 120",
                "high = nan",
                "f.toml: tables.people.columns.age: high must be a finite number",
            ),
            (
                "high = 120",
                "high = inf",
                "f.toml: tables.people.columns.age: high must be a finite number",
            ),
            (
                "high = 120",
                'high = "many"',
                "f.toml: tables.people.columns.age: high must be a finite number",
            ),
            (
                "high = 120",
                "most = 120",
                "f.toml: tables.people.columns.age.most is not known here",
            ),
            ('"2024-06"', "2024-06-01", "f.toml: tables.people: version must be a short text"),
            (
                '["seen", "month"]',
                '["age", "month"]',
                "f.toml: tables.people: the window's column 'age' must be",
            ),
            (
                'key = ["ward"]',
                'key = ["city"]',
                "f.toml: tables.wards: the key 'city' must be one of the columns",
            ),
            (
                "[tables.wards]",
                '[tables."the wards"]',
                "f.toml: tables.the wards: a table's name must be",
            ),
        ],
    )
    def test_a_refusal_names_the_file_and_the_key(self, old, new, words):
        with pytest.raises(InvalidArgument, match=words):
            schemas_from_toml(TEXT.replace(old, new, 1), where="f.toml")

    @pytest.mark.parametrize(
        "text", ["format = 1", "format = 1\ntables = 3", "format = 1\n[tables]"]
    )
    def test_a_file_without_tables_is_refused(self, text):
        with pytest.raises(
            InvalidArgument, match="schema: there are no tables; write format = 1 and"
        ):
            schemas_from_toml(text)

    def test_a_file_that_cannot_be_read_is_refused(self, tmp_path):
        (tmp_path / "latin.toml").write_bytes(b"# \xe9")
        for name in ("none.toml", "latin.toml", "."):
            with pytest.raises(
                InvalidArgument, match="cannot be read; give the path of a TOML file"
            ):
                read_schemas(tmp_path / name)


class TestWriting:
    def test_no_table_or_a_name_twice_is_refused(self):
        schema = Schema("people", Rows(), {"age": Integer(0, 120)})
        with pytest.raises(InvalidArgument, match="at least one table, each name once; got none"):
            schemas_to_toml([])
        with pytest.raises(InvalidArgument, match="each name once; got people"):
            schemas_to_toml([schema, schema])

    def test_a_file_looks_as_people_would_write_it(self):
        schema = Schema(
            "people", Rows(), {"age": Integer(0, 120), "my pay": Real(0, 0.5, step=0.01)}, size=7
        )
        assert schemas_to_toml([schema]).splitlines() == [
            "format = 1",
            "",
            "[tables.people]",
            'version = "1"',
            'neighbours = "add-remove"',
            "size = 7",
            'unit = { kind = "rows" }',
            "",
            "[tables.people.columns]",
            'age = { type = "integer", low = 0, high = 120 }',
            '"my pay" = { type = "real", low = 0, high = 0.5, step = 0.01 }',
        ]
