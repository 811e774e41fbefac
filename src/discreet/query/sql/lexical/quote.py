"""Quotes for refusals: the piece of the question's text that a parsed node came from."""

from __future__ import annotations

import re

from sqlglot import exp

SOURCE = "source"
"""Key under which the root of a parsed text carries the text itself, in its metadata."""
_MAX_QUOTE = 60
_MAX_STRING = 12
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")


def quote_of(node: exp.Expr) -> str | None:
    """Return the text that a node was read from, shortened; None if it cannot be told.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.quote import SOURCE, quote_of
    >>> sql = "SELECT COUNT(*) FROM t WHERE strftime(day, '%Y') = '2024'"
    >>> root = sqlglot.parse_one(sql, dialect="duckdb")
    >>> root.meta[SOURCE] = sql
    >>> quote_of(root.args["where"].this.this)
    "strftime(day, '%Y')"
    """
    source = node.root().meta.get(SOURCE)
    spans = [part.meta for part in node.walk() if "start" in part.meta]
    if not isinstance(source, str) or not spans:
        return None
    start = min(span["start"] for span in spans)
    end = max(span["end"] for span in spans) + 1
    # The parser keeps no position of most function names, only of their arguments.
    if isinstance(node, exp.Func) and "start" not in node.meta:
        start = _name_start(source, start)
    return shorten(source[start : _bracket_end(source, start, end)])


def shorten(text: str) -> str:
    """Write a piece of a question on one short line."""
    plain = " ".join(_STRING.sub(_shorten_string, text).split())
    cut = plain[: _MAX_QUOTE - 1].rstrip() + "…"
    return plain if len(plain) <= _MAX_QUOTE else cut


def _shorten_string(match: re.Match[str]) -> str:
    """Leave out long text literals: a log of refusals need not hold them."""
    string = match[0]
    if string.startswith("'") and len(string) > _MAX_STRING:
        return "'…'"
    return string


def _without_strings(source: str) -> str:
    """Return the text with strings blanked out: brackets within strings do not count."""
    return _STRING.sub(lambda match: "." * len(match[0]), source)


def _name_start(source: str, start: int) -> int:
    """Return the start of the name before the bracket in which a position is."""
    bare = _without_strings(source)
    depth = 0
    position = start
    while position > 0 and depth < 1:
        position -= 1
        depth += _depth_change(bare[position])
    name = re.search(r"[A-Za-z0-9_]+\s*$", bare[:position])
    return name.start() if name else start


def _bracket_end(source: str, start: int, end: int) -> int:
    """Return the end of the brackets that are opened before `end` or follow at once."""
    bare = _without_strings(source)
    quoted = bare[start:end]
    depth = quoted.count("(") - quoted.count(")")
    # A bracket may follow a function's name after blanks; 40 are more than anybody writes.
    opens_next = bare[end : end + 40].lstrip().startswith("(")
    while end < len(bare) and (depth > 0 or opens_next):
        depth += _depth_change(bare[end])
        if bare[end] == "(":
            opens_next = False
        end += 1
    return end


def _depth_change(letter: str) -> int:
    return (letter == "(") - (letter == ")")
