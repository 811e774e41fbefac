"""JOIN: with a public table, or of private tables on the person.

Guarantee: every row of a join belongs to one unit; no other join keeps that.

| left | right | join | result |
|---|---|---|---|
| private | public | inner, LEFT | private rows with public columns |
| public | private | inner, RIGHT | the same, with the sides exchanged |
| private | private | inner, LEFT, RIGHT, FULL on the person | pairs of rows of one person |
| private | private | SEMI, ANTI on the person | rows of people who have, or lack, a row |

Refuses: with `UnboundedSensitivity` a join in which one row could meet any number of others; with
`UnsupportedQuery` all other joins.

Law: tests/query/test_sql_refusals.py::test_what_one_row_could_multiply_without_limit_is_called_so
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from ....data.unit import Rows
from ...algebra.chain import chain
from ...algebra.expression import Expression, Field, Function
from ...algebra.joins import add_flag, public_columns, with_unique_columns
from ...algebra.refusal import refusal, unbounded_refusal
from ...algebra.tree import JoinPeople, JoinPublic, Relation, Where
from ...bounds.relation_facts import unit_of
from ...python.people import people_in
from ..expression import read, read_all
from ..scope import (
    Absent,
    ColumnMeaning,
    FromItem,
    KeyItem,
    Person,
    PersonId,
    PublicItem,
    Scope,
    ShownColumns,
    column_names,
    is_person,
    lookup,
    refuse_windowed_unit,
    resolve,
    row_names,
)
from ..syntax import conjuncts, identifier, only
from ..times import settle_units

Operand: TypeAlias = Expression | PersonId | Absent
"""A side of an equality in ON."""
SharedTable: TypeAlias = Scope | PublicItem | KeyItem
"""An item of FROM."""
_SIDES = {(True, False): "left", (False, True): "right"}
_EQUALITY = "write JOIN … ON with an equality"


def join_items(left: Scope | PublicItem, right: Scope | PublicItem, join: exp.Join) -> Scope:
    """Join one more item of FROM; a public table may be on either side."""
    kind = join_kind(join)
    if join.args.get("method"):
        join = natural(left, right, join)
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
            people = _matched_people(left, right, join, kind)
            return with_people(left, people, there=kind == "SEMI")
        case _:
            raise refusal(
                f"{kind} JOIN".strip(),
                "each row of an answer stands for private rows",
                "write FROM private LEFT JOIN public ON …",
            )


def join_kind(join: exp.Join) -> str:
    """Return the kind of a join: inner (""), LEFT, RIGHT, FULL, SEMI or ANTI.

    Refuses: joins without a condition with `UnboundedSensitivity`, and other kinds with
        `UnsupportedQuery`.
    """
    only(join, "this", "on", "using", "side", "kind", "method")
    method = _option(join, "method")
    side = _option(join, "side")
    kind = _option(join, "kind")
    if method not in ("", "NATURAL"):
        raise refusal(f"{method} JOIN", "it is not supported", _EQUALITY)
    conditional = method or join.args.get("on") is not None or join.args.get("using")
    if kind == "CROSS" or not conditional:
        raise unbounded_refusal("CROSS JOIN", "each row would meet every other", _EQUALITY)
    if kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
        return kind
    if kind not in ("", "INNER", "OUTER"):
        clause = f"{side} {kind}".strip() + " JOIN"
        raise refusal(clause, "it is not supported", "write JOIN or LEFT JOIN")
    return side


def _option(join: exp.Join, part: str) -> str:
    return str(join.args.get(part) or "").upper()


def natural(left: SharedTable, right: SharedTable, join: exp.Join) -> exp.Join:
    """Read NATURAL JOIN as USING all names that both sides have."""
    right_names = set(map(str.casefold, _column_names(right)))
    left_names = dict.fromkeys(_column_names(left))
    shared = [name for name in left_names if name.casefold() in right_names]
    if not shared:
        raise unbounded_refusal(
            "NATURAL JOIN", "no column has the same name on both sides", _EQUALITY
        )
    return exp.Join(this=join.this, using=list(map(exp.to_identifier, shared)))


def _column_names(item: SharedTable) -> list[str]:
    if isinstance(item, KeyItem):
        return list(item.names)
    if isinstance(item, PublicItem):
        return list(item.table.columns)
    return column_names(item)


def _with_public(scope: Scope, public: PublicItem, join: exp.Join, keep: bool) -> Scope:
    """Join private rows with a public table; `keep` keeps rows without a match."""
    columns = public_columns(scope.rows, public.table)
    shown: ShownColumns = tuple((column, Field(name)) for name, column in columns)
    item = FromItem(public.alias, shown)
    matched, conditions, merged = equalities(scope, Scope(scope.rows, (item,)), join)
    # Equalities name shown columns; the join needs the table's own.
    column_of = dict(columns)
    on = []
    for own, theirs in matched:
        if isinstance(theirs, Field) and not isinstance(own, Person):
            on.append((own, column_of[theirs.name]))
    if len(on) < len(matched) or not on:
        raise refusal(
            "JOIN",
            f"{public.table.name} needs an equality with one of its columns",
            "write ON x = column",
        )
    # A row that fails another condition of ON stays, with NULLs, which WHERE cannot say.
    if conditions and keep:
        raise refusal(
            "LEFT JOIN", "its ON takes equalities only", "put other conditions into WHERE"
        )
    rows = JoinPublic(scope.rows, public.table, tuple(on), columns, keep)
    joined = Scope(rows, (*scope.sources, item), scope.merged | merged)
    return _where(joined, conditions)


def _require_people(*sides: Scope) -> None:
    """Refuse rows that are their own unit, and windows of a person."""
    for scope in sides:
        if isinstance(unit_of(scope.rows), Rows):
            raise unbounded_refusal(
                "JOIN of private tables",
                "their unit is a row, and one row could meet any number of others",
                'declare the person: unit=People("id", max_rows=…)',
            )
    for scope in sides:
        refuse_windowed_unit(scope.rows, "JOIN of private tables")


def _with_private(left: Scope, right: Scope, join: exp.Join, outer: str) -> Scope:
    """Join private rows of the same person; `outer` is "", "left" or "full"."""
    _require_people(left, right)
    # A side that may be missing gets a flag column, which is NULL just where it is missing.
    left_rows = left.rows
    right_rows = right.rows
    left_flag = None
    right_flag = None
    if outer == "full":
        left_rows, left_flag = add_flag(left.rows)
    if outer:
        right_rows, right_flag = add_flag(right.rows)
    right_rows, renamed = with_unique_columns(left_rows, right_rows)
    if right_flag is not None:
        right_flag = renamed[right_flag]
    right_sources = [_renamed(item, renamed) for item in right.sources]
    people, on, conditions, merged = _match(left, Scope(right_rows, tuple(right_sources)), join)
    if conditions and outer:
        raise refusal(
            f"{outer.upper()} JOIN",
            "its ON takes equalities only",
            "put conditions on its right side into a sub-query",
        )
    if not people:
        # A misspelt id is no join of different people: its name is what is wrong.
        for part in conditions:
            for column in part.find_all(exp.Column):
                resolve(Scope(left.rows, (*left.sources, *right.sources)), column)
        raise unbounded_refusal(
            "JOIN of private tables",
            "rows of different people could meet",
            "join them ON the person's id",
        )
    if outer:
        merged = _merged_person(merged, left)
    # The condition was read before ids become absent: in ON both sides are there.
    sources = [_maybe_absent(item, left_flag) for item in left.sources]
    sources += [_maybe_absent(item, right_flag) for item in right_sources]
    rows = JoinPeople(left_rows, right_rows, tuple(on), outer)  # type: ignore[arg-type]
    return _where(Scope(rows, tuple(sources), left.merged | merged), conditions)


def _merged_person(merged: frozenset[str], scope: Scope) -> frozenset[str]:
    """Of the names that USING merges, keep the person's: others may be NULL on one side."""
    return frozenset(name for name in merged if PersonId() in lookup(scope, name, None))


def _maybe_absent(item: FromItem, flag: str | None) -> FromItem:
    """Mark the person's id of a side that may be missing with the flag that tells so."""
    if flag is None:
        return item

    def marked(meaning: ColumnMeaning) -> ColumnMeaning:
        return Absent(flag) if isinstance(meaning, PersonId) else meaning

    return _changed(item, marked)


def _changed(item: FromItem, change: Callable[[ColumnMeaning], ColumnMeaning]) -> FromItem:
    """Change the meaning of every column of an item."""
    columns = [(name, change(meaning)) for name, meaning in item.shown]
    return FromItem(item.alias, tuple(columns))


def _match(
    left: Scope, right: Scope, join: exp.Join
) -> tuple[bool, list[tuple[Expression, Expression]], list[exp.Expr], frozenset[str]]:
    """Read the condition of a join of private tables.

    Return whether the person is matched, which other columns are, further conditions, and the
    names that USING merges. A person matched with anything else counts as no match.
    """
    matched, conditions, merged = equalities(left, right, join)
    people = 0
    on = []
    for own, theirs in matched:
        # The id of a side that may be missing (`Absent`) is neither, which is refused.
        if isinstance(own, PersonId) and isinstance(theirs, PersonId):
            people += 1
        elif not isinstance(own, Person) and not isinstance(theirs, Person):
            on.append((own, theirs))
    only_people = people > 0 and people + len(on) == len(matched)
    return only_people, on, conditions, merged


def _matched_people(left: Scope, right: Scope, join: exp.Join, kind: str) -> Relation:
    """Return the rows of a SEMI or ANTI JOIN, which must match the person and nothing else."""
    _require_people(left, right)
    people, on, conditions, _ = _match(left, right, join)
    if not people or on or conditions:
        raise refusal(
            f"{kind} JOIN", "it matches the person alone", "put other conditions into a sub-query"
        )
    return right.rows


def with_people(scope: Scope, people: Relation, *, there: bool) -> Scope:
    """Keep the rows of people who have a row among `people`, or of those who have none."""
    _require_people(scope, Scope(people, ()))
    return replace(scope, rows=people_in(scope.rows, people, there=there))


def _renamed(item: FromItem, new_names: Mapping[str, str]) -> FromItem:
    """Let the names of an item mean renamed columns."""

    def renamed(meaning: ColumnMeaning) -> ColumnMeaning:
        return Field(new_names[meaning.name]) if isinstance(meaning, Field) else meaning

    return _changed(item, renamed)


def _where(scope: Scope, conditions: list[exp.Expr]) -> Scope:
    """Keep the rows for which further conditions of ON hold."""
    if not conditions:
        return scope
    condition = chain(Function.AND, read_all(conditions, row_names(scope)))
    return replace(scope, rows=Where(scope.rows, condition))


def equalities(
    left: Scope, right: Scope, join: exp.Join
) -> tuple[list[tuple[Operand, Operand]], list[exp.Expr], frozenset[str]]:
    """Split a join's condition into equalities of the two sides and further conditions.

    The last part of the result are the names that USING merges.
    """
    matched: list[tuple[Operand, Operand]] = []
    using = list(map(identifier, join.args.get("using") or ()))
    if using:
        for name in using:
            column = exp.column(name)
            matched.append((resolve(left, column), resolve(right, column)))
        return matched, [], frozenset(map(str.casefold, using))
    conditions: list[exp.Expr] = []
    settle_units(join, lambda name: bool(lookup(left, name, None) or lookup(right, name, None)))
    for part in conjuncts(join.args["on"].unnest()):
        pair = _equality(part, left, right)
        if pair is None:
            conditions.append(part)
        else:
            matched.append(pair)
    return matched, conditions, frozenset()


def _equality(node: exp.Expr, left: Scope, right: Scope) -> tuple[Operand, Operand] | None:
    """Read an equality of an expression of the left with a column of the right; else None."""
    if not isinstance(node, exp.EQ):
        return None
    only(node, "this", "expression")
    sides = _by_side(node, left, right)
    if sides is None or not isinstance(sides[1], exp.Column):
        return None
    return _read_operand(sides[0], left), resolve(right, sides[1])


def _by_side(node: exp.EQ, left: Scope, right: Scope) -> tuple[exp.Expr, exp.Expr] | None:
    """Return the operands of an equality, that of the left first; None if one is of neither."""
    first = _side(node.this, left, right)
    second = _side(node.expression, left, right)
    if (first, second) == ("left", "right"):
        return node.this, node.expression
    if (first, second) == ("right", "left"):
        return node.expression, node.this
    return None


def _side(node: exp.Expr, left: Scope, right: Scope) -> str | None:
    """Return the side to which all columns of an expression belong; None if there is no one."""
    sides = set()
    for column in node.find_all(exp.Column):
        table = column.args.get("table")
        alias = None if table is None else identifier(table)
        in_left = bool(lookup(left, column.name, alias))
        in_right = bool(lookup(right, column.name, alias))
        # A name that both sides have, or neither, belongs to no side.
        sides.add(_SIDES.get((in_left, in_right)))
    return sides.pop() if len(sides) == 1 else None


def _read_operand(node: exp.Expr, scope: Scope) -> Operand:
    if isinstance(node, exp.Column):
        meaning = resolve(scope, node)
        if isinstance(meaning, Person):
            return meaning
    return read(node, row_names(scope))


def person_pair(node: exp.Expr, inner: Scope, outer: Scope) -> bool:
    """Return whether a condition of a sub-query says that its person is the person outside."""
    if not isinstance(node, exp.EQ):
        return False
    sides = _by_side(node, outer, inner)
    if sides is None or not all(isinstance(side, exp.Column) for side in sides):
        return False
    outside, inside = sides
    return is_person(outside, outer) and is_person(inside, inner)
