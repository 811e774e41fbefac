"""COPY (SELECT …) TO STDOUT: rows as text, CSV or PostgreSQL's binary format."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from .messages import COPY_DONE, cells, copy_out, message
from .refusals import FEATURE, WireError
from .results import StatementResult
from .statements import Statement
from .types import encode

_HEADER = re.compile(r"\bHEADER\b(?!\s*(?:FALSE|OFF|0))", re.IGNORECASE)
_FORMATS = frozenset({"TEXT", "CSV", "BINARY"})
_OPTIONS = _FORMATS | {"WITH", "FORMAT", "HEADER", "TRUE", "FALSE", "ON", "OFF", "1", "0"}
_BINARY_START = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_BINARY_END = struct.pack("!h", -1)
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
)


def read_format(options: str) -> str:
    """Return the format of COPY: text, csv or binary.

    Refuses: options beyond FORMAT and HEADER, which a client can apply itself.
    """
    words = re.findall(r"\w+", options.upper())
    if not _OPTIONS.issuperset(words):
        raise WireError(
            FEATURE, "COPY has the options FORMAT and HEADER here", "leave out the others"
        )
    return next((word.lower() for word in words if word in _FORMATS), "text")


def copy_rows(statement: Statement, result: StatementResult) -> bytes:
    """Return the messages that send a result as COPY: the start, the rows, the end."""
    form = read_format(statement.value)
    columns = result.columns or ()
    binary = int(form == "binary")
    parts = [copy_out(len(columns), binary)]
    lines = []
    if form == "csv" and _HEADER.search(statement.value):
        lines.append(_csv([column.name.encode() for column in columns]))
    for row in result.rows:
        values = [
            encode(value, column.oid, binary) for value, column in zip(row, columns, strict=True)
        ]
        if binary:
            lines.append(cells(values))
        elif form == "csv":
            lines.append(_csv(values))
        else:
            lines.append(_tabbed(values))
    if binary:
        # Some readers expect the header and the first row in one message.
        first = lines[0] if lines else _BINARY_END
        lines = [_BINARY_START + first, *lines[1:]]
        if result.rows:
            lines.append(_BINARY_END)
    parts += [message(b"d", line) for line in lines]
    return b"".join([*parts, COPY_DONE])


def _tabbed(values: Sequence[bytes | None]) -> bytes:
    r"""Return a row in PostgreSQL's text format: tabs between values, NULL as \N."""
    texts = []
    for value in values:
        if value is None:
            texts.append("\\N")
        else:
            texts.append(value.decode().translate(_ESCAPES))
    return ("\t".join(texts) + "\n").encode()


def _csv(values: Sequence[bytes | None]) -> bytes:
    """Return a row as CSV; NULL is empty, an empty text is quoted."""
    texts = []
    for value in values:
        words = "" if value is None else value.decode()
        # NULL is empty, so an empty text stands in quotes.
        if value == b"" or re.search(r'[",\r\n]', words):
            quoted = words.replace('"', '""')
            words = f'"{quoted}"'
        texts.append(words)
    return (",".join(texts) + "\n").encode()
