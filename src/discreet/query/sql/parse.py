"""SQL parser for questions: an allow-list, applied before any private row is read.

Guarantee: parsing reads declared schemas and public values alone, never a private row.

Law: tests/query/test_sql_refusals.py::test_is_refused_and_the_clause_is_named
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...data.schema import Schema
from ..algebra.tree import Question
from ..bounds.keys import PublicValues

if TYPE_CHECKING:
    from sqlglot import exp

    from .relation import Catalogue

# Also in quotes, backticks or brackets, as dialects write names.
_STREAM = re.compile(r"\bstream\b[\"`\]]?\s*\.", re.IGNORECASE)


def parse(
    sql: str, schemas: Mapping[str, Schema], public_values: PublicValues | None = None
) -> Question:
    """Read one SELECT as a question about declared tables, by their names in `schemas`.

    `public_values` returns the values of a public table's column, which then become keys. No
    other data is read.

    >>> from discreet.query import parse
    >>> from discreet.data import Category, Real, Rows, Schema
    >>> columns = {"income": Real(0, 250_000), "region": Category(["N", "S"])}
    >>> people = Schema("people", Rows(), columns)
    >>> sql = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    >>> question = parse(sql, {"people": people})
    >>> question.keys[0].values, question.statistics
    (('N', 'S'), (('n', Count()),))
    >>> parse("SELECT * FROM people", {"people": people})
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: SELECT *: it shows rows of people; ask for aggregates, as COUNT(*) or AVG(age)

    Refuses: every clause and function that is not on the allow-list, by name, with
        `UnsupportedQuery`; docs/reference/question-language.md has the list.
    """
    # Importing sqlglot takes longer than all other imports together, so it waits until here.
    from .question import read_sql

    return read_sql(sql, schemas, public_values, _read_nested)


def mentions_stream(sql: object) -> bool:
    """Return whether a text may read a stream: it has `stream.` somewhere; nothing is parsed.

    >>> from discreet.query.sql.parse import mentions_stream
    >>> mentions_stream("SELECT n FROM stream.visits"), mentions_stream("SELECT n FROM streams")
    (True, False)
    """
    return isinstance(sql, str) and _STREAM.search(sql) is not None


def _read_nested(
    statement: exp.Expr, tables: Catalogue, public_values: PublicValues | None
) -> Question:
    # Most questions are one SELECT: what reads a SELECT inside another waits until there is one.
    from .released import read_nested

    return read_nested(statement, tables, public_values)
