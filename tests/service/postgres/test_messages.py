"""The parser of messages: every text of bytes is a message or a violation."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.service.postgres.messages import (
    Bind,
    Execute,
    Parse,
    ProtocolViolation,
    Query,
    Startup,
    message,
    read_message,
    read_opening,
    report,
)
from support.profile import examples

KINDS = b"QPBDECSHXdcfpFzR\0\xff"


def _body(made: bytes) -> bytes:
    """A message without its type and length."""
    [length] = struct.unpack("!i", made[1:5])
    assert length == len(made) - 1
    return made[5:]


class TestParser:
    """Bytes in, one message or one ProtocolViolation out."""

    @settings(max_examples=examples(2000))
    @given(st.sampled_from(sorted(KINDS)), st.binary(max_size=200))
    def test_any_bytes(self, kind, payload):
        try:
            found = read_message(bytes([kind]), payload)
        except ProtocolViolation:
            return
        assert found is not None

    @settings(max_examples=examples(500))
    @given(st.binary(max_size=200))
    def test_any_opening(self, payload):
        try:
            found = read_opening(payload)
        except ProtocolViolation:
            return
        assert found is not None

    @given(
        st.text(st.characters(exclude_characters="\0", codec="utf-8")),
        st.lists(st.integers(0, 2**31 - 1), max_size=20),
    )
    def test_a_statement_is_read_back(self, sql, oids):
        types = b"".join(struct.pack("!i", oid) for oid in oids)
        payload = b"name\0" + sql.encode() + b"\0" + struct.pack("!h", len(oids)) + types
        assert read_message(b"P", payload) == Parse("name", sql, tuple(oids))
        assert read_message(b"Q", sql.encode() + b"\0") == Query(sql)

    @given(st.lists(st.none() | st.binary(max_size=30), max_size=20))
    def test_values_are_read_back(self, values):
        parts = []
        for value in values:
            length = -1 if value is None else len(value)
            parts.append(struct.pack("!i", length) + (value or b""))
        payload = b"p\0s\0\0\0" + struct.pack("!h", len(values)) + b"".join(parts) + b"\0\1\0\1"
        assert read_message(b"B", payload) == Bind("p", "s", (), tuple(values), (1,))

    @pytest.mark.parametrize(
        ("kind", "payload"),
        [
            (b"Q", b"no end"),
            (b"Q", b"SELECT 1\0more"),
            (b"Q", b"\xff\xfe\0"),
            (b"P", b"\0\0\x7f\xff"),
            (b"P", b"\0\0\xff\xff"),
            (b"B", b"\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0"),
            (b"B", b"\0\0\0\0\xff\xff\0\0"),
            (b"D", b"Xname\0"),
            (b"E", b"name\0\0"),
            (b"S", b"\0"),
            (b"F", b""),
        ],
    )
    def test_violations(self, kind, payload):
        with pytest.raises(ProtocolViolation):
            read_message(kind, payload)

    def test_a_negative_row_limit_means_all(self):
        assert read_message(b"E", b"\0\xff\xff\xff\xff") == Execute("", 0)

    def test_startup(self):
        payload = struct.pack("!i", 3 << 16) + b"user\0ana\0database\0people\0\0"
        assert read_opening(payload) == Startup(3 << 16, {"user": "ana", "database": "people"})

    @pytest.mark.slow
    def test_a_million_messages(self):
        """10⁶ messages: valid ones with bytes changed, cut or repeated, and pure noise."""
        random.seed(34)
        valid = [
            (b"Q", b"SELECT COUNT(*) FROM people\0"),
            (b"P", b"name\0SELECT $1\0\0\1\0\0\0\x14"),
            (b"B", b"portal\0name\0\0\1\0\1\0\1\0\0\0\x08\0\0\0\0\0\0\0\1\0\1\0\1"),
            (b"D", b"Sname\0"),
            (b"E", b"portal\0\0\0\0\0"),
            (b"C", b"Pportal\0"),
            (b"S", b""),
            (b"p", b"SCRAM-SHA-256\0\0\0\0\x04n,,r"),
        ]
        for _ in range(1_000_000):
            kind, payload = random.choice(valid)
            changed = bytearray(payload)
            for _ in range(random.randrange(4)):
                if changed:
                    changed[random.randrange(len(changed))] = random.randrange(256)
            if random.random() < 0.2:
                changed = changed[: random.randrange(len(changed) + 1)]
            try:
                read_message(kind if random.random() < 0.9 else random.randbytes(1), bytes(changed))
                read_opening(bytes(changed))
            except ProtocolViolation:
                continue


def test_server_messages_say_their_length():
    assert _body(message(b"Z", b"I")) == b"I"
    assert b"MSELECT\0" in report(b"E", "ERROR", "42601", "SELECT")
    # A zero byte inside of a text would end it too early.
    assert report(b"N", "NOTICE", "00000", "a\0b").count(b"\0ab") == 0
