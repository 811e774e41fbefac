"""JSON has one meaning here, or is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.wire.json_text import MAX_DEPTH, read_json, write_json

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**50), 10**50) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class TestReading:
    @given(plain)
    def test_what_was_written_is_read_back(self, value):
        assert read_json(write_json({"value": value})) == {"value": value}

    @given(st.binary(max_size=200))
    def test_any_bytes_are_read_or_refused(self, body):
        with suppress(InvalidArgument):
            write_json(str(read_json(body)))

    @given(st.text(max_size=100))
    def test_any_text_is_read_or_refused(self, body):
        try:
            found = read_json(body)
        except InvalidArgument:
            return
        assert found == json.loads(body, parse_float=Decimal)

    def test_a_decimal_stays_exact(self):
        assert read_json("0.1") == Decimal("0.1")


class TestRefusals:
    @pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
    def test_no_constant_is_a_number(self, word):
        with pytest.raises(InvalidArgument, match="no number"):
            read_json(f'{{"error": {word}}}')

    def test_a_name_stands_once(self):
        with pytest.raises(InvalidArgument, match="twice"):
            read_json('{"a": {"b": 1, "b": 2}}')

    def test_halves_of_a_character_are_no_utf8(self):
        with pytest.raises(InvalidArgument, match="UTF-8"):
            read_json(b'{"sql": "\xff"}')

    @pytest.mark.parametrize("body", ["", "{", "[1,]", "{'a': 1}", '"\n"', "1 2", "\x00"])
    def test_what_is_no_json_is_refused(self, body):
        with pytest.raises(InvalidArgument, match="no JSON"):
            read_json(body)

    @pytest.mark.parametrize("opening", ["[", '{"a":'])
    def test_depth_is_bounded_before_the_reader_recurses(self, opening):
        with pytest.raises(InvalidArgument, match="deeper"):
            read_json(opening * 60_000)

    def test_the_deepest_that_is_read(self):
        assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
        with pytest.raises(InvalidArgument, match="deeper"):
            read_json("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))

    def test_brackets_in_a_text_are_no_depth(self):
        assert read_json('{"sql": "' + "[" * 1000 + '\\" {{{"}')

    @pytest.mark.parametrize("number", ["9" * 61, "1." + "1" * 60, "1e" + "9" * 60])
    def test_long_numbers_are_refused(self, number):
        with pytest.raises(InvalidArgument, match="too long"):
            read_json(number)

    def test_nan_is_never_written(self):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_json({"n": float("nan")})
