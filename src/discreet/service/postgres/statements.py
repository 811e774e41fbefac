"""Statements of a client: texts split at semicolons, and commands told by their first words.

SELECT is read elsewhere, by a real parser. Here stands what every driver sends around it: BEGIN, SET,
SHOW, DECLARE, FETCH, COPY, DEALLOCATE.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ...frozen import frozen

Verb: TypeAlias = Literal[
    "select", "explain", "copy", "declare", "fetch", "close", "set", "reset", "show",
    "begin", "commit", "rollback", "savepoint", "accepted", "write", "refused", "empty",
]  # fmt: skip

_PIECES = re.compile(
    # What has no end goes to the end of the text: a scan takes one pass, whatever a client sends.
    r"""\b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)                  # text with backslashes
      | '(?:[^']|'')*(?:'|\Z)                              # text
      | "(?:[^"]|"")*(?:"|\Z)                              # a name
      | (?P<tag>\$(?:[A-Za-z_]\w*)?\$).*?(?:(?P=tag)|\Z)   # text between dollars
      | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?<![\w$])\$(?P<parameter>\d{1,5})
      | (?P<semicolon>;)
    """,
    re.VERBOSE | re.DOTALL,
)
PARAMETER = "discreet_parameter_"
"""Prefix of the names that stand for parameters in a text that is parsed."""


@frozen
class Statement:
    """One statement: its text without comments around it, its verb, and the parts that the verb reads."""

    text: str
    verb: Verb
    tag: str = ""
    name: str = ""
    value: str = ""
    """Of SET the value, of COPY and EXPLAIN the options, of FETCH the number of rows."""
    inner: str = ""
    """The SELECT inside of EXPLAIN, DECLARE or COPY."""


def split(sql: str) -> list[str]:
    r"""Split a text at semicolons outside of quotes and comments; comments are removed.

    >>> from discreet.service.postgres.statements import split
    >>> split("SELECT ';' -- a; b\n; COMMIT;")
    ["SELECT ';'", 'COMMIT']
    """
    parts = [""]
    place = 0
    for piece in _PIECES.finditer(sql):
        parts[-1] += sql[place : piece.start()]
        place = piece.end()
        if piece["semicolon"]:
            parts.append("")
        elif piece["comment"]:
            # A comment separates words.
            parts[-1] += " "
        else:
            parts[-1] += piece[0]
    parts[-1] += sql[place:]
    stripped = [part.strip() for part in parts]
    return [part for part in stripped if part]


def name_parameters(sql: str) -> tuple[str, int]:
    """Replace `$1`, `$2` by names that any parser reads; return the text and the highest number.

    Values replace these names in the parsed tree. They never become part of a text that is parsed.
    """
    highest = 0

    def rename(piece: re.Match[str]) -> str:
        nonlocal highest
        if not piece["parameter"]:
            return piece[0]
        highest = max(highest, int(piece["parameter"]))
        return PARAMETER + piece["parameter"]

    return _PIECES.sub(rename, sql), highest


_NAME = r"(?P<name>[A-Za-z_][\w.]*|\"[^\"]+\")"
# The first form that matches decides. Tags are those of PostgreSQL: drivers compare them.
# No form has two runs of spaces beside each other: a scan would take quadratic time.
_FORMS: tuple[tuple[Verb, str, str], ...] = (
    ("select", "SELECT", r"(?:(?:SELECT|WITH|VALUES|TABLE)\b|\().*"),
    ("explain", "EXPLAIN", r"EXPLAIN(?P<value>\s*\([^)]*\)|(?:\s+(?:ANALYZE|VERBOSE))*)\s*(?P<inner>.+)"),
    ("begin", "BEGIN", r"BEGIN\b.*"),
    ("begin", "START TRANSACTION", r"START\s+TRANSACTION\b.*"),
    ("savepoint", "ROLLBACK", r"ROLLBACK(?:\s+(?:WORK|TRANSACTION))?\s+TO\b.*"),
    ("commit", "COMMIT", r"(?:COMMIT|END)\b.*"),
    ("rollback", "ROLLBACK", r"(?:ROLLBACK|ABORT)\b.*"),
    ("savepoint", "SAVEPOINT", r"SAVEPOINT\b.*"),
    ("savepoint", "RELEASE", r"RELEASE\b.*"),
    ("accepted", "SET", r"SET\s+(?:SESSION\s+\w+\s+AS|SESSION\s+AUTHORIZATION|TRANSACTION|CONSTRAINTS|ROLE)\b.*"),
    ("set", "SET", r"SET\s+TIME\s+ZONE\s+(?P<value>.+)"),
    ("set", "SET", rf"SET\s+(?:SESSION\s+|LOCAL\s+)?{_NAME}\s*(?:=|\bTO\b)\s*(?P<value>.+)"),
    ("reset", "RESET", rf"RESET\s+{_NAME}"),
    ("reset", "DISCARD ALL", r"DISCARD\s+(?P<name>\w+)"),
    ("show", "SHOW", r"SHOW\s+(?P<name>TRANSACTION\s+ISOLATION\s+LEVEL|TIME\s+ZONE|[\w.]+)"),
    ("accepted", "DEALLOCATE", r"DEALLOCATE\b.*"),
    ("accepted", "UNLISTEN", r"UNLISTEN\b.*"),
    ("declare", "DECLARE", rf"DECLARE\s+{_NAME}\s+[\w\s]{{0,60}}?\bCURSOR\b[\w\s]{{0,60}}?\bFOR\s+(?P<inner>.+)"),
    ("fetch", "FETCH", r"(?:FETCH|MOVE)\s+(?:FORWARD\s+)?(?:(?P<value>\d{1,9}|ALL|NEXT)\s+)?(?:(?:FROM|IN)\s+)?"
        rf"{_NAME}"),
    ("close", "CLOSE CURSOR", rf"CLOSE\s+{_NAME}"),
    ("copy", "COPY", r"COPY\s*\((?P<inner>.+)\)\s*TO\s+STDOUT\b(?P<value>.*)"),
    ("write", "", r"(?:INSERT|UPDATE|DELETE|MERGE|CREATE|DROP|ALTER|TRUNCATE|GRANT|REVOKE|COMMENT|COPY|CALL|DO|VACUUM|"
        r"ANALYZE|REINDEX|CLUSTER|REFRESH|LOCK|NOTIFY|SECURITY|IMPORT|SELECT\s+INTO)\b.*"),
)  # fmt: skip
_COMPILED = [(verb, tag, re.compile(form, re.IGNORECASE | re.DOTALL)) for verb, tag, form in _FORMS]


def read_statement(text: str) -> Statement:
    """Tell the verb of a statement.

    >>> from discreet.service.postgres.statements import read_statement
    >>> read_statement("SET discreet.epsilon TO '1/10'").value
    "'1/10'"
    >>> read_statement("DECLARE c CURSOR FOR SELECT 1").inner
    'SELECT 1'
    """
    if not text:
        return Statement(text, "empty")
    for verb, tag, form in _COMPILED:
        found = form.fullmatch(text)
        if found is not None:
            parts = found.groupdict()
            name = unquote(parts.get("name") or "")
            return Statement(
                text, verb, tag, name, (parts.get("value") or "").strip(), parts.get("inner") or ""
            )
    return Statement(text, "refused")


def unquote(name: str) -> str:
    """Return a name without its quotes, in small letters if it has none."""
    if name.startswith('"'):
        return name[1:-1]
    return name.lower()
