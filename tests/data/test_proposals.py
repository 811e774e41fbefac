"""Proposals for messy columns: counted before they are given, and never harmful."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import strategies as st

import discreet as dp
from data.strategies import given
from discreet.data import infer, schemas_from_toml, schemas_to_toml
from discreet.data.columns.outcome import CLIPPED, MISSING, UNLISTED, UNREADABLE, outcome
from discreet.data.drafting.forms import day_formats
from discreet.data.drafting.guess import guess
from discreet.data.drafting.known import MISSING_MARKS, UNITS, is_missing_mark
from discreet.data.drafting.proposals import effect_of, is_mended, propose_from, resembled_key
from discreet.data.drafting.sniff import sniff
from discreet.errors import InvalidArgument

DAYS = dp.Date("2020-01-01", "2024-12-31")
KEYS = ["emergency", "intensive care", "Straße"]
COLUMNS = (
    dp.Integer(0, 120),
    dp.Real(0, 300, step="0.01"),
    dp.Real(-5, 5, step="1/7", decimal=",", default=1),
    dp.Integer(0, 9000, thousands=",", outside="null"),
    DAYS,
    dp.Date("2020-01-01", "2024-12-31", format=["%d.%m.%Y", "%Y%m%d"]),
    dp.Timestamp("2020-01-01T00:00:00", "2024-12-31T00:00:00"),
    dp.Category(KEYS),
    dp.Category(KEYS, other=True, fold=True),
    dp.Category([0, 1, 99]),
    dp.Boolean(),
    dp.Text(5),
)
CELLS = (
    ["12", "1,234", "1.234", "1.234,50", "12,5", "1 688", "999", "-1", "180 lb", "80 kg", "80KG", "3 st", "n/a", "", " ", "?", "12.5", "1e3", "2023-12-31",
     "31.12.2023", "12/31/2023", "31/12/2023", "01/02/2023", "20231231", "1900-01-01", "2031-01-01", "2023-12-31T10:00:00", "31.12.2023 10:00",
     "emergency", " Emergency", "EMERGENCY", "emergancy", "emerg.", "I.C.", "ICU", "strasse", "STRASSE ", "yes", "no", "ja", "0", "1", "99", "7", "é" * 9]
)  # fmt: skip


def texts(name, column, cells):
    return [proposal.text for proposal in propose_from(name, column, cells)]


class TestOutcomes:
    @pytest.mark.parametrize(
        ("column", "cells"),
        [
            (dp.Integer(0, 120, null=["-"]), {"7": None, "-": MISSING, "x": UNREADABLE, "121": CLIPPED, "120.4": None, "120.6": CLIPPED}),
            (dp.Integer(0, 120, default=3), {"x": UNREADABLE, "-1": CLIPPED}),
            (dp.Category(["a"], other=True, null=["?"]), {"a": None, "A": UNLISTED, "?": MISSING}),
            (dp.Category(["a"], fold=True, null=["N/A"]), {"A": None, "n/a": MISSING, "b": UNLISTED}),
            (dp.Category([1, 2]), {"1": None, "1.0": None, "3": UNLISTED}),
            (dp.Text(3, strip=True), {" abc ": None, "abcd": CLIPPED}),
            (dp.Boolean(), {"yes": None, "ja": UNREADABLE}),
            (DAYS, {"2024-12-31": None, "2025-01-01": CLIPPED, "31.12.2024": UNREADABLE}),
        ],
    )  # fmt: skip
    def test_of_every_kind(self, column, cells):
        assert {cell: outcome(column, cell) for cell in cells} == cells
        assert outcome(column, None) == MISSING


class TestKnownTables:
    def test_units_are_exact_and_can_be_declared(self):
        assert UNITS["lb"] == ("mass", "0.45359237")
        for unit, (dimension, factor) in UNITS.items():
            assert Fraction(factor) > 0, (dimension, unit)
            assert dp.Real(0, 9, units={unit: 1, "foo": factor}).units
        bases = {dimension for dimension, factor in UNITS.values() if factor == "1"}
        assert bases == {dimension for dimension, _ in UNITS.values()}

    def test_marks_are_in_small_letters_and_no_number_within_reach(self):
        assert all(mark == mark.casefold() for mark in MISSING_MARKS)
        assert not any(map(is_missing_mark, ("0", "1", "37", "100", "1999", "2023-12-31", "yes")))


class TestAdviceNeverHarms:
    """A proposal mends more cells than it loses or changes, counted again cell by cell; all together, too."""

    @given(
        st.sampled_from(COLUMNS),
        st.dictionaries(st.sampled_from(CELLS), st.integers(1, 60), max_size=25),
    )
    def test_on_any_cells(self, column, cells):
        now = column
        for proposal in propose_from("x", column, cells):
            after = proposal.declared
            was = {cell: outcome(now, cell) for cell in cells}
            became = {cell: outcome(after, cell) for cell in cells}
            mended = sum(n for cell, n in cells.items() if is_mended(was[cell], became[cell]))
            harmed = sum(
                n
                for cell, n in cells.items()
                if was[cell] is None and (became[cell] is not None or now.read(cell) != after.read(cell))
            )  # fmt: skip
            assert mended > harmed
            assert proposal.effect == effect_of(now, after, cells)
            assert (proposal.effect.mended, proposal.effect.gain) == (mended, mended - harmed)
            now = after
        unread = (UNREADABLE, UNLISTED)
        before = sum(n for cell, n in cells.items() if outcome(column, cell) in unread)
        assert sum(n for cell, n in cells.items() if outcome(now, cell) in unread) <= before

    def test_the_advice_that_was_wrong_is_not_given(self):
        """29,628 cells as 31.12.2023 among 176,278 as 2023-12-31: the ISO format is kept beside the other one."""
        cells = {"2023-12-31": 176_278, "31.12.2023": 29_628}
        (given_one,) = propose_from("seen", DAYS, cells)
        assert given_one.text == "format=['%Y-%m-%d', '%d.%m.%Y']"
        assert given_one.effect.counts == (29_628, 0, 0)

    def test_a_decimal_comma_that_would_break_more_is_not_given(self):
        assert texts("x", dp.Real(0, 99), {"1.5": 10, "1,5": 9}) == []
        assert texts("x", dp.Real(0, 99), {"1.5": 9, "1,5": 10}) == ["decimal=','"]

    def test_cells_that_would_change_their_value_count_as_broken(self):
        cells = {"1.234": 9, "1.234,50": 5}
        assert texts("x", dp.Real(0, 9999, step="0.001"), cells) == []

    def test_days_that_could_mean_two_are_left_to_the_steward(self):
        assert texts("x", DAYS, {"01/02/2023": 50, "2023-01-02": 9}) == []
        told = infer([{"x": "01/02/2023"}] * 3, name="t").open["columns.x"]
        assert told.endswith("declare format='%d/%m/%Y' or '%m/%d/%Y'")


class TestProposals:
    @pytest.mark.parametrize(
        ("name", "column", "cells", "wanted"),
        [
            ("w", dp.Real(0, 300), {"80": 9, "80 kg": 60, "180 lb": 50, "7lbs": 9}, ["units={'kg': 1, 'lb': 0.45359237, 'lbs': 0.45359237}"]),
            ("w_lb", dp.Real(0, 300), {"80 kg": 60, "180 lb": 50}, ["units={'kg': '100000000/45359237', 'lb': 1}"]),
            ("w", dp.Real(0, 300, unit="kg"), {"80 kg": 60, "180 lb": 50}, ["units={'kg': 1, 'lb': 0.45359237}"]),
            ("w", dp.Real(0, 300), {"80 kg": 60, "3 km": 50}, ["unit='kg'"]),
            ("w", dp.Real(0, 300), {"80 foo": 60}, []),
            ("w", dp.Real(0, 9000), {"1,500.5 lb": 6, "80 kg": 9}, ["thousands=',', units={'lb': 0.45359237, 'kg': 1}"]),
            ("p", dp.Real(0, 9000), {"1.688,80 €": 6, "12,5 €": 9}, ["thousands='.', decimal=',', unit='€'"]),
            ("p", dp.Integer(0, 9000), {"1 688": 6, "7": 9}, ["thousands=' '"]),
            ("p", dp.Real(0, 30), {"11,427": 6, "7": 9}, ["decimal=','"]),
            ("p", dp.Real(0, 30000), {"11,427": 6, "7": 9}, ["thousands=','"]),
            ("p", dp.Real(0, 5), {"11,427.5": 6, "7": 9}, ["thousands=','"]),
            ("age", dp.Integer(0, 120), {"37": 90, "999": 8, "n/a": 3, "  ": 2, "130": 2}, ["null=['', '999', 'n/a']"]),
            ("age", dp.Integer(0, 90), {"37": 90, "99": 1, "97": 1, "98": 2}, []),
            ("k", dp.Category(KEYS), {"Emergency ": 3, "EMERGENCY": 2, "x": 9}, ["strip=True, fold=True"]),
            ("k", dp.Category(KEYS), {" emergency": 3, "x": 9}, ["strip=True"]),
            ("k", dp.Category(KEYS), {"emerg.": 20, "I.C.": 30, "emergancy": 19}, ["aliases={'emerg.': 'emergency', 'I.C.': 'intensive care'}"]),
            ("b", dp.Boolean(), {"yes": 3, "n/a": 2}, ["null=['n/a']"]),
        ],
    )  # fmt: skip
    def test_by_forms(self, name, column, cells, wanted):
        assert texts(name, column, cells) == wanted

    def test_three_formats(self):
        cells = {"2023-12-31": 9, "31.12.2023": 8, "12/31/2023": 7, "01/02/2023": 7}
        column = propose_from("seen", DAYS, cells)[-1].declared
        assert column == dp.Date(
            "2020-01-01", "2024-12-31", format=["%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y"]
        )

    def test_a_report_shows_forms_of_aliases(self):
        (proposal,) = propose_from("k", dp.Category(KEYS), {"emergancy": 20})
        assert proposal.masked == "aliases={'aaaaaaaaa': 'emergency'}"
        assert proposal.facts == ("columns.k.aliases",)

    def test_keys_that_numbers_tell_apart_resemble_nothing(self):
        assert resembled_key("ward 3", ["ward 1", "ward 2"]) is None
        assert resembled_key("ward1", ["ward 1", "ward 2"]) == "ward 1"
        assert resembled_key("xy", ["xyz"]) is None
        assert resembled_key("abcde", ["abcdef", "abcdeg"]) is None

    @pytest.mark.parametrize(
        ("form", "formats"),
        [
            ("9999-99-99", ("%Y-%m-%d",)),
            ("99.99.9999 99:99:99", ("%d.%m.%Y %H:%M:%S", "%m.%d.%Y %H:%M:%S")),
            ("99.99-9999", ()),
            ("9999-99-99aa99:99", ()),
            ("9.9.9999", ()),
        ],
    )
    def test_formats_of_forms(self, form, formats):
        assert day_formats(form) == formats


class TestGuess:
    def test_a_mixed_column_is_what_nine_of_ten_cells_are(self):
        def kind(*cells):
            return guess("x", sniff([{"x": cell} for cell in cells]).columns["x"]).kind

        assert kind(*["1,688"] * 9, "x") == "integer"
        assert kind(*["1,688.50"] * 9, "x") == "real"
        assert kind(*["1,688"] * 8, "x") == "text"
        assert kind(*["31.12.2023"] * 5, *["2023-12-31"] * 5, "n/a", "?") == "date"
        assert kind("31.12.2023 10:00", "2023-12-31T10:00:00") == "timestamp"
        assert kind("yes", "no", "n/a") == "boolean"
        assert kind("0152", "1,688") == "text"
        assert kind("n/a", "?") == "text"


class TestLookedAt:
    ROWS = [
        {"seen": day, "w": w} for day in ("2023-12-31", "31.12.2023") for w in ("80 kg", "7 lb")
    ]

    def draft(self):
        columns = {"seen": DAYS, "w": dp.Real(0, 300, step="0.01")}
        return infer(self.ROWS, name="t", unit=dp.Rows(), columns=columns, size=4)

    def test_is_written_read_and_shown(self):
        schema = self.draft().schema()
        assert schema.looked_at == ("columns.seen.format", "columns.w.units")
        assert schema.size == 4
        assert schemas_from_toml(self.draft().to_toml()) == (schema,)
        assert schemas_from_toml(schemas_to_toml([schema])) == (schema,)
        assert dp.Schema.from_dict(schema.to_dict()) == schema
        assert "(taken from the data: units)" in str(schema)
        assert schema.ready() is schema

    def test_explain_repeats_it(self):
        schema = self.draft().schema()
        curator = dp.Curator(
            dp.Memory({"t": self.ROWS}), [schema], dp.open_ledger(":memory:", dp.PureDP(3))
        )
        told = curator.explain("SELECT COUNT(*) AS n FROM t", spend=dp.PureDP(1))
        assert "taken from the data when the schema was written: t.seen.format, t.w.units" in str(
            told
        )
        assert told.to_dict()["warnings"]

    def test_open_columns_keep_what_is_proposed(self):
        text = infer(self.ROWS, name="t", unit=dp.Rows()).to_toml()
        assert (
            'seen = { type = "date", format = ["%Y-%m-%d", "%d.%m.%Y"], looked_at = ["format"] }'
            in text
        )
        assert "# size: how many are there" in text

    def test_is_not_written_where_nothing_was_taken(self):
        """Fingerprints of schemas without it stay."""
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        assert "looked_at" not in str(schema.to_dict())

    @pytest.mark.parametrize(
        "paths", [["columns.seen.null"], ["columns.x.format"], "columns.w", ["columns.seen.low"]]
    )
    def test_names_declared_facts_of_reading_only(self, paths):
        schema = self.draft().schema()
        with pytest.raises(InvalidArgument, match="looked_at must"):
            dp.Schema("t", dp.Rows(), schema.columns, looked_at=paths)

    def test_a_file_lists_facts(self):
        text = schemas_to_toml([self.draft().schema()])
        with pytest.raises(InvalidArgument, match=r"columns\.seen\.looked_at must list facts"):
            schemas_from_toml(text.replace('looked_at = ["format"]', 'looked_at = "format"'))
