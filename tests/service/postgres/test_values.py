"""Values, statements and settings: pure functions of what a client sends."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.service.postgres import types
from discreet.service.postgres.settings import Settings
from discreet.service.postgres.statements import name_parameters, read_statement, split
from discreet.service.postgres.types import decode, encode


class TestValues:
    """What is written as text or binary is read back."""

    @pytest.mark.parametrize(
        ("kind", "values"),
        [
            (types.INT8, st.integers(-(2**63), 2**63 - 1)),
            (types.INT4, st.integers(-(2**31), 2**31 - 1)),
            (types.BOOL, st.booleans()),
            (types.TEXT, st.text(st.characters(codec="utf-8"))),
            (types.DATE, st.dates()),
            (types.TIMESTAMP, st.datetimes()),
        ],
    )
    def test_round_trips(self, kind, values):
        @given(values, st.sampled_from([0, 1]))
        def check(value, form):
            assert decode(encode(value, kind.oid, form), kind.oid, form) == value

        check()

    @given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0, 1]))
    def test_floats_are_their_shortest_decimal(self, value, form):
        assert float(decode(encode(value, 701, form), 701, form)) == value

    @pytest.mark.parametrize(
        ("raw", "oid", "form"),
        [
            (b"x", 20, 0),
            (b"NaN", 701, 0),
            (b"1_0", 20, 0),
            (b"\0\0\0", 23, 1),
            (b"maybe", 16, 0),
            (b"2024-13-01", 1082, 0),
            (b"\x7f\xff\xff\xff", 1082, 1),
            (b"\xff", 25, 0),
            (b"1e999999999", 1700, 0),
            (b"9" * 1001, 20, 0),
            (b"\x7f\xff\0\0\0\0\0\0", 1700, 1),
            (b"\0\1\x7f\xff\0\0\0\0\0\1", 1700, 1),
        ],
    )
    def test_what_is_no_value_is_refused(self, raw, oid, form):
        with pytest.raises(dp.InvalidArgument):
            decode(raw, oid, form)

    def test_numeric_as_postgres_sends_it(self):
        # 12345.678 in base 10,000: 1, 2345, 6780 with weight 1.
        raw = bytes.fromhex("0003 0001 0000 0003 0001 0929 1a7c")
        assert decode(raw, 1700, 1) == Decimal("12345.678")

    def test_lists(self):
        assert encode(["a", None, "b c", 'q"\\', "null", ""], 1009, 0) == (
            b'{a,NULL,"b c","q\\"\\\\","null",""}'
        )
        assert encode([1, 2], 1005, 1).hex().endswith("000000020001000000020002")
        assert encode([], 1009, 1) == bytes(8) + (25).to_bytes(4, "big")

    def test_counts_are_whole_and_floats_short(self):
        assert encode(491.0, 20, 0) == b"491" and encode(491.0, 701, 0) == b"491"
        assert encode("2024-01-02T03:04:05", 1114, 0) == b"2024-01-02 03:04:05"
        assert encode(float("inf"), 701, 0) == b"Infinity"


class TestStatements:
    """Texts are split outside of quotes, and commands told by their first words."""

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("SELECT ';'; SELECT \";\"", ["SELECT ';'", 'SELECT ";"']),
            ("SELECT $$;$$; SELECT $a$;$b$;$a$", ["SELECT $$;$$", "SELECT $a$;$b$;$a$"]),
            ("/* ; */ SELECT 1 -- ;\n;", ["SELECT 1"]),
            (r"SELECT E'\';'; COMMIT", [r"SELECT E'\';'", "COMMIT"]),
            (" ; ; ", []),
            ("SELECT 'open; COMMIT", ["SELECT 'open; COMMIT"]),
        ],
    )
    def test_split(self, text, parts):
        assert split(text) == parts

    @pytest.mark.parametrize("piece", ["/*", "$a$", "'", '"', "$$", "E'", "--", ";", "$1"])
    def test_a_scan_takes_one_pass(self, piece):
        """64 KiB of beginnings without ends: each would otherwise be looked for to the end."""
        split(piece * (65_536 // len(piece)))

    def test_parameters_are_named_outside_of_quotes(self):
        named, count = name_parameters("SELECT $1, '$2', \"$3\", $12::int, a$4 -- $5")
        assert count == 12
        assert named.count("discreet_parameter_") == 2

    @pytest.mark.parametrize(
        ("text", "verb"),
        [
            ("with q as (select 1) select * from q", "select"),
            ("(SELECT 1)", "select"),
            ("EXPLAIN (FORMAT TEXT) SELECT 1", "explain"),
            ("START TRANSACTION READ ONLY", "begin"),
            ("ROLLBACK TO SAVEPOINT a", "savepoint"),
            ("ROLLBACK", "rollback"),
            ("END", "commit"),
            ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "accepted"),
            ("SET TIME ZONE 'UTC'", "set"),
            ("SHOW transaction isolation level", "show"),
            ('DECLARE "a b" NO SCROLL CURSOR WITH HOLD FOR SELECT 1', "declare"),
            ("FETCH FORWARD ALL FROM c", "fetch"),
            ("COPY (SELECT 1) TO STDOUT (FORMAT binary)", "copy"),
            ("COPY people FROM STDIN", "write"),
            ("CREATE TABLE t (x int)", "write"),
            ("UNLISTEN *", "accepted"),
            ("gibberish", "refused"),
        ],
    )
    def test_verbs(self, text, verb):
        assert read_statement(text).verb == verb


class TestSettings:
    """Terms of questions as settings."""

    def test_terms(self):
        settings = Settings().set("discreet.epsilon", "'1/10'").set("discreet.level", "0.9")
        assert settings.terms().spend == dp.PureDP("1/10") and settings.terms().level == 0.9
        both = settings.set("discreet.delta", "1e-6")
        assert both.terms().spend == dp.ApproxDP("1/10", "1e-6")
        named = Settings().set("discreet.error", "'n=50, m=2'")
        assert dict(named.terms().error) == {"n": 50, "m": 2}
        assert Settings().terms() is None
        assert Settings(dp.PureDP(1)).terms().spend == dp.PureDP(1)
        assert settings.reset("discreet.epsilon").terms() is None
        assert settings.set("discreet.why", "'it''s'").why == "it's"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("discreet.epsilon", "x"),
            ("discreet.epsilon", "-1"),
            ("discreet.level", "2"),
            ("discreet.intervals", "perhaps"),
            ("discreet.confirm", "perhaps"),
            ("discreet.allowance", "lots"),
            ("discreet.reuse", "perhaps"),
            ("discreet.nix", "1"),
            ("client_encoding", "LATIN1"),
            ("datestyle", "German"),
        ],
    )
    def test_refused_where_they_are_set(self, name, value):
        with pytest.raises(dp.InvalidArgument):
            Settings().set(name, value)

    def test_both_spend_and_error(self):
        with pytest.raises(dp.InvalidArgument, match="RESET one"):
            Settings().set("discreet.epsilon", "1").set("discreet.error", "5")

    def test_settings_are_bounded(self):
        settings = Settings()
        for number in range(100):
            settings = settings.set(f"x{number}", "1")
        with pytest.raises(dp.InvalidArgument, match="RESET some"):
            settings.set("one.more", "1")


def test_dates_are_dates():
    assert encode(dt.date(2000, 1, 2), 1082, 1) == b"\0\0\0\1"
