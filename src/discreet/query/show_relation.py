"""Relations as SQL text, which `sql` reads back as the same relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from ..data.unit import People
from .expression import Expression
from .rows import columns_of, unit_of
from .show_expression import expression_text, quoted
from .tree import JoinPeople, JoinPublic, Named, PerPerson, Relation, Scan, Select, Total, Union, Where

__all__ = ["Shown", "from_text"]


@dataclass(frozen=True, slots=True)
class Shown:
    """FROM (and WHERE) as text, and how its columns and its person are written there."""

    text: str
    names: Mapping[str, str]
    person: str | None


def from_text(relation: Relation) -> Shown:
    """Write the FROM and WHERE of a question.

    >>> from ..data import Integer, Rows, Schema
    >>> from .expression import Call, Constant, Field, Function
    >>> adult = Call(Function.AT_MOST, (Constant(18), Field("age")))
    >>> print(from_text(Where(Scan(Schema("people", Rows(), {"age": Integer(0, 120)})), adult)).text)
    FROM people
    WHERE age >= 18
    """
    return _clauses(relation, (f"t{number}" for number in count(1)))


def _clauses(relation: Relation, aliases: Iterator[str]) -> Shown:
    """Write FROM for any relation; the outermost condition becomes WHERE."""
    if not isinstance(relation, Where):
        shown = _item(relation, aliases, alone=True)
        return Shown(f"FROM {shown.text}", shown.names, shown.person)
    shown = _item(relation.rows, aliases, alone=True)
    condition = expression_text(relation.condition, shown.names)
    return Shown(f"FROM {shown.text}\nWHERE {condition}", shown.names, shown.person)


def _item(relation: Relation, aliases: Iterator[str], *, alone: bool) -> Shown:
    """Write an item of FROM: a table, a join, or a sub-query; alone, its columns need no alias before them."""
    match relation:
        case JoinPublic():
            return _join_public(relation, aliases)
        case JoinPeople():
            return _join_people(relation, aliases)
        case Scan(schema=schema) if alone:
            return Shown(quoted(schema.name), _plain(relation), _person(relation))
        case Scan(schema=schema):
            alias = next(aliases)
            return _prefixed(Shown(f"{quoted(schema.name)} AS {alias}", _plain(relation), _person(relation)), alias)
        case _:
            alias = next(aliases)
            shown = Shown(f"({_indented(_block(relation, aliases))}) AS {alias}", _plain(relation), _person(relation))
            return shown if alone else _prefixed(shown, alias)


def _plain(relation: Relation) -> dict[str, str]:
    return {name: quoted(name) for name in columns_of(relation)}


def _person(relation: Relation) -> str | None:
    """Write the person's id, unless a column took its name."""
    unit = unit_of(relation)
    taken = {name.casefold() for name in columns_of(relation)}
    return quoted(unit.id) if isinstance(unit, People) and unit.id.casefold() not in taken else None


def _prefixed(shown: Shown, alias: str) -> Shown:
    person = None if shown.person is None else f"{alias}.{shown.person}"
    return Shown(shown.text, {name: f"{alias}.{text}" for name, text in shown.names.items()}, person)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _join_public(join: JoinPublic, aliases: Iterator[str]) -> Shown:
    left, alias = _item(join.rows, aliases, alone=False), next(aliases)
    tests = [f"{expression_text(e, left.names)} = {alias}.{quoted(column)}" for e, column in join.on]
    kind = "LEFT JOIN" if join.keep else "JOIN"
    text = f"{left.text}\n{kind} {quoted(join.table.name)} AS {alias} ON {' AND '.join(tests)}"
    names = {**left.names, **{name: f"{alias}.{quoted(column)}" for name, column in join.columns}}
    return Shown(text, names, left.person)


def _join_people(join: JoinPeople, aliases: Iterator[str]) -> Shown:
    left = _item(join.left, aliases, alone=False)
    right = _wrapped(join.right, aliases) if isinstance(join.right, JoinPublic | JoinPeople) else None
    right = right or _item(join.right, aliases, alone=False)
    tests = [f"{left.person} = {right.person}"]
    tests += [f"{expression_text(m, left.names)} = {expression_text(y, right.names)}" for m, y in join.on]
    text = f"{left.text}\nJOIN {right.text} ON {' AND '.join(tests)}"
    return Shown(text, {**left.names, **right.names}, left.person)


def _wrapped(relation: Relation, aliases: Iterator[str]) -> Shown:
    alias = next(aliases)
    text = f"({_indented(_block(relation, aliases))}) AS {alias}"
    return _prefixed(Shown(text, _plain(relation), _person(relation)), alias)


def _block(relation: Relation, aliases: Iterator[str]) -> str:
    """Write a relation as a SELECT of all its columns."""
    match relation:
        case Union(parts=parts):
            return "\nUNION ALL\n".join(_block(part, aliases) for part in parts)
        case Select(rows=rows, columns=columns):
            return _select(_clauses(rows, aliases), columns)
        case PerPerson(rows=rows, keys=keys, totals=totals):
            return _people(_clauses(rows, aliases), keys, totals)
        case _:
            shown = _clauses(relation, aliases)
            listed = [_named(text, name) for name, text in shown.names.items()]
            return f"SELECT {', '.join(_with_person(shown, listed))}\n{shown.text}"


def _with_person(shown: Shown, listed: list[str]) -> list[str]:
    return listed if shown.person is None else [shown.person, *listed]


def _named(text: str, name: str) -> str:
    return text if text == quoted(name) else f"{text} AS {quoted(name)}"


def _select(shown: Shown, columns: Named) -> str:
    listed = [_named(expression_text(e, shown.names), name) for name, e in columns]
    return f"SELECT {', '.join(_with_person(shown, listed))}\n{shown.text}"


def _people(shown: Shown, keys: Named, totals: tuple[tuple[str, Total], ...]) -> str:
    written = [expression_text(e, shown.names) for _, e in keys]
    listed = [_named(text, name) for text, (name, _) in zip(written, keys, strict=True)]
    listed += [f"{_total(total, shown.names)} AS {quoted(name)}" for name, total in totals]
    groups = ", ".join([str(shown.person), *written])
    return f"SELECT {', '.join(_with_person(shown, listed))}\n{shown.text}\nGROUP BY {groups}"


def _total(total: Total, names: Mapping[str, str]) -> str:
    of: Expression | None = total.expression
    if of is None:
        return "COUNT(*)"
    return f"{ {'sum': 'SUM', 'least': 'MIN', 'greatest': 'MAX'}[total.what] }({expression_text(of, names)})"
