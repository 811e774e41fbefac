"""JOIN: with a public table, or of private tables on the person. Nothing else keeps every row with one unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from ....data.unit import Rows
from ...algebra.chain import chain
from ...algebra.expression import Expression, Field, Function
from ...algebra.joins import add_flag, apart, public_columns
from ...algebra.refusal import refusal, unbounded
from ...algebra.tree import JoinPeople, JoinPublic, Relation, Where
from ...bounds.relation_facts import unit_of
from ...python.people import people_in
from ..expression import read
from ..scope import (
    Absent,
    FromItem,
    KeyItem,
    Person,
    PersonId,
    PublicItem,
    Scope,
    ShownColumns,
    find,
    lookup,
    no_window,
    row_names,
)
from ..syntax import identifier, only
from ..times.interval import settle_units

Operand: TypeAlias = Expression | PersonId | Absent
SharedTable: TypeAlias = Scope | PublicItem | KeyItem
"""An item of FROM."""


def join_items(left: Scope | PublicItem, right: Scope | PublicItem, join: exp.Join) -> Scope:
    """Join one more item; a public table may stand on either side, rows without a match only be private ones."""
    kind = join_kind(join)
    join = natural(left, right, join) if join.args.get("method") else join
    match left, right, kind:
        case Scope(), PublicItem(), "" | "LEFT":
            return _with_public(left, right, join, keep=kind == "LEFT")
        case PublicItem(), Scope(), "" | "RIGHT":
            return _with_public(right, left, join, keep=kind == "RIGHT")
        case Scope(), Scope(), "RIGHT":
            return _with_private(right, left, join, "left")
        case Scope(), Scope(), "" | "LEFT" | "FULL":
            return _with_private(left, right, join, kind.lower())
        case Scope(), Scope(), "SEMI" | "ANTI":
            return with_people(left, _only_person(left, right, join, kind), there=kind == "SEMI")
        case _:
            raise refusal(
                f"{kind} JOIN".strip(),
                "each row of an answer stands for private rows",
                "write FROM private LEFT JOIN public ON …",
            )


def join_kind(join: exp.Join) -> str:
    """Return which join it is: inner (""), LEFT, RIGHT, FULL, SEMI or ANTI; refuses those without a condition."""
    only(join, "this", "on", "using", "side", "kind", "method")
    method, side, kind = (
        str(join.args.get(part) or "").upper() for part in ("method", "side", "kind")
    )
    if method not in ("", "NATURAL"):
        raise refusal(f"{method} JOIN", "it is not supported", "write JOIN … ON with an equality")
    if kind == "CROSS" or (
        not method and join.args.get("on") is None and not join.args.get("using")
    ):
        raise unbounded(
            "CROSS JOIN", "each row would meet every other", "write JOIN … ON with an equality"
        )
    if kind not in ("", "INNER", "OUTER", "SEMI", "ANTI") or (
        kind in ("SEMI", "ANTI") and side not in ("", "LEFT")
    ):
        raise refusal(
            f"{side} {kind}".strip() + " JOIN", "it is not supported", "write JOIN or LEFT JOIN"
        )
    return kind if kind in ("SEMI", "ANTI") else side


def natural(left: SharedTable, right: SharedTable, join: exp.Join) -> exp.Join:
    """Read NATURAL JOIN as USING all names that both sides have."""
    theirs = {name.casefold() for name in _labels(right)}
    both = [name for name in dict.fromkeys(_labels(left)) if name.casefold() in theirs]
    if not both:
        raise unbounded(
            "NATURAL JOIN",
            "no column has the same name on both sides",
            "write JOIN … ON with an equality",
        )
    return exp.Join(this=join.this, using=[exp.to_identifier(name) for name in both])


def _labels(item: SharedTable) -> list[str]:
    if isinstance(item, KeyItem):
        return list(item.names)
    if isinstance(item, PublicItem):
        return list(item.table.columns)
    return [label for source in item.sources for label, _ in source.shown]


def _with_public(scope: Scope, public: PublicItem, join: exp.Join, keep: bool) -> Scope:
    columns = public_columns(scope.rows, public.table)
    shown: ShownColumns = tuple((column, Field(name)) for name, column in columns)
    back = dict(columns)
    matched, rest, merged = equalities(
        scope, Scope(scope.rows, (FromItem(public.alias, shown),)), join
    )
    on = [
        (mine, back[yours.name])
        for mine, yours in matched
        if isinstance(yours, Field) and not isinstance(mine, Person)
    ]
    if len(on) < len(matched) or not on:
        raise refusal(
            "JOIN",
            f"{public.table.name} needs an equality with one of its columns",
            "write ON x = column",
        )
    if rest and keep:
        raise refusal(
            "LEFT JOIN", "its ON takes equalities only", "put other conditions into WHERE"
        )
    rows = JoinPublic(scope.rows, public.table, tuple(on), columns, keep)
    return _narrow(
        Scope(rows, (*scope.sources, FromItem(public.alias, shown)), scope.merged | merged), rest
    )


def _people_only(*sides: Scope) -> None:
    """Refuse rows that are their own unit, and windows of a person."""
    if any(isinstance(unit_of(scope.rows), Rows) for scope in sides):
        raise unbounded(
            "JOIN of private tables", "their unit is a row, and one row could meet any number of others",
            'declare the person: unit=People("id", max_rows=…)',
        )  # fmt: skip
    for scope in sides:
        no_window(scope.rows, "JOIN of private tables")


def _with_private(left: Scope, right: Scope, join: exp.Join, outer: str) -> Scope:
    _people_only(left, right)
    first, flag = add_flag(left.rows) if outer == "full" else (left.rows, None)
    second, other_flag = add_flag(right.rows) if outer else (right.rows, None)
    rows, new = apart(first, second)
    mine = tuple(FromItem(s.alias, _absent(s.shown, flag)) for s in left.sources)
    yours = tuple(
        FromItem(s.alias, _absent(_rename(s.shown, new), other_flag and new[other_flag]))
        for s in right.sources
    )
    people, on, rest, merged = _match(
        left,
        Scope(rows, tuple(FromItem(s.alias, _rename(s.shown, new)) for s in right.sources)),
        join,
    )
    if rest and outer:
        raise refusal(
            f"{outer.upper()} JOIN",
            "its ON takes equalities only",
            "put conditions on its right side into a sub-query",
        )
    if not people:
        raise unbounded(
            "JOIN of private tables",
            "rows of different people could meet",
            "join them ON the person's id",
        )
    merged_names = (left.merged | merged) if not outer else left.merged | _same_person(merged, left)
    scope = Scope(JoinPeople(first, rows, tuple(on), outer), (*mine, *yours), merged_names)  # type: ignore[arg-type]
    return _narrow(scope, rest)


def _same_person(merged: frozenset[str], scope: Scope) -> frozenset[str]:
    """Of the names that USING merges, an outer join keeps the person: other columns may be NULL on one side."""
    return frozenset(
        name for name in merged if any(isinstance(w, PersonId) for w in lookup(scope, name, None))
    )


def _absent(shown: ShownColumns, flag: str | None) -> ShownColumns:
    """Let the person's id of a side that may be missing say just that."""
    if flag is None:
        return shown
    return tuple(
        (name, Absent(flag) if isinstance(what, PersonId) else what) for name, what in shown
    )


def _match(
    left: Scope, right: Scope, join: exp.Join
) -> tuple[bool, list[tuple[Expression, Expression]], list[exp.Expr], frozenset[str]]:
    """Return whether the person is matched, which other columns are, further conditions, and names merged by USING."""
    matched, rest, merged = equalities(left, right, join)
    people = [
        pair for pair in matched if isinstance(pair[0], PersonId) and isinstance(pair[1], PersonId)
    ]
    on = [(m, y) for m, y in matched if not isinstance(m, Person) and not isinstance(y, Person)]
    return bool(people) and len(people) + len(on) == len(matched), on, rest, merged


def _only_person(left: Scope, right: Scope, join: exp.Join, kind: str) -> Relation:
    """Return the rows of a SEMI or ANTI JOIN, which must match the person and nothing else."""
    _people_only(left, right)
    people, on, rest, _ = _match(left, right, join)
    if not people or on or rest:
        raise refusal(
            f"{kind} JOIN", "it matches the person alone", "put other conditions into a sub-query"
        )
    return right.rows


def with_people(scope: Scope, people: Relation, *, there: bool) -> Scope:
    """Keep the rows of people who have a row among `people`, or of those who have none."""
    _people_only(scope, Scope(people, ()))
    return replace(scope, rows=people_in(scope.rows, people, there=there))


def _rename(shown: ShownColumns, new: Mapping[str, str]) -> ShownColumns:
    return tuple(
        (name, Field(new[what.name]) if isinstance(what, Field) else what) for name, what in shown
    )


def _narrow(scope: Scope, rest: list[exp.Expr]) -> Scope:
    if not rest:
        return scope
    names = row_names(scope)
    condition = chain(Function.AND, [read(part, names) for part in rest])
    return replace(scope, rows=Where(scope.rows, condition))


def equalities(
    left: Scope, right: Scope, join: exp.Join
) -> tuple[list[tuple[Operand, Operand]], list[exp.Expr], frozenset[str]]:
    """Split a join's condition into equalities of the two sides, the rest, and the names that USING merges."""
    using = [identifier(name) for name in join.args.get("using") or ()]
    if using:
        pairs = [tuple(find(scope, exp.column(name)) for scope in (left, right)) for name in using]
        return (
            [(mine, yours) for mine, yours in pairs],
            [],
            frozenset(name.casefold() for name in using),
        )
    matched: list[tuple[Operand, Operand]] = []
    rest: list[exp.Expr] = []
    settle_units(join, lambda name: any(lookup(side, name, None) for side in (left, right)))
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
        sides.add(
            {(True, True): "both", (True, False): "left", (False, True): "right"}.get(found, "none")
        )
    return sides.pop() if len(sides) == 1 else "neither"


def _read_side(node: exp.Expr, scope: Scope) -> Operand:
    if isinstance(node, exp.Column) and isinstance(found := find(scope, node), Person):
        return found
    return read(node, row_names(scope))


def person_pair(node: exp.Expr, inner: Scope, outer: Scope) -> bool:
    """Return whether a condition of a sub-query says that its person is the person outside."""
    if not isinstance(node, exp.EQ):
        return False
    sides = {_side(part, outer, inner): part for part in (node.this, node.expression)}
    if set(sides) != {"left", "right"} or not all(
        isinstance(part, exp.Column) for part in sides.values()
    ):
        return False
    return isinstance(find(outer, sides["left"]), PersonId) and isinstance(
        find(inner, sides["right"]), PersonId
    )
