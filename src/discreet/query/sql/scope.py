"""Which names a SELECT can use, and what they stand for: a column of the rows below, or the person's id."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn, TypeAlias

from sqlglot import exp

from ...data.schema import Schema
from ...data.unit import People
from ...errors import SchemaMismatch
from ...frozen import frozen
from ..algebra.expression import Constant, Expression, Field
from ..algebra.names import own_names
from ..algebra.refusal import refusal
from ..algebra.tree import Relation, Scan, Select
from ..bounds.relation_facts import columns_of, unit_of
from ..domains.type_of import type_of_domain
from ..python.people import NO_COLUMNS
from .expression import Names
from .syntax import identifier


@frozen
class PersonId:
    """The person's id: it may be counted, joined on and grouped by, never read."""


@frozen
class Absent:
    """The person's id of a side of an outer join: NULL where the side is missing, which its flag tells; never read."""

    flag: str


Person = (PersonId, Absent)
ShownColumns: TypeAlias = tuple[tuple[str, Field | PersonId | Absent], ...]
"""The columns of a table or sub-query by the names that SQL sees, in order."""


@frozen
class RowView:
    """Rows with the columns that SQL sees of them."""

    rows: Relation
    shown: ShownColumns


@frozen
class FromItem:
    """One item of FROM under its alias."""

    alias: str
    shown: ShownColumns


@frozen
class Scope:
    """The rows of FROM and the names of each item; of a name in `merged` (by USING) all items mean the same."""

    rows: Relation
    sources: tuple[FromItem, ...]
    merged: frozenset[str] = frozenset()
    chosen: ChosenKeys | None = None


@frozen
class PublicItem:
    """A public table in FROM, under its alias."""

    table: Schema
    alias: str


@frozen
class KeyItem:
    """A public list of keys in FROM: rows that are written out, or the distinct rows of columns of a public table."""

    alias: str
    names: tuple[str, ...]
    rows: tuple[tuple[Constant, ...], ...] | None = None
    table: Schema | None = None


@frozen
class ChosenKeys:
    """Which keys an answer has: columns of a public list, by the fields of the rows that they are matched with.

    `outer`: keys that nobody has are asked for, as a RIGHT JOIN of the list does.
    """

    alias: str
    names: tuple[str, ...]
    fields: tuple[str, ...]
    item: PublicItem | KeyItem
    outer: bool


def table_view(schema: Schema) -> RowView:
    """Show a private table: its columns, and the person's id under its own name."""
    rows = Scan(schema)
    shown: ShownColumns = tuple((name, Field(name)) for name in columns_of(rows))
    person: ShownColumns = (
        ((schema.unit.id, PersonId()),) if isinstance(schema.unit, People) else ()
    )
    return RowView(rows, (*person, *shown))


def find(scope: Scope, column: exp.Column) -> Field | PersonId | Absent:
    """Resolve a name, in any case, to the one column or person it means."""
    name, table = identifier(column.this), column.args.get("table")
    found = lookup(scope, name, None if table is None else identifier(table))
    distinct = list(dict.fromkeys(found))
    if (
        table is None
        and name.casefold() in scope.merged
        and all(isinstance(what, Person) for what in distinct)
    ):
        return PersonId() if distinct else _unknown(scope, name)  # of whichever side is there
    if len(distinct) > 1 and not (table is None and name.casefold() in scope.merged):
        raise refusal(name, "more than one table has a column of this name", "write table.column")
    return distinct[0] if distinct else _unknown(scope, name)


def _unknown(scope: Scope, name: str) -> NoReturn:
    names = [label for source in scope.sources for label, _ in source.shown]
    close = get_close_matches(name, names, n=1)
    raise SchemaMismatch(
        f"there is no column {name!r} here; there are {', '.join(dict.fromkeys(names))}"
        + (f"; did you mean {close[0]}?" if close else "")
    )


def is_person(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a node names the person's id."""
    plain = isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier)
    return plain and isinstance(find(scope, node), PersonId)  # type: ignore[arg-type]


def lookup(scope: Scope, name: str, table: str | None) -> list[Field | PersonId | Absent]:
    """List what a name may mean, in the order of FROM."""
    return [
        what
        for source in scope.sources
        if table is None or source.alias.casefold() == table.casefold()
        for label, what in source.shown
        if label.casefold() == name.casefold()
    ]


def person_refusal(name: str) -> Exception:
    """Word why the person's id cannot be read."""
    return refusal(
        name,
        "it is the id of the protected person, which is never read",
        f"count people with COUNT(DISTINCT {name}), or group by it in a sub-query",
    )


def row_names(scope: Scope) -> Names:
    """Return the names of a scope for the reader of row expressions."""
    domains = columns_of(scope.rows)

    def column(node: exp.Column) -> Expression:
        found = find(scope, node)
        if isinstance(found, Person):
            raise person_refusal(identifier(node.this))
        return found

    def absent(node: exp.Column) -> Expression | None:
        found = find(scope, node)
        return Field(found.flag) if isinstance(found, Absent) else None

    types = {name: type_of_domain(domain) for name, domain in domains.items()}
    return Names(column, types, domains, absent=absent)


def exact_rows(view: RowView) -> Relation:
    """Return rows that have just the columns shown, in their order; rows without any get a constant one."""
    columns = [what.name for _, what in view.shown if isinstance(what, Field)]
    if columns == list(columns_of(view.rows)):
        return view.rows
    return Select(view.rows, tuple((name, Field(name)) for name in columns) or NO_COLUMNS)


def choose_columns(rows: Relation, items: Sequence[tuple[str, Expression | PersonId]]) -> RowView:
    """Show chosen columns of rows; what chooses all of them as they are is no choice, and leaves the rows alone."""
    own_names([name for name, _ in items])
    shown: ShownColumns = tuple(
        (name, what if isinstance(what, PersonId) else Field(name)) for name, what in items
    )
    columns = tuple((name, what) for name, what in items if not isinstance(what, PersonId))
    if columns == tuple((name, Field(name)) for name in columns_of(rows)):
        return RowView(rows, shown)
    return RowView(Select(rows, columns or NO_COLUMNS), shown)


def no_window(rows: Relation, clause: str) -> None:
    """Refuse what would put rows of different windows of one person together: they are different units."""
    unit = unit_of(rows)
    if isinstance(unit, People) and unit.window is not None:
        raise refusal(
            clause,
            f"the unit here is one person within a {unit.window[1]}, so one person is many units",
            "count rows, or declare the table with the person as unit",
        )
