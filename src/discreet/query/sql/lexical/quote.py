"""The user's own words: the piece of the question that a part of the parsed text came from."""

from __future__ import annotations

import re

from sqlglot import exp

SOURCE = "source"
"""Under this name the root of a parsed text carries the text itself."""
_LONGEST = 60
_TEXT = 12
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
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not isinstance(source, str) or not places:
        return None
    start, end = min(place["start"] for place in places), max(place["end"] for place in places) + 1
    if isinstance(node, exp.Func) and "start" not in node.meta:
        start = _name_start(source, start)
    text = source[start : _bracket_end(source, start, end)]
    return shorten(text)


def shorten(text: str) -> str:
    """Write a piece of a question on one line that is not long."""
    plain = " ".join(_STRING.sub(_shorten, text).split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1].rstrip() + "…"


def _shorten(found: re.Match[str]) -> str:
    """Leave out long text: whoever reads a log of refusals needs no more of it."""
    return "'…'" if found[0].startswith("'") and len(found[0]) > _TEXT else found[0]


def _name_start(source: str, start: int) -> int:
    """Go back to the name before the bracket in which a place lies."""
    bare = _STRING.sub(lambda found: "." * len(found[0]), source)
    depth, place = 0, start
    while place > 0 and depth < 1:
        place -= 1
        depth += {"(": 1, ")": -1}.get(bare[place], 0)
    name = re.search(r"[A-Za-z0-9_]+\s*$", bare[:place])
    return name.start() if name else start


def _bracket_end(source: str, start: int, end: int) -> int:
    """Go on to the brackets that close those which were opened; those within strings do not count."""
    bare = _STRING.sub(lambda found: "." * len(found[0]), source)
    open_ = bare[start:end].count("(") - bare[start:end].count(")")
    follows = bare[end : end + 40].lstrip().startswith("(")
    while end < len(bare) and (open_ > 0 or follows):
        open_ += {"(": 1, ")": -1}.get(bare[end], 0)
        follows = follows and bare[end] != "("
        end += 1
    return end
