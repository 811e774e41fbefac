"""Messages of PostgreSQL's frontend/backend protocol, version 3.0: pure functions of bytes.

A message is a type byte, a length that counts itself, and a payload. The first message of a
connection has no type byte.

Guarantee: every payload is read to its end, or refused with `ProtocolViolation`; nothing else is raised.
Messages of COPY are ignored unread.
Law: tests/service/postgres/test_messages.py::TestParser
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from ...frozen import frozen

MAX_BYTES = 65_536
"""Longest message of a client, as the longest body of an HTTP request."""
VERSION_3 = 3 << 16
_CANCEL = 80_877_102
_TLS = 80_877_103
_GSS = 80_877_104


class ProtocolViolation(Exception):
    """A message that is not of the protocol; the connection ends."""


@frozen
class Startup:
    """First message of a session: protocol version and parameters, such as user and database."""

    version: int
    parameters: dict[str, str]


@frozen
class CancelRequest:
    """Request to stop what another connection runs, by the key of that connection."""

    key: bytes


@frozen
class EncryptionRequest:
    """Request for TLS, or for GSSAPI, which is never offered."""

    tls: bool


PlainKind: TypeAlias = Literal["sync", "flush", "terminate", "ignored"]
Opening: TypeAlias = Startup | CancelRequest | EncryptionRequest


@frozen
class Query:
    """Simple query: text of one or several statements."""

    sql: str


@frozen
class Parse:
    """Prepared statement with the types of its parameters; 0 where the client leaves one open."""

    name: str
    sql: str
    types: tuple[int, ...]


@frozen
class Bind:
    """Values for a prepared statement; a portal is the statement with its values."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@frozen
class Describe:
    """Request for the columns of a statement (S) or portal (P)."""

    kind: str
    name: str


@frozen
class Execute:
    """Request for rows of a portal; `max_rows` 0 stands for all."""

    portal: str
    max_rows: int


@frozen
class Close:
    """End of a statement (S) or portal (P)."""

    kind: str
    name: str


@frozen
class Plain:
    """A message without fields: Sync, Flush, Terminate; or a COPY message, which is ignored."""

    kind: PlainKind


@frozen
class Password:
    """A step of the authentication by SASL, as bytes."""

    payload: bytes


Message: TypeAlias = Query | Parse | Bind | Describe | Execute | Close | Plain | Password


class _Payload:
    """Reader of a payload from its start to its end."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._place = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self._place + count
        if count < 0 or end > len(self._payload):
            raise ProtocolViolation("a message ends too early")
        taken = self._payload[self._place : end]
        self._place = end
        return taken

    def short(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def long(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        """Return the next text, which a zero byte ends."""
        end = self._payload.find(b"\0", self._place)
        if end < 0:
            raise ProtocolViolation("a text has no end")
        raw = self.take(end - self._place)
        # The zero byte that ends the text.
        self.take(1)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise ProtocolViolation("a text is no UTF-8") from None

    def many(self, read: Callable[[], int]) -> tuple[int, ...]:
        count = self.short()
        if count < 0:
            raise ProtocolViolation("a count is negative")
        return tuple(read() for _ in range(count))

    def value(self) -> bytes | None:
        length = self.long()
        if length == -1:
            return None
        return self.take(length)

    def rest(self) -> bytes:
        return self.take(len(self._payload) - self._place)

    def end(self) -> None:
        if self._place != len(self._payload):
            raise ProtocolViolation("a message is longer than its fields")


def read_opening(payload: bytes) -> Opening:
    """Read the first message of a connection, without its length."""
    fields = _Payload(payload)
    code = fields.long()
    if code == _CANCEL:
        key = fields.take(8)
        fields.end()
        return CancelRequest(key)
    if code in (_TLS, _GSS):
        fields.end()
        return EncryptionRequest(tls=code == _TLS)
    parameters: dict[str, str] = {}
    name = fields.text()
    while name:
        parameters[name] = fields.text()
        name = fields.text()
    fields.end()
    return Startup(code, parameters)


def read_message(kind: bytes, payload: bytes) -> Message:
    """Read a message of a session by its type byte."""
    plain = _PLAIN.get(kind)
    if plain == "ignored":
        return Plain(plain)
    fields = _Payload(payload)
    reader = _READERS.get(kind)
    if plain is not None:
        message: Message = Plain(plain)
    elif reader is not None:
        message = reader(fields)
    else:
        raise ProtocolViolation("a message of an unknown type")
    fields.end()
    return message


def _parse(fields: _Payload) -> Parse:
    name = fields.text()
    sql = fields.text()
    return Parse(name, sql, fields.many(fields.long))


def _bind(fields: _Payload) -> Bind:
    """Read a Bind message: portal, statement, formats and values."""
    portal = fields.text()
    statement = fields.text()
    formats = fields.many(fields.short)
    count = fields.short()
    if count < 0:
        raise ProtocolViolation("a count is negative")
    values = tuple(fields.value() for _ in range(count))
    # None, one for all, or one for each value.
    if len(formats) not in (0, 1, count):
        raise ProtocolViolation("there are as many formats as values, or one, or none")
    return Bind(portal, statement, formats, values, fields.many(fields.short))


def _named(make: Callable[[str, str], Message]) -> Callable[[_Payload], Message]:
    """Return the reader of a message that names a statement or a portal."""

    def read(fields: _Payload) -> Message:
        kind = fields.take(1)
        if kind not in (b"S", b"P"):
            raise ProtocolViolation("it is of a statement or of a portal")
        return make(kind.decode(), fields.text())

    return read


def _execute(fields: _Payload) -> Execute:
    portal = fields.text()
    # A negative number stands for all rows too.
    return Execute(portal, max(0, fields.long()))


_READERS: dict[bytes, Callable[[_Payload], Message]] = {
    b"Q": lambda fields: Query(fields.text()),
    b"P": _parse,
    b"B": _bind,
    b"D": _named(Describe),
    b"E": _execute,
    b"C": _named(Close),
    b"p": lambda fields: Password(fields.rest()),
}
_PLAIN: dict[bytes, PlainKind] = {
    b"S": "sync",
    b"H": "flush",
    b"X": "terminate",
    # Nothing is copied in, so these three say nothing. PostgreSQL ignores them too.
    b"d": "ignored",
    b"c": "ignored",
    b"f": "ignored",
}
"""Messages without fields."""


def message(kind: bytes, *parts: bytes) -> bytes:
    r"""Return a message of the server.

    >>> from discreet.service.postgres.messages import message
    >>> message(b"Z", b"I")
    b'Z\x00\x00\x00\x05I'
    """
    payload = b"".join(parts)
    return kind + struct.pack("!i", len(payload) + 4) + payload


def text(value: str) -> bytes:
    """Return a text with the zero byte that ends it; a zero byte inside would end it too early."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


PARSE_COMPLETE = message(b"1")
BIND_COMPLETE = message(b"2")
CLOSE_COMPLETE = message(b"3")
EMPTY_QUERY = message(b"I")
NO_DATA = message(b"n")
PORTAL_SUSPENDED = message(b"s")
COPY_DONE = message(b"c")


def authentication(code: int, payload: bytes = b"") -> bytes:
    """Return a step of the authentication: 0 done, 10 to 12 SASL."""
    return message(b"R", struct.pack("!i", code), payload)


def parameter_status(name: str, value: str) -> bytes:
    """Return a parameter that the client may want to know."""
    return message(b"S", text(name), text(value))


def ready(status: str) -> bytes:
    """Return that the next query may come: I idle, T in a transaction, E in a failed one."""
    return message(b"Z", status.encode())


def command_complete(tag: str) -> bytes:
    """Return the end of a command with its tag, such as `SELECT 4`."""
    return message(b"C", text(tag))


def parameter_description(types: Sequence[int]) -> bytes:
    """Return the types of a statement's parameters."""
    return message(b"t", struct.pack("!h", len(types)), *(struct.pack("!I", t) for t in types))


def row_description(columns: Iterable[tuple[str, int, int, int]]) -> bytes:
    """Return the columns of rows to come: name, type, size of the type, format."""
    parts = []
    for name, oid, size, form in columns:
        # No table and no place in one: released numbers are of no table.
        parts.append(text(name) + struct.pack("!ihIhih", 0, 0, oid, size, -1, form))
    return message(b"T", struct.pack("!h", len(parts)), *parts)


def cells(values: Sequence[bytes | None]) -> bytes:
    """Return the values of a row, each with its length; NULL has the length −1."""
    parts = [struct.pack("!h", len(values))]
    for value in values:
        if value is None:
            parts.append(struct.pack("!i", -1))
        else:
            parts.append(struct.pack("!i", len(value)) + value)
    return b"".join(parts)


def copy_out(columns: int, form: int) -> bytes:
    """Return that rows of COPY follow, as text (0) or binary (1)."""
    formats = struct.pack("!h", form) * columns
    return message(b"H", struct.pack("!bh", form, columns), formats)


def report(kind: bytes, severity: str, sqlstate: str, words: str, hint: str = "") -> bytes:
    """Return an error (E) or a notice (N)."""
    fields = {"S": severity, "V": severity, "C": sqlstate, "M": words, "H": hint}
    parts = [name.encode() + text(value) for name, value in fields.items() if value]
    return message(kind, *parts, b"\0")
