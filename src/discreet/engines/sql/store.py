"""What all SQL stores have in common: a tally becomes one text, its answer becomes exact totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from ...data.columns.column import Column
from ...data.schema import Schema
from ...errors import EngineFailure, SchemaMismatch
from ...frozen import field, frozen
from ...query.algebra.tally import Tally, Totals
from ...query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import domain_of_column
from ..base import PublicKeys, in_order, require_columns, require_matches, require_public
from ..tally_analysis import TallyFacts, understand
from .dialect import Dialect, StoredColumn, StoredTable
from .key_codec import value_of
from .pretty import in_lines
from .reading.type_support import is_readable
from .rows.frame import Writer
from .rows.prepared import require_fit
from .rows.relation import stored_column
from .select import select_sql
from .tally import crowd_sql, distinct_sql, read_totals, tally_sql

_NOTHING = ("null", "void")
"""The type of a column in which nothing stands yet: one cell would give it another."""
Fetch = Callable[[str], Sequence[Sequence[object]]]


@frozen
class SqlStore:
    """Tables in one dialect, and a way to run a text; knows which public tables have been counted."""

    dialect: Dialect
    table: Callable[[str], StoredTable]
    fetch: Fetch
    counted: set[Schema] = field(default_factory=set)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        facts, sql = self._write(tally)
        for schema in public_tables(tally.rows):
            self._check_matches(schema)
        return read_totals(facts, self.fetch(sql))

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally, in lines."""
        return in_lines(self._write(tally)[1])

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not there or cannot be read, or whose values repeat too often.

        Reading no row asks for all rights that a question needs, and tells nothing about any row; of its own tables a
        store has them.
        """
        table = self.table(schema.name)
        require_fit(schema, table)
        require_columns(schema, table.columns)
        require_readable(schema, [table])
        try:
            if not table.own:
                names = [stored_column(name, table).sql for name, _ in schema.declared]
                self.fetch(select_sql(names, f"{table.sql} AS t", "LIMIT 0"))
        except EngineFailure:
            raise SchemaMismatch(f"the store has no table {schema.name} that it can read") from None
        self._check_matches(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several, in order, NULL left out."""
        require_public(table, *columns)
        named = [table.column(column) for column in columns]
        domains = [domain_of_column(declared) for _, declared in named]
        rows = self.fetch(distinct_sql(table, [name for name, _ in named], self._writer()))
        return in_order([tuple(map(value_of, row, domains)) for row in rows])

    def _writer(self) -> Writer:
        return Writer(
            self.dialect, cache(self.table)
        )  # described anew for every text: types may have changed

    def _write(self, tally: Tally) -> tuple[TallyFacts, str]:
        facts, writer = understand(tally), self._writer()
        for schema in (*tables_of(tally.rows), *public_tables(tally.rows)):
            require_fit(schema, writer.table(schema.name))
        return facts, tally_sql(facts, writer)

    def _check_matches(self, schema: Schema) -> None:
        if schema not in self.counted:
            require_matches(
                schema, lambda columns: self.fetch(crowd_sql(schema, columns, self._writer()))[0][0]
            )
            self.counted.add(schema)


def require_readable(schema: Schema, parts: Sequence[StoredTable]) -> None:
    """Refuse columns whose stored type has no value that they could read, in no part of a table."""
    for name, column in schema.declared:
        found = [stored_column(name, part) for part in parts]
        if not any(map(partial(_readable, column), found)):
            stored = found[0]
            raise SchemaMismatch(
                f"{schema.name}.{name} is stored as {stored.type}, of which a column of kind {column.kind} reads "
                "nothing: it would be NULL in every row. Declare it as it is stored, or store it as text"
            )


def _readable(column: Column, stored: StoredColumn) -> bool:
    taken = stored.kept is not None  # read when the store took it in
    return taken or is_readable(column, stored.stored) or stored.type.strip('"').lower() in _NOTHING


def public_tables(relation: Relation) -> Iterable[Schema]:
    """List the public tables that a relation joins."""
    match relation:
        case Scan():
            return
        case JoinPublic(rows=rows, table=table):
            yield table
            yield from public_tables(rows)
        case Where(rows=rows) | Select(rows=rows) | PerPerson(rows=rows):
            yield from public_tables(rows)
        case JoinPeople(left=left, right=right):
            yield from public_tables(left)
            yield from public_tables(right)
        case Union(parts=parts):
            for part in parts:
                yield from public_tables(part)
