"""Relations as SQL text, which `sql` reads back as the same relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from ...data.unit import People
from ...frozen import frozen
from ..algebra.expression import Constant, Expression
from ..algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from ..bounds.fanout import person_rows
from ..bounds.relation_facts import columns_of, unit_of
from .expression import expression_text, quote


@frozen
class Naming:
    """FROM (and WHERE) as text, and how its columns and its person are written there."""

    text: str
    names: Mapping[str, str]
    person: str | None


@frozen
class ListedKeys:
    """Expressions of rows, and the combinations of their values that are asked."""

    matched: tuple[Expression, ...]
    rows: tuple[tuple[Constant, ...], ...]


def from_text(relation: Relation, keys: ListedKeys | None = None) -> Naming:
    """Write the FROM and WHERE of a question; chosen keys are joined as a list.

    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.text.relation import from_text
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> adult = Call(Function.AT_MOST, (Constant(18), Field("age")))
    >>> print(from_text(Where(Scan(Schema("people", Rows(), {"age": Integer(0, 120)})), adult)).text)
    FROM people
    WHERE age >= 18
    """
    return _clauses(relation, (f"t{number}" for number in count(1)), keys)


def _clauses(relation: Relation, aliases: Iterator[str], keys: ListedKeys | None = None) -> Naming:
    """Write FROM for any relation; the outermost condition becomes WHERE."""
    inner = relation.rows if isinstance(relation, Where) else relation
    shown = _item(inner, aliases, alone=True)
    text = f"FROM {shown.text}" + ("" if keys is None else _list_text(keys, shown))
    if isinstance(relation, Where):
        text += f"\nWHERE {expression_text(relation.condition, shown.names)}"
    return Naming(text, shown.names, shown.person)


def _list_text(keys: ListedKeys, shown: Naming) -> str:
    """Write a list of chosen keys as a join of its rows."""
    columns = [f"key_{place}" for place in range(1, len(keys.matched) + 1)]
    rows = ", ".join(
        f"({', '.join(expression_text(value, {}) for value in row)})" for row in keys.rows
    )
    tests = [
        f"{expression_text(e, shown.names)} = k.{name}"
        for e, name in zip(keys.matched, columns, strict=True)
    ]
    return f"\nJOIN (VALUES {rows}) AS k({', '.join(columns)}) ON {' AND '.join(tests)}"


def _item(relation: Relation, aliases: Iterator[str], *, alone: bool) -> Naming:
    """Write an item of FROM: a table, a join, or a sub-query; alone, its columns need no alias before them."""
    match relation:
        case JoinPublic():
            return _join_public(relation, aliases)
        case JoinPeople():
            return _join_people(relation, aliases)
        case Scan(schema=schema) if alone:
            return Naming(quote(schema.name), _plain(relation), _person(relation))
        case Scan(schema=schema):
            alias = next(aliases)
            return _prefix(
                Naming(f"{quote(schema.name)} AS {alias}", _plain(relation), _person(relation)),
                alias,
            )
        case _:
            alias = next(aliases)
            shown = Naming(
                f"({_indent(_block(relation, aliases))}) AS {alias}",
                _plain(relation),
                _person(relation),
            )
            return shown if alone else _prefix(shown, alias)


def _plain(relation: Relation) -> dict[str, str]:
    return {name: quote(name) for name in columns_of(relation)}


def _person(relation: Relation) -> str | None:
    """Write the person's id, unless a column took its name."""
    unit = unit_of(relation)
    taken = {name.casefold() for name in columns_of(relation)}
    return quote(unit.id) if isinstance(unit, People) and unit.id.casefold() not in taken else None


def _prefix(shown: Naming, alias: str) -> Naming:
    person = None if shown.person is None else f"{alias}.{shown.person}"
    return Naming(
        shown.text, {name: f"{alias}.{text}" for name, text in shown.names.items()}, person
    )


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


def _join_public(join: JoinPublic, aliases: Iterator[str]) -> Naming:
    left, alias = _item(join.rows, aliases, alone=False), next(aliases)
    tests = [f"{expression_text(e, left.names)} = {alias}.{quote(column)}" for e, column in join.on]
    kind = "LEFT JOIN" if join.keep else "JOIN"
    text = f"{left.text}\n{kind} {quote(join.table.name)} AS {alias} ON {' AND '.join(tests)}"
    names = {**left.names, **{name: f"{alias}.{quote(column)}" for name, column in join.columns}}
    return Naming(text, names, left.person)


def _join_people(join: JoinPeople, aliases: Iterator[str]) -> Naming:
    left = _item(join.left, aliases, alone=False)
    right = _wrap(join.right, aliases) if isinstance(join.right, JoinPublic | JoinPeople) else None
    right = right or _item(join.right, aliases, alone=False)
    tests = [f"{left.person} = {right.person}"]
    tests += [
        f"{expression_text(m, left.names)} = {expression_text(y, right.names)}" for m, y in join.on
    ]
    kind = {"": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}[join.outer]
    text = f"{left.text}\n{kind} {right.text} ON {' AND '.join(tests)}"
    return Naming(text, {**left.names, **right.names}, left.person)


def _wrap(relation: Relation, aliases: Iterator[str]) -> Naming:
    alias = next(aliases)
    text = f"({_indent(_block(relation, aliases))}) AS {alias}"
    return _prefix(Naming(text, _plain(relation), _person(relation)), alias)


def _block(relation: Relation, aliases: Iterator[str]) -> str:
    """Write a relation as a SELECT of all its columns."""
    match relation:
        case Union(parts=parts):
            return "\nUNION ALL\n".join(_block(part, aliases) for part in parts)
        case Select(rows=rows, columns=columns):
            shown = _clauses(rows, aliases)
            return _list(
                shown, relation, {name: expression_text(e, shown.names) for name, e in columns}
            )
        case PerPerson(rows=rows):
            return _people(_clauses(rows, aliases), relation)
        case _:
            shown = _clauses(relation, aliases)
            return _list(shown, relation, shown.names)


def _list(shown: Naming, relation: Relation, columns: Mapping[str, str], groups: str = "") -> str:
    """Write a SELECT of named columns, and of the person unless a column takes that name."""
    first = [] if shown.person is None or _person(relation) is None else [shown.person]
    listed = [*first, *(_name(text, name) for name, text in columns.items())]
    return f"SELECT {', '.join(listed)}\n{shown.text}{groups}"


def _name(text: str, name: str) -> str:
    return text if text == quote(name) else f"{text} AS {quote(name)}"


def _people(shown: Naming, people: PerPerson) -> str:
    written = {name: expression_text(e, shown.names) for name, e in people.keys}
    groups = ", ".join([str(shown.person), *written.values()])
    most = person_rows(people.rows)
    columns = {
        **written,
        **{name: _total(total, shown.names, most) for name, total in people.totals},
    }
    return _list(shown, people, columns, f"\nGROUP BY {groups}")


def _total(total: Total, names: Mapping[str, str], most: int) -> str:
    """Write a total; a count that goes beyond `max_rows`, which SQL has no word for, with its bound."""
    of: Expression | None = total.expression
    if of is None:
        return "COUNT(*)" if total.high <= most else f"LEAST(COUNT(*), {total.high})"
    return f"{ {'sum': 'SUM', 'least': 'MIN', 'greatest': 'MAX'}[total.what] }({expression_text(of, names)})"
