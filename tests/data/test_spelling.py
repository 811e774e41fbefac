"""Declared spellings: the fold table is Unicode's within its scripts, and contradictions are refused."""

from __future__ import annotations

import unicodedata

import pytest

import discreet as dp
from discreet.data.columns.fold_table import fold_text
from discreet.errors import InvalidArgument
from oracles.spelled import fold_letter

LETTERS = [chr(point) for point in range(0x10000) if not 0xD800 <= point < 0xE000]
KG = {"kg": 1, "lb": "0.45359237"}


class TestFold:
    """Folding is a function of each letter, changes nothing twice, and does not tell é from e with an accent."""

    def test_every_letter_of_the_basic_plane(self):
        for letter in LETTERS:
            folded = fold_text(letter)
            assert folded == fold_letter(letter)
            assert fold_text(folded) == folded
            if folded != letter:
                assert fold_text(unicodedata.normalize("NFD", letter)) == folded


class TestRefusals:
    @pytest.mark.parametrize(
        ("declare", "reason"),
        [
            (lambda: dp.Category(["a"], aliases={"x": "b"}), "not a listed key"),
            (lambda: dp.Category(["a", "b"], aliases={"a": "b"}), "listed key and an alias"),
            (lambda: dp.Category(["a", "b"], fold=True, aliases={"X": "a", "x": "b"}), "means both"),
            (lambda: dp.Category(["a"], aliases={"x": "a"}, null=["x"]), "means NULL too"),
            (lambda: dp.Category(["a"], null=["a"]), "means NULL too"),
            (lambda: dp.Category([1, 2], null=["2"]), "means NULL too"),
            (lambda: dp.Category(["Köln", "KOLN"], fold=True), "make one key"),
            (lambda: dp.Category([1, 2], fold=True), "for lists of text"),
            (lambda: dp.Category(["a"], aliases={"x": 1}), "text to text"),
            (lambda: dp.Category([f"K{n}" for n in range(1001)], fold=True), "more than 1000"),
            (lambda: dp.Text(3, aliases={"x": "long"}), "at most 3"),
            (lambda: dp.Text(9, fold=True, aliases={"x": "Big"}), "strip and fold write it"),
            (lambda: dp.Text(9, aliases={"x": "y", "y": "z"}), "keep one meaning"),
            (lambda: dp.Boolean(null=["No"]), "yes or no"),
            (lambda: dp.Integer(0, 9, null="n/a"), "list of texts"),
            (lambda: dp.Integer(0, 9, null=[-1]), "in quotes"),
            (lambda: dp.Integer(0, 9, outside="drop"), "'clip' or 'null'"),
            (lambda: dp.Integer(0, 2**62, outside="null"), "2^62"),
            (lambda: dp.Integer(0, 9, thousands=",", decimal=","), "both"),
            (lambda: dp.Real(0, 9, units={"kg": 1, "lb": 0}), "positive"),
            (lambda: dp.Real(0, 9, units={"kg": 1, "lb": -2}), "positive"),
            (lambda: dp.Real(0, 9, units={"lb": 2}), "factor 1"),
            (lambda: dp.Real(0, 9, units=KG, unit="kg"), "exclude each other"),
            (lambda: dp.Real(0, 9, units={"k9": 1}), "letters or signs"),
            (lambda: dp.Real(0, 2**400, step=2**390, units=KG), "too far from the step"),
            (lambda: dp.Date("2020-01-01", "2021-01-01", format=["%d/%m/%Y", "%m/%d/%Y"]), "two days"),
            (lambda: dp.Date("2020-01-01", "2021-01-01", format=["%Y%m%d", "%d%m%Y"]), "two days"),
            (lambda: dp.Date("2020-01-01", "2021-01-01", format=[]), "no format"),
        ],
    )  # fmt: skip
    def test_contradictions(self, declare, reason):
        with pytest.raises(InvalidArgument) as refused:
            declare()
        assert reason in str(refused.value)


def test_declarations_are_written_and_read_back():
    """Plain values, TOML and repr keep every declaration; one that is not made is not written."""
    columns = {
        "a": dp.Category(["a", "b"], strip=True, fold=True, aliases={"É.R.": "a"}, null=["n/a", "-"]),
        "b": dp.Real(0, 9, units=KG, outside="null", null=["-"]),
        "c": dp.Date("2020-01-01", "2021-01-01", format=["%Y%m%d", "%d.%m.%Y"], outside="null"),
        "d": dp.Text(9, aliases={"x": "y"}),
        "e": dp.Integer(0, 9, thousands=".", decimal=","),
        "f": dp.Boolean(null=["?"]),
    }  # fmt: skip
    schema = dp.Schema("t", dp.Rows(), columns)
    assert dp.Schema.from_dict(schema.to_dict()) == schema
    assert dp.data.schemas_from_toml(dp.data.schemas_to_toml([schema])) == (schema,)
    assert all(eval(f"dp.{column!r}") == column for column in columns.values())  # noqa: S307
    assert dp.Schema("t", dp.Rows(), {"a": dp.Category(["a"])}).to_dict()["columns"] == {
        "a": {"type": "category", "values": ["a"]}
    }
    for word in (
        "aliases É.R. = 'a'",
        "units kg = 1, lb = 0.45359237",
        "others are NULL",
        "null '-', 'n/a'",
    ):
        assert word in str(schema)
