"""View of a refusal: its title, reason and remedy, and the place in the SQL text that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...errors import (
    BudgetExceeded,
    Cancelled,
    DiscreetError,
    EngineFailure,
    InvalidArgument,
    LedgerConflict,
    LedgerCorrupt,
    LedgerUnavailable,
    NotAllowed,
    SchemaMismatch,
    ServiceUnavailable,
    TooSlow,
)
from ...frozen import frozen
from .number_text import without_code

TITLES: dict[str, str] = {
    BudgetExceeded.__name__: "This costs more than is left",
    NotAllowed.__name__: "You may not ask this",
    SchemaMismatch.__name__: "A name is not in the schema",
    InvalidArgument.__name__: "Something is missing or out of range",
    LedgerConflict.__name__: "The ledger is busy; nothing was spent",
    LedgerUnavailable.__name__: "The ledger cannot be used just now",
    ServiceUnavailable.__name__: "The service is busy; nothing was spent",
    EngineFailure.__name__: "The database could not answer",
    Cancelled.__name__: "The query was stopped",
    TooSlow.__name__: "This takes too long",
    LedgerCorrupt.__name__: "The ledger cannot be verified; no question is answered",
    "TooMany": "Too many requests at once",
    "": "An error happened",
}
OTHERWISE = "This cannot be asked privately as written"
NEAR = re.compile(r"near line (\d+), column (\d+)")
PHRASE = re.compile(r"[A-Z]{2,}(?: [A-Z]{2,})*")
QUOTED = re.compile(r"'([^']{1,100})'")
KEYS = re.compile(r"the keys of ([\w, ]+?) are not public")


@frozen
class TextPlace:
    """Part of an SQL text from `start` to `end`, with the rest of its lines and a line number."""

    start: int
    end: int
    before: str
    marked: str
    after: str
    line: int


@frozen
class Refusal:
    """Refusal for a page: title, reason, remedy (`instead`), and the place in the SQL text."""

    kind: str
    title: str
    why: str
    instead: str
    place: TextPlace | None


def refusal_of(error: DiscreetError, sql: str = "") -> Refusal:
    """Return the view of an error of this library."""
    return word_refusal(type(error).__name__, str(error), sql)


def word_refusal(kind: str, message: str, sql: str = "") -> Refusal:
    """Return the view of a refusal; `kind` is the class name of the error.

    >>> from discreet.service.pages.refusal_view import word_refusal
    >>> found = word_refusal("UnsupportedQuery", "OFFSET: it is not supported; use LIMIT", "SELECT 1 OFFSET 3")
    >>> found.why, found.instead, found.place.marked
    ('OFFSET: it is not supported', 'use LIMIT', 'OFFSET')
    >>> word_refusal("InvalidArgument", "this needs a delta; spend dp.ApproxDP(1, 1e-6), ZCDP or more").instead
    'spend ε = 1 and δ = 1e-6, ρ or more'
    """
    why, instead = words_of(without_code(message))
    return Refusal(kind, TITLES.get(kind, OTHERWISE), why, instead, place_of(sql, message))


def words_of(message: str) -> tuple[str, str]:
    """Split the message of a refusal at its first "; " into reason and remedy.

    >>> from discreet.service.pages.refusal_view import words_of
    >>> words_of("it has no bound; use WHERE; or HAVING"), words_of(";: one question is one statement")
    (('it has no bound', 'use WHERE; or HAVING'), (';: one question is one statement', ''))
    """
    why, _, instead = message.partition("; ")
    return why, instead


def place_of(sql: str, message: str) -> TextPlace | None:
    """Find the part of an SQL text that the message of a refusal names; None if there is none.

    >>> from discreet.service.pages.refusal_view import place_of
    >>> place_of("SELECT AVG(agee) FROM people", "there is no column 'agee' here").marked
    'agee'
    >>> place_of("SELECT zip FROM people", "the ledger is busy") is None
    True
    """
    near = NEAR.search(message)
    if near:
        return _near(sql, int(near[1]), int(near[2]))
    for pattern in _patterns(message):
        found = re.search(pattern, sql, re.IGNORECASE)
        if found:
            return _around(sql, *found.span())
    return None


def _patterns(message: str) -> Iterator[str]:
    """List regular expressions for the part of the text that a message names, the surest first.

    They are: the clause before its colon, names in quotes, keys that are not public, words of SQL.
    """
    clause, colon, _ = message.partition(": ")
    if colon and len(clause) <= 40:
        yield _pattern("(SELECT" if clause.startswith("a sub-query") else clause)
        yield _pattern(clause.removesuffix("()"))
    yield from (_pattern(name) for name in QUOTED.findall(message))
    keys = KEYS.search(message)
    if keys:
        yield rf"(?<=group by )[^;]*?\b({'|'.join(map(re.escape, keys[1].split(', ')))})\b"
    yield from (_pattern(phrase) for phrase in PHRASE.findall(message))


def _pattern(words: str) -> str:
    """Match words whatever the space between them, and only whole ones."""
    inner = r"\s+".join(re.escape(word) for word in words.split())
    left = r"\b" if words[:1].isalnum() else ""
    right = r"\b" if words[-1:].isalnum() else ""
    return left + inner.replace(re.escape("(SELECT"), r"\(\s*SELECT") + right


def _near(sql: str, line: int, column: int) -> TextPlace | None:
    """Mark the word that ends at a line and column, as the parser counts."""
    lines = sql.splitlines(keepends=True)
    if not 1 <= line <= len(lines):
        return None
    end = sum(map(len, lines[: line - 1])) + min(column, len(lines[line - 1].rstrip("\n")))
    word = re.search(r"(\w+|\S)\s*$", sql[:end])
    return None if word is None else _around(sql, word.start(1), word.end(1))


def _around(sql: str, start: int, end: int) -> TextPlace:
    """Return the text from `start` to `end` with the rest of its lines."""
    first, last = sql.rfind("\n", 0, start) + 1, sql.find("\n", end)
    last = len(sql) if last < 0 else last
    return TextPlace(
        start, end, sql[first:start], sql[start:end], sql[end:last], sql.count("\n", 0, start) + 1
    )
