"""SQL as questions: read by an allow-list, refused before any store is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...data.schema import Schema
from ...errors import UnsupportedQuery
from ..algebra.refusal import refusal
from ..algebra.tree import Question
from ..bounds.keys import PublicValues

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["parse"]

LONGEST = 100_000
DEEPEST = 64
DIALECT = "duckdb"
"""Its grammar; the meaning is our own, the same on every store."""


def parse(sql: str, schemas: Mapping[str, Schema], public_values: PublicValues | None = None) -> Question:
    """Read one SELECT as a question about declared tables, by their names in `schemas`.

    `public_values` gives the values of a public table's column, which then are keys; nothing else is read anywhere.

    >>> from ...data import Category, Real, Rows, Schema
    >>> people = Schema("people", Rows(), {"income": Real(0, 250_000), "region": Category(["N", "S"])})
    >>> question = parse("SELECT region, COUNT(*) AS n FROM people GROUP BY region", {"people": people})
    >>> question.keys[0].values, question.statistics
    (('N', 'S'), (('n', Count()),))
    >>> parse("SELECT * FROM people", {"people": people})
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: SELECT *: it shows rows of people; ask for aggregates, as COUNT(*) or AVG(age)

    Refuses every clause and function that is not on the list, by name; docs/questions.md has the list.
    """
    from .question import read_question
    from .relation import Catalogue

    try:
        return read_question(_statement(sql), Catalogue(dict(schemas), {}), public_values)
    except RecursionError:
        raise _too_deep() from None


def _statement(sql: str) -> exp.Expr:
    """Parse the text; there must be one statement, and it must be a SELECT."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    if not isinstance(sql, str) or len(sql) > LONGEST:
        raise UnsupportedQuery(f"a question is text of at most {LONGEST} characters")
    try:
        tokens = sqlglot.tokenize(sql, dialect=DIALECT)
        _check_start([token.text.upper() for token in tokens])
        statements = [statement for statement in sqlglot.parse(sql, dialect=DIALECT) if statement is not None]
    except SqlglotError as error:
        raise _unreadable(error) from None
    if len(statements) != 1:
        raise refusal(";", "one question is one statement", "ask them one by one")
    _check_depth(statements[0])
    return statements[0]


def _check_start(words: list[str]) -> None:
    first = next((word for word in words if word != "("), "")
    if first not in ("SELECT", "WITH"):
        raise refusal(first or "nothing", "only SELECT asks a question", "write SELECT … FROM …")


def _unreadable(error: Exception) -> UnsupportedQuery:
    """Say where the text cannot be read, without quoting it."""
    details = getattr(error, "errors", None) or [{}]
    line, column = details[0].get("line"), details[0].get("col")
    where = "" if line is None else f" near line {line}, column {column}"
    return UnsupportedQuery(f"this SQL cannot be read{where}; check its commas, quotes and brackets")


def _check_depth(root: exp.Expr) -> None:
    """Refuse deep nesting before anything walks it; a long chain of AND, OR or UNION ALL is not deep."""
    from sqlglot import exp

    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            raise _too_deep()
        chain = isinstance(node, exp.And | exp.Or | exp.Union)
        children = node.iter_expressions()
        stack += [(child, depth if chain and type(child) is type(node) else depth + 1) for child in children]


def _too_deep() -> UnsupportedQuery:
    return refusal("nesting", f"the question is nested more than {DEEPEST} deep", "write it flatter, or use WITH")
