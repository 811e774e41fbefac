"""Relations as SQL text, which the SQL reader reads back as the same relation.

Law: tests/query/test_show.py::TestEveryQuestion
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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

_JOIN_KINDS = {"": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}
_TOTALS = {"sum": "SUM", "least": "MIN", "greatest": "MAX"}


@frozen
class Naming:
    """FROM (and WHERE) as text, with the texts of its columns and of its person."""

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
    >>> people = Schema("people", Rows(), {"age": Integer(0, 120)})
    >>> print(from_text(Where(Scan(people), adult)).text)
    FROM people
    WHERE age >= 18
    """
    aliases = map("t{}".format, count(1))
    return _clauses(relation, aliases, keys)


def _clauses(relation: Relation, aliases: Iterator[str], keys: ListedKeys | None = None) -> Naming:
    """Write FROM for any relation; the outermost condition becomes WHERE."""
    condition = None
    if isinstance(relation, Where):
        condition = relation.condition
        relation = relation.rows
    shown = _item(relation, aliases, alone=True)
    text = f"FROM {shown.text}"
    if keys is not None:
        text += _key_join(keys, shown)
    if condition is not None:
        text += f"\nWHERE {expression_text(condition, shown.names)}"
    return Naming(text, shown.names, shown.person)


def _key_join(keys: ListedKeys, shown: Naming) -> str:
    """Write a list of chosen keys as a join of its rows."""
    columns = []
    tests = []
    for number, expression in enumerate(keys.matched, 1):
        column = f"key_{number}"
        columns.append(column)
        tests.append(f"{expression_text(expression, shown.names)} = k.{column}")
    rows = []
    for row in keys.rows:
        values = [expression_text(value, {}) for value in row]
        rows.append(f"({_comma(values)})")
    condition = " AND ".join(tests)
    return f"\nJOIN (VALUES {_comma(rows)}) AS k({_comma(columns)}) ON {condition}"


def _comma(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _item(relation: Relation, aliases: Iterator[str], *, alone: bool) -> Naming:
    """Write an item of FROM: a table, a join, or a sub-query.

    `alone`: there is no other item, so columns need no alias before them.
    """
    # Aliases are numbered in the order of the text, so each is taken before inner ones.
    match relation:
        case JoinPublic():
            return _join_public(relation, aliases)
        case JoinPeople():
            return _join_people(relation, aliases)
        case Scan(schema=schema):
            table = quote(schema.name)
            if alone:
                return _named(table, relation)
            alias = next(aliases)
            return _with_prefix(_named(f"{table} AS {alias}", relation), alias)
        case _:
            alias = next(aliases)
            shown = _subquery(relation, aliases, alias)
            if alone:
                return shown
            return _with_prefix(shown, alias)


def _named(text: str, relation: Relation) -> Naming:
    """Name the columns and the person of a relation plainly."""
    names = {name: quote(name) for name in columns_of(relation)}
    return Naming(text, names, _person(relation))


def _subquery(relation: Relation, aliases: Iterator[str], alias: str) -> Naming:
    block = _block(relation, aliases).replace("\n", "\n  ")
    return _named(f"({block}) AS {alias}", relation)


def _person(relation: Relation) -> str | None:
    """Write the person's id, unless a column took its name."""
    unit = unit_of(relation)
    if not isinstance(unit, People):
        return None
    # Names of columns are compared in any case, as SQL does.
    taken = map(str.casefold, columns_of(relation))
    return None if unit.id.casefold() in taken else quote(unit.id)


def _with_prefix(shown: Naming, alias: str) -> Naming:
    """Write the alias before every column and before the person."""
    names = {}
    for name, text in shown.names.items():
        names[name] = f"{alias}.{text}"
    person = shown.person
    if person is not None:
        person = f"{alias}.{person}"
    return Naming(shown.text, names, person)


def _join_public(join: JoinPublic, aliases: Iterator[str]) -> Naming:
    left = _item(join.rows, aliases, alone=False)
    alias = next(aliases)
    tests = []
    for expression, column in join.on:
        own = expression_text(expression, left.names)
        tests.append(f"{own} = {alias}.{quote(column)}")
    kind = "LEFT JOIN" if join.keep else "JOIN"
    table = quote(join.table.name)
    condition = " AND ".join(tests)
    text = f"{left.text}\n{kind} {table} AS {alias} ON {condition}"
    names = dict(left.names)
    for name, column in join.columns:
        names[name] = f"{alias}.{quote(column)}"
    return Naming(text, names, left.person)


def _join_people(join: JoinPeople, aliases: Iterator[str]) -> Naming:
    left = _item(join.left, aliases, alone=False)
    if isinstance(join.right, JoinPublic | JoinPeople):
        # A join on the right side needs brackets, which only a sub-query has here.
        alias = next(aliases)
        right = _with_prefix(_subquery(join.right, aliases, alias), alias)
    else:
        right = _item(join.right, aliases, alone=False)
    tests = [f"{left.person} = {right.person}"]
    for left_side, right_side in join.on:
        own = expression_text(left_side, left.names)
        theirs = expression_text(right_side, right.names)
        tests.append(f"{own} = {theirs}")
    kind = _JOIN_KINDS[join.outer]
    condition = " AND ".join(tests)
    text = f"{left.text}\n{kind} {right.text} ON {condition}"
    return Naming(text, {**left.names, **right.names}, left.person)


def _block(relation: Relation, aliases: Iterator[str]) -> str:
    """Write a relation as a SELECT of all its columns."""
    match relation:
        case Union(parts=parts):
            return "\nUNION ALL\n".join(_block(part, aliases) for part in parts)
        case Select(rows=rows, columns=columns):
            shown = _clauses(rows, aliases)
            texts = {}
            for name, item in columns:
                texts[name] = expression_text(item, shown.names)
            return _select(shown, relation, texts)
        case PerPerson(rows=rows):
            return _per_person(_clauses(rows, aliases), relation)
        case _:
            shown = _clauses(relation, aliases)
            return _select(shown, relation, shown.names)


def _select(shown: Naming, relation: Relation, columns: Mapping[str, str], groups: str = "") -> str:
    """Write a SELECT of named columns, and of the person unless a column takes that name."""
    items = []
    if shown.person is not None and _person(relation) is not None:
        items.append(shown.person)
    for name, text in columns.items():
        items.append(with_alias(text, name))
    return f"SELECT {_comma(items)}\n{shown.text}{groups}"


def with_alias(text: str, name: str) -> str:
    """Write an item of SELECT with its name, unless its text is the name."""
    quoted = quote(name)
    if text == quoted:
        return text
    return f"{text} AS {quoted}"


def _per_person(shown: Naming, people: PerPerson) -> str:
    columns = {}
    for name, key in people.keys:
        columns[name] = expression_text(key, shown.names)
    # The keys of GROUP BY are the person and the columns so far; totals come after them.
    groups = _comma([str(shown.person), *columns.values()])
    max_rows = person_rows(people.rows)
    for name, total in people.totals:
        columns[name] = _total(total, shown.names, max_rows)
    return _select(shown, people, columns, f"\nGROUP BY {groups}")


def _total(total: Total, names: Mapping[str, str], max_rows: int) -> str:
    """Write a total of one person's rows."""
    if total.expression is not None:
        argument = expression_text(total.expression, names)
        return f"{_TOTALS[total.what]}({argument})"
    # A bound beyond the declared rows has no clause in SQL, so it is written as a clip.
    if total.high > max_rows:
        return f"LEAST(COUNT(*), {total.high})"
    return "COUNT(*)"
