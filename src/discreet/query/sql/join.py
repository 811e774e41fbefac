"""JOIN: with a public table, or of private tables on the person. Nothing else keeps every row with one unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sqlglot import exp

from ...data.unit import Rows
from ..algebra.chain import chained
from ..algebra.expression import Expression, Field, Function
from ..algebra.joins import apart, public_columns
from ..algebra.refusal import refusal, unbounded
from ..algebra.tree import JoinPeople, JoinPublic, Where
from ..bounds.rows import unit_of
from .expression import read
from .scope import FromItem, PersonId, PublicItem, Scope, ShownColumns, find, lookup, no_window, row_names
from .syntax import identifier, only

__all__ = ["join_items", "keeps_left"]

Operand: TypeAlias = Expression | PersonId


def keeps_left(join: exp.Join) -> bool:
    """Return whether a join keeps rows without a match; refuses other joins than JOIN and LEFT JOIN on a condition."""
    only(join, "this", "on", "using", "side", "kind", "method")
    if join.args.get("method"):
        raise refusal(
            f"{str(join.args['method']).upper()} JOIN", "it is not supported", "write JOIN … ON with an equality"
        )
    side, kind = (str(join.args.get(part) or "").upper() for part in ("side", "kind"))
    if kind == "CROSS" or (join.args.get("on") is None and not join.args.get("using")):
        raise unbounded("CROSS JOIN", "each row would meet every other", "write JOIN … ON with an equality")
    if kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT"):
        raise refusal(f"{side} {kind}".strip() + " JOIN", "it is not supported", "write JOIN or LEFT JOIN")
    return side == "LEFT"


def join_items(left: Scope | PublicItem, right: Scope | PublicItem, join: exp.Join, keep: bool) -> Scope:
    """Join one more item; a public table may stand on either side of an inner join."""
    match left, right:
        case Scope(), PublicItem():
            return _with_public(left, right, join, keep)
        case PublicItem(), Scope() if not keep:
            return _with_public(right, left, join, keep=False)
        case Scope(), Scope() if not keep:
            return _with_private(left, right, join)
        case Scope(), Scope():
            raise refusal("LEFT JOIN of private tables", "it is not supported", "write JOIN, on the person")
        case _:
            raise refusal("JOIN", "a private table must come first", "write FROM private JOIN public ON …")


def _with_public(scope: Scope, public: PublicItem, join: exp.Join, keep: bool) -> Scope:
    columns = public_columns(scope.rows, public.table)
    shown: ShownColumns = tuple((column, Field(name)) for name, column in columns)
    back = dict(columns)
    matched, rest, merged = _conditions(scope, Scope(scope.rows, (FromItem(public.alias, shown),)), join)
    on = [
        (mine, back[yours.name])
        for mine, yours in matched
        if isinstance(yours, Field) and not isinstance(mine, PersonId)
    ]
    if len(on) < len(matched) or not on:
        raise refusal("JOIN", f"{public.table.name} needs an equality with one of its columns", "write ON x = column")
    if rest and keep:
        raise refusal("LEFT JOIN", "its ON takes equalities only", "put other conditions into WHERE")
    rows = JoinPublic(scope.rows, public.table, tuple(on), columns, keep)
    return _narrowed(Scope(rows, (*scope.sources, FromItem(public.alias, shown)), scope.merged | merged), rest)


def _with_private(left: Scope, right: Scope, join: exp.Join) -> Scope:
    if any(isinstance(unit_of(scope.rows), Rows) for scope in (left, right)):
        raise unbounded(
            "JOIN of private tables", "their unit is a row, and one row could meet any number of others",
            'declare the person: unit=People("id", max_rows=…)',
        )  # fmt: skip
    no_window(left.rows, "JOIN of private tables")
    no_window(right.rows, "JOIN of private tables")
    rows, new = apart(left.rows, right.rows)
    right_sources = tuple(FromItem(s.alias, _renamed(s.shown, new)) for s in right.sources)
    other = Scope(rows, right_sources)
    matched, rest, merged = _conditions(left, other, join)
    people = [pair for pair in matched if isinstance(pair[0], PersonId) and isinstance(pair[1], PersonId)]
    on = [(m, y) for m, y in matched if not isinstance(m, PersonId) and not isinstance(y, PersonId)]
    if not people or len(people) + len(on) < len(matched):
        raise unbounded("JOIN of private tables", "rows of different people could meet", "join them ON the person's id")
    scope = Scope(JoinPeople(left.rows, rows, tuple(on)), (*left.sources, *right_sources), left.merged | merged)
    return _narrowed(scope, rest)


def _renamed(shown: ShownColumns, new: Mapping[str, str]) -> ShownColumns:
    return tuple((name, Field(new[what.name]) if isinstance(what, Field) else what) for name, what in shown)


def _narrowed(scope: Scope, rest: list[exp.Expr]) -> Scope:
    if not rest:
        return scope
    names = row_names(scope)
    condition = chained(Function.AND, [read(part, names) for part in rest])
    return Scope(Where(scope.rows, condition), scope.sources, scope.merged)


def _conditions(
    left: Scope, right: Scope, join: exp.Join
) -> tuple[list[tuple[Operand, Operand]], list[exp.Expr], frozenset[str]]:
    """Split a join's condition into equalities of the two sides, the rest, and the names that USING merges."""
    using = [identifier(name) for name in join.args.get("using") or ()]
    if using:
        pairs = [tuple(find(scope, exp.column(name)) for scope in (left, right)) for name in using]
        return [(mine, yours) for mine, yours in pairs], [], frozenset(name.casefold() for name in using)
    matched: list[tuple[Operand, Operand]] = []
    rest: list[exp.Expr] = []
    condition = join.args["on"].unnest()
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        pair = _equality(part, left, right)
        if pair is None:
            rest.append(part)
        else:
            matched.append(pair)
    return matched, rest, frozenset()


def _equality(node: exp.Expr, left: Scope, right: Scope) -> tuple[Operand, Operand] | None:
    """Read an equality whose one side is of the left and the other of the right; None if it is anything else."""
    if not isinstance(node, exp.EQ):
        return None
    only(node, "this", "expression")
    sides = {_side(part, left, right): part for part in (node.this, node.expression)}
    if set(sides) != {"left", "right"} or not isinstance(sides["right"], exp.Column):
        return None
    return _read_side(sides["left"], left), find(right, sides["right"])


def _side(node: exp.Expr, left: Scope, right: Scope) -> str:
    """Return to which side the columns of an expression belong: left, right, or neither alone."""
    sides = set()
    for column in node.find_all(exp.Column):
        name, table = column.name, column.args.get("table")
        where = None if table is None else identifier(table)
        found = (bool(lookup(left, name, where)), bool(lookup(right, name, where)))
        sides.add({(True, True): "both", (True, False): "left", (False, True): "right"}.get(found, "none"))
    return sides.pop() if len(sides) == 1 else "neither"


def _read_side(node: exp.Expr, scope: Scope) -> Operand:
    if isinstance(node, exp.Column) and isinstance(find(scope, node), PersonId):
        return PersonId()
    return read(node, row_names(scope))
