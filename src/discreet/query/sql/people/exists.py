"""IN (SELECT person …) and EXISTS in WHERE: people who have, or have not, a row in other private rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ...algebra.refusal import refusal
from ...algebra.tree import Relation, Where
from ..expression import read
from ..scope import PersonId, RowView, Scope, is_person, row_names
from ..syntax import clause_of, only
from .join import person_pair, with_people

ReadView = Callable[[exp.Expr], RowView]
ReadFrom = Callable[[exp.Select], Scope]


def without_people(
    condition: exp.Expr, scope: Scope, view: ReadView, source: ReadFrom
) -> tuple[Scope, exp.Expr | None]:
    """Take the conditions on people out of a condition that AND joins; return the rows they leave, and the rest."""
    condition = condition.unnest()
    rest: list[exp.Expr] = []
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        inner, there = part.unnest(), True
        while isinstance(inner, exp.Not):
            inner, there = inner.this.unnest(), not there
        people = _people(inner, scope, view, source)
        if people is None:
            rest.append(part)
        else:
            scope = with_people(scope, people, there=there)
    if len(rest) < 2:
        return scope, rest[0] if rest else None
    return scope, condition if isinstance(condition, exp.And) and len(rest) == _parts(
        condition
    ) else exp.and_(*rest)


def _parts(condition: exp.And) -> int:
    return sum(1 for _ in condition.flatten())


def _people(node: exp.Expr, scope: Scope, view: ReadView, source: ReadFrom) -> Relation | None:
    """Return the rows whose people a condition asks for; None if it is another condition."""
    if (
        isinstance(node, exp.In)
        and node.args.get("query") is not None
        and is_person(node.this.unnest(), scope)
    ):
        only(node, "this", "query")
        found = view(node.args["query"].this)
        if [isinstance(what, PersonId) for _, what in found.shown] != [True]:
            raise refusal(
                clause_of(node.this) + " IN (SELECT …)",
                "it compares people",
                "SELECT the person's id alone",
            )
        return found.rows
    if isinstance(node, exp.Exists):
        only(node, "this")
        return _existing(node.this.unnest(), scope, source)
    return None


def _existing(query: exp.Expr, scope: Scope, source: ReadFrom) -> Relation:
    """Read EXISTS (SELECT … FROM b WHERE b.person = a.person AND …)."""
    clause = query.args.get("where")
    if not isinstance(query, exp.Select) or clause is None:
        raise refusal(
            "EXISTS",
            "its rows must be of the same person",
            "write WHERE b.user_id = a.user_id in it",
        )
    only(query, "expressions", "from_", "joins", "where")
    inner, condition = source(query), clause.this.unnest()
    parts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    others = [part for part in parts if not person_pair(part.unnest(), inner, scope)]
    if len(others) == len(parts):
        raise refusal(
            "EXISTS",
            "its rows must be of the same person",
            "write WHERE b.user_id = a.user_id in it",
        )
    if not others:
        return inner.rows
    rest = others[0] if len(others) == 1 else exp.and_(*others)
    return replace(inner, rows=Where(inner.rows, read(rest, row_names(inner)))).rows
