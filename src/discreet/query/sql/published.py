"""SELECT over published streams: `FROM stream.visits` has a released row per closed day and key.

It is read as if the question of the stream stood there in brackets (`sql.released`). So it has all
that a SELECT over a released table has, and reaches no private row.

Refuses: with `UnsupportedQuery` other tables beside a stream, and streams where they are planned,
measured or learned from.

Law: tests/streams/test_select.py::TestRefusals
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ...data.schema import Schema
from ...errors import UnsupportedQuery
from ..algebra.refusal import refusal
from ..algebra.tree import Question
from ..bounds.keys import PublicValues
from .lexical.statement import read_statement, too_deep
from .relation import Catalogue
from .released import read_nested
from .syntax import identifier

STREAMS = "stream"
"""Name that stands before that of a stream in FROM, as a schema does before a table."""


def stream_in(sql: str) -> str | None:
    """Return the name of the stream that a SELECT reads; None if it reads none.

    >>> from discreet.query.sql.published import stream_in
    >>> stream_in("SELECT day, n FROM stream.visits"), stream_in("SELECT 1 AS x FROM visits")
    ('visits', None)

    Refuses: two streams in one statement.
    """
    try:
        names = sorted({identifier(node.this) for node in _streams(read_statement(sql))})
    except RecursionError:
        raise too_deep() from None
    if len(names) > 1:
        raise refusal(
            " and ".join(f"stream.{name}" for name in names),
            "what two streams have published is joined with nothing here",
            "ask for each by itself, and join the answers",
        )
    return names[0] if names else None


def read_published(
    sql: str,
    inner: str,
    asked: Question,
    schemas: Mapping[str, Schema],
    public_values: PublicValues | None,
) -> Question:
    """Read a SELECT over the stream of a question, whose SQL is `inner`, as its post-processing.

    Guarantee: keys, statistics and rows are those of the stream's question, so that nothing else is
    read.
    Refuses: what a SELECT over a released table refuses, and other tables beside the stream.
    """
    try:
        statement = read_statement(sql)
        for node in _streams(statement):
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
            node.replace(exp.Subquery(this=read_statement(inner), alias=alias))
        question = read_nested(statement, Catalogue(dict(schemas), {}), public_values)
    except RecursionError:
        raise too_deep() from None
    same = question.rows == asked.rows and question.keys == asked.keys
    if not same or not set(question.statistics) <= set(asked.statistics):
        raise UnsupportedQuery(
            "a SELECT over a stream reads that stream alone: leave out other tables, and ask for "
            "them by themselves"
        )
    return question


def _streams(statement: exp.Expr) -> list[exp.Table]:
    """Return the tables of a statement that are streams; no declared table has a dot in its name."""
    found = []
    for node in statement.find_all(exp.Table):
        prefix = node.args.get("db")
        if isinstance(prefix, exp.Identifier) and prefix.name.casefold() == STREAMS:
            found.append(node)
    return found
