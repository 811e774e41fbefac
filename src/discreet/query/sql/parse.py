"""SQL as questions: read by an allow-list, refused before any store is touched."""

from __future__ import annotations

from collections.abc import Mapping

from ...data.schema import Schema
from ..algebra.tree import Question, Relation
from ..bounds.keys import PublicValues


def parse(
    sql: str, schemas: Mapping[str, Schema], public_values: PublicValues | None = None
) -> Question:
    """Read one SELECT as a question about declared tables, by their names in `schemas`.

    `public_values` gives the values of a public table's column, which then are keys; nothing else is read anywhere.

    >>> from discreet.query import parse
    >>> from discreet.data import Category, Real, Rows, Schema
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
    from .question import (
        read_sql,
    )  # the one place that waits for sqlglot: it takes longer than all the rest

    return read_sql(sql, schemas, public_values)


def parse_rows(sql: str, schemas: Mapping[str, Schema]) -> Relation:
    """Read one SELECT as rows of declared tables, for what is learned from rows and shows none.

    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.sql.parse import parse_rows
    >>> people = Schema("people", Rows(), {"age": Integer(0, 120), "income": Integer(0, 250_000)})
    >>> parse_rows("SELECT age FROM people WHERE income > 0", {"people": people}).columns
    (('age', Field(name='age')),)

    Refuses aggregates, and all that `parse` refuses in a sub-query.
    """
    from .question import read_row_sql

    return read_row_sql(sql, schemas)
