"""Name resolution for one SELECT: each name is a column of the rows below it, or the person's id.

Guarantee: the person's id is never an expression. It can be counted, joined on and, in
a sub-query, grouped by.

Refuses: a read of the person's id and an ambiguous name with `UnsupportedQuery`; an unknown name
with `SchemaMismatch`.

Law: tests/query/test_sql_refusals.py::test_is_refused_and_the_clause_is_named
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from sqlglot import exp

from ...data.schema import Schema
from ...data.unit import People
from ...errors import SchemaMismatch
from ...frozen import frozen
from ...show.nearest import did_you_mean
from ..algebra.expression import Constant, Expression, Field
from ..algebra.refusal import refusal
from ..algebra.tree import Relation, Scan, Select, names_of, own_fields, require_unique_names
from ..bounds.relation_facts import columns_of, unit_of
from ..domains.type_of import type_of_domain
from ..python.people import NO_COLUMNS
from .expression import Names
from .syntax import clause_of, identifier


@frozen
class PersonId:
    """The person's id: it may be counted, joined on and grouped by, never read."""


@frozen
class Absent:
    """The person's id of a side of an outer join that may be missing; never read.

    It is NULL where the side is missing, which the column `flag` tells.
    """

    flag: str


Person = (PersonId, Absent)
ColumnMeaning: TypeAlias = Field | PersonId | Absent
ShownColumns: TypeAlias = tuple[tuple[str, ColumnMeaning], ...]
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
    """The rows of FROM and the names of each item.

    Names in `merged` were joined by USING: in all items they mean the same.
    """

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
    """A public list of keys in FROM.

    Its rows are written out, or are the distinct rows of columns of a public table.
    """

    alias: str
    names: tuple[str, ...]
    rows: tuple[tuple[Constant, ...], ...] | None = None
    table: Schema | None = None


@frozen
class ChosenKeys:
    """The keys of an answer, chosen by a public list.

    `names` are columns of the list, `fields` the columns of the rows that equal them. `outer` says
    that keys without private rows are shown too, as RIGHT JOIN does. The last `further` names are
    columns of a public table that follow from its matched key.
    """

    alias: str
    names: tuple[str, ...]
    fields: tuple[str, ...]
    item: PublicItem | KeyItem
    outer: bool
    further: int = 0


def table_view(schema: Schema) -> RowView:
    """Show a private table: its columns, and the person's id under its own name."""
    rows = Scan(schema)
    shown: ShownColumns = own_fields(columns_of(rows))
    if isinstance(schema.unit, People):
        shown = ((schema.unit.id, PersonId()), *shown)
    return RowView(rows, shown)


def resolve(scope: Scope, column: exp.Column) -> ColumnMeaning:
    """Resolve a name to the one column or person it means; upper and lower case are the same."""
    name = identifier(column.this)
    table = column.args.get("table")
    alias = None if table is None else identifier(table)
    meanings = list(dict.fromkeys(lookup(scope, name, alias)))
    if not meanings:
        _refuse_unknown(scope, name, alias)
    merged = alias is None and name.casefold() in scope.merged
    if merged and all(isinstance(meaning, Person) for meaning in meanings):
        # After an outer join USING the person, the id is that of the side which is there.
        return PersonId()
    if len(meanings) > 1 and not merged:
        raise refusal(name, "more than one table has a column of this name", "write table.column")
    return meanings[0]


def column_names(scope: Scope) -> list[str]:
    """List the names of all columns, in the order of FROM."""
    names: list[str] = []
    for source in scope.sources:
        names += names_of(source.shown)
    return names


def _refuse_unknown(scope: Scope, name: str, alias: str | None) -> NoReturn:
    """Refuse a name that no column has, or a table that FROM does not name, with the nearest."""
    sources = scope.sources
    tables = [source.alias for source in sources]
    if alias is not None:
        sources = tuple(each for each in sources if each.alias.casefold() == alias.casefold())
    parts = []
    if not sources:
        parts.append(f"there is no table {alias!r} in FROM; there are {', '.join(tables)}")
        parts.append(did_you_mean(str(alias), tables))
    else:
        names = column_names(Scope(scope.rows, sources))
        listed = ", ".join(dict.fromkeys(names))
        parts.append(f"there is no column {name!r} here; there are {listed}")
        parts.append(did_you_mean(name, names))
    # Text processors turn quotes into curly ones, which SQL takes for letters.
    if set(name) & set("‘’“”´"):
        parts.append("text stands in straight quotes, as 'N'")
    raise SchemaMismatch("; ".join(filter(None, parts)))


def refuse_outer_names(part: exp.Expr, query: exp.Select, outer: Scope, instead: str) -> None:
    """Refuse a column of the SELECT around a sub-query, in a part that is of its own rows."""
    inside = set()
    for item in query.find_all(exp.Table, exp.Subquery):
        inside.add(item.alias_or_name.casefold())
    outside = {source.alias.casefold() for source in outer.sources}
    for column in part.find_all(exp.Column):
        table = column.args.get("table")
        if table is None:
            continue
        name = identifier(table).casefold()
        if name in outside and name not in inside:
            raise refusal(clause_of(column), "the sub-query depends on the row outside", instead)


def is_person(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a node names the person's id."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return False
    return isinstance(resolve(scope, node), PersonId)


def lookup(scope: Scope, name: str, table: str | None) -> list[ColumnMeaning]:
    """List the meanings a name may have, in the order of FROM."""
    meanings = []
    for source in scope.sources:
        # Case never matters, not even of names in quotes.
        if table is None or source.alias.casefold() == table.casefold():
            for label, meaning in source.shown:
                if label.casefold() == name.casefold():
                    meanings.append(meaning)
    return meanings


def person_refusal(name: str) -> Exception:
    """Return the refusal of a question that reads the person's id."""
    return refusal(
        name,
        "it is the id of the protected person, which is never read",
        f"count people with COUNT(DISTINCT {name}), or group by it in a sub-query",
    )


def row_names(scope: Scope) -> Names:
    """Return the names of a scope for the reader of row expressions."""
    # Worked out once for the scope, not at every column.
    domains = columns_of(scope.rows)
    types = {name: type_of_domain(domain) for name, domain in domains.items()}

    def column(node: exp.Column) -> Expression:
        meaning = resolve(scope, node)
        if isinstance(meaning, Person):
            raise person_refusal(identifier(node.this))
        return meaning

    def absent(node: exp.Column) -> Expression | None:
        meaning = resolve(scope, node)
        return Field(meaning.flag) if isinstance(meaning, Absent) else None

    return Names(column, types, domains, absent=absent)


def exact_rows(view: RowView) -> Relation:
    """Return rows that have just the columns shown, in order; rows without any get a constant."""
    columns = field_names(view.shown)
    if columns == list(columns_of(view.rows)):
        return view.rows
    return Select(view.rows, own_fields(columns) or NO_COLUMNS)


def field_names(shown: ShownColumns) -> list[str]:
    """List the fields behind shown columns, without the person's id."""
    return [meaning.name for _, meaning in shown if isinstance(meaning, Field)]


def choose_columns(rows: Relation, items: Sequence[tuple[str, Expression | PersonId]]) -> RowView:
    """Show chosen columns of rows; choosing all of them unchanged leaves the rows as they are."""
    require_unique_names(names_of(items))
    shown: list[tuple[str, ColumnMeaning]] = []
    columns: list[tuple[str, Expression]] = []
    for name, item in items:
        if isinstance(item, PersonId):
            shown.append((name, item))
        else:
            shown.append((name, Field(name)))
            columns.append((name, item))
    # Equal relations have equal fingerprints, so SELECT * in a sub-query must add no node.
    if tuple(columns) == own_fields(columns_of(rows)):
        return RowView(rows, tuple(shown))
    return RowView(Select(rows, tuple(columns) or NO_COLUMNS), tuple(shown))


def refuse_windowed_unit(rows: Relation, clause: str) -> None:
    """Refuse to combine rows of different windows of one person: they are different units."""
    unit = unit_of(rows)
    if isinstance(unit, People) and unit.window is not None:
        raise refusal(
            clause,
            f"the unit here is one person within a {unit.window[1]}, so one person is many units",
            "count rows, or declare the table with the person as unit",
        )
