"""IN (SELECT person …) and EXISTS in WHERE: people with, or without, a row in private rows.

Guarantee: such a condition compares a person with themselves alone, never with another person.

Refuses: with `UnsupportedQuery` a sub-query whose rows may be of other people.

Law: tests/query/test_sql_refusals.py::test_is_refused_and_the_clause_is_named
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...algebra.refusal import refusal
from ...algebra.tree import Relation, Where
from ..expression import read
from ..scope import PersonId, RowView, Scope, is_person, refuse_outer_names, row_names
from ..syntax import clause_of, conjuncts, only
from .join import person_pair, with_people

ReadView = Callable[[exp.Expr], RowView]
ReadFrom = Callable[[exp.Select], Scope]


def without_people(
    condition: exp.Expr, scope: Scope, view: ReadView, source: ReadFrom
) -> tuple[Scope, exp.Expr | None]:
    """Take the conditions on people out of a condition that AND joins.

    Return the scope with the rows they leave, and the other conditions.
    """
    condition = condition.unnest()
    parts = conjuncts(condition)
    others: list[exp.Expr] = []
    for part in parts:
        inner = part.unnest()
        there = True
        while isinstance(inner, exp.Not):
            inner = inner.this.unnest()
            there = not there
        people = _people(inner, scope, view, source)
        if people is None:
            others.append(part)
        else:
            scope = with_people(scope, people, there=there)
    if not others:
        return scope, None
    # The parsed tree is kept where nothing was taken out, so that refusals can quote it.
    if len(others) > 1 and len(others) == len(parts):
        return scope, condition
    return scope, _all_of(others)


def _all_of(conditions: list[exp.Expr]) -> exp.Expr:
    return conditions[0] if len(conditions) == 1 else exp.and_(*conditions)


def _people(node: exp.Expr, scope: Scope, view: ReadView, source: ReadFrom) -> Relation | None:
    """Return the rows whose people a condition asks for; None if it is another condition."""
    if isinstance(node, exp.Exists):
        only(node, "this")
        return _existing(node.this.unnest(), scope, source)
    if not isinstance(node, exp.In) or node.args.get("query") is None:
        return None
    if not is_person(node.this.unnest(), scope):
        return None
    only(node, "this", "query")
    people = view(node.args["query"].this)
    columns = [meaning for _, meaning in people.shown]
    if columns != [PersonId()]:
        raise refusal(
            clause_of(node.this) + " IN (SELECT …)",
            "it compares people",
            "SELECT the person's id alone",
        )
    return people.rows


def _existing(query: exp.Expr, scope: Scope, source: ReadFrom) -> Relation:
    """Read EXISTS (SELECT … FROM b WHERE b.person = a.person AND …)."""
    clause = query.args.get("where")
    if not isinstance(query, exp.Select) or clause is None:
        raise _other_people()
    only(query, "expressions", "from_", "joins", "where")
    inner = source(query)
    parts = conjuncts(clause.this.unnest())
    others = [part for part in parts if not person_pair(part.unnest(), inner, scope)]
    if len(others) == len(parts):
        raise _other_people()
    if not others:
        return inner.rows
    for part in others:
        refuse_outer_names(
            part,
            query,
            scope,
            "join the tables on the person in a sub-query that groups by the person",
        )
    return Where(inner.rows, read(_all_of(others), row_names(inner)))


def _other_people() -> Exception:
    return refusal(
        "EXISTS", "its rows must be of the same person", "write WHERE b.user_id = a.user_id in it"
    )
