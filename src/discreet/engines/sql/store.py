"""SQL store: the steps that DuckDB, PostgreSQL and Spark share.

A tally becomes one SQL text: rows with owner, keys and contributions; contribution bounds; totals.
The answer of the store becomes exact totals.

    Free          SELECT keys, totals FROM rows GROUP BY keys
    RowShare      … FROM rows JOIN (each person's share, by the count of rows): scaled row by row
    GroupRowShare … FROM rows, with each one's weight by counts within its person and group
    GroupShare    … FROM (sums by person and key, clipped) JOIN (each person's share, by the count of keys)
    KeptKeys      … FROM (sums by person and key, clipped), of the keys of each person that stay

A stored number of rows or a window may stand for the JOIN. All sums are wide integers, so no
arithmetic of the text can overflow, and no data can make it fail.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Self

from ...data.columns.column import Column
from ...data.schema import Schema
from ...data.unit import People
from ...errors import EngineFailure, SchemaMismatch
from ...frozen import field, frozen
from ...intake.compatibility import misfit
from ...query.algebra.tally import Free, Tally, Totals
from ...query.algebra.tree import JoinPublic, Relation, relations_in
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import Values, domain_of_column
from ..base import (
    PeopleTotals,
    PublicKeys,
    failure,
    id_text,
    in_order,
    require_columns,
    require_matches,
    require_public,
)
from ..tally_analysis import RECENT_TALLIES, TallyFacts, understand
from .cell_arrays import read_open_totals
from .contribution_bounds import bounded_sql
from .contributions import OpenKey, entries_of, once_per_person
from .dialect import AnswerRows, Dialect, StoredColumn, StoredTable
from .keys import value_of
from .reading.type_support import is_readable
from .rows.person import id_sql
from .rows.relation import SqlFrame, Writer, person_column, public_frame, stored_column
from .select import group_by, in_lines, nested, none_null, numbered, select_sql

_EMPTY_TYPES = ("null", "void")
"""Types of a column that holds nothing yet: one cell would give it another type."""
Fetch = Callable[[str], AnswerRows]
Described = Mapping[str, StoredTable]


class TextCache:
    """Bounded cache of SQL texts: the text made for a check is used again for the run.

    Guarantee: a text is returned only if every table of the tally is described as when it was
    written. A text depends on the tally and these descriptions alone, never on data.

    Law: tests/engines/test_text_cache.py::TestTexts
    """

    def __init__(self, size: int = RECENT_TALLIES) -> None:
        self._size = size
        # Several threads ask one store: finding moves an entry, so it needs the lock as well.
        self._lock = threading.Lock()
        self._texts: OrderedDict[Tally, tuple[Described, str]] = OrderedDict()

    def find(self, tally: Tally, tables: Described) -> str | None:
        """Return the text of a tally over tables that are described alike, if there is one."""
        with self._lock:
            known = self._texts.get(tally)
            if known is None or known[0] != tables:
                return None
            self._texts.move_to_end(tally)
            return known[1]

    def keep(self, tally: Tally, tables: Described, sql: str) -> None:
        """Keep the text of a tally; the one that was not used for longest is dropped."""
        with self._lock:
            self._texts[tally] = (tables, sql)
            self._texts.move_to_end(tally)
            if len(self._texts) > self._size:
                self._texts.popitem(last=False)


@frozen
class SqlStore:
    """Tables in one dialect, and a function that runs a text.

    `counted` holds the public tables whose repeated values were compared with their schema.
    """

    dialect: Dialect
    table: Callable[[str], StoredTable]
    fetch: Fetch
    counted: set[Schema] = field(default_factory=set)
    texts: TextCache = field(default_factory=TextCache, repr=False, compare=False)
    arrays: Fetch | None = None
    """Runs a text whose rows have lists, each as an array; None where a list is no faster."""

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        facts, sql = self._write(tally)
        # A public table that repeats more than declared would break the sensitivity.
        for schema in public_tables(tally.rows):
            self._check_matches(schema)
        last = OpenKey.of(facts)
        if self.arrays is not None and last is not None:
            return read_open_totals(facts, self.arrays(sql), last)
        return read_totals(facts, self.fetch(sql))

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs.

        Refuses: a prepared store, which has numbers of people and no ids (SchemaMismatch).
        """
        # Everything that `tally` refuses is refused here too.
        facts, _ = self._write(tally)
        writer = self._writer()
        answer = self.fetch(people_sql(facts, writer))
        totals: PeopleTotals = {}
        by_person: dict[str, list[Sequence[object]]] = {}
        for person, *row in answer:
            by_person.setdefault(id_text(person), []).append(row)
        for person, rows in by_person.items():
            for key, sums in read_totals(facts, rows).items():
                totals[person, key] = sums
        return totals

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally, in lines."""
        _, sql = self._write(tally)
        return in_lines(sql)

    def check(self, schema: Schema) -> None:
        """Check that a schema fits its stored table.

        Refuses: a table or columns that are missing or cannot be read, ids that the store cannot
        compare, and values of a public table that repeat more often than declared.
        """
        table = self.table(schema.name)
        _require_fit(schema, table)
        require_columns(schema, table.columns)
        require_readable(schema, [table])
        if not table.own:
            self._check_rights(schema, table)
            self._check_equality(schema, table)
        self._check_matches(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several columns.

        They are in order; NULL is left out.
        """
        require_public(table, *columns)
        names = []
        domains = []
        for column in columns:
            name, declared = table.column(column)
            names.append(name)
            domains.append(domain_of_column(declared))
        rows = self.fetch(distinct_sql(table, names, self._writer()))
        return in_order([tuple(map(value_of, row, domains)) for row in rows])

    def _writer(self) -> Writer:
        # Tables are described anew for every text, since their types may have changed.
        return Writer(self.dialect, cache(self.table))

    def _write(self, tally: Tally) -> tuple[TallyFacts, str]:
        """Return the analysis of a tally and its SQL text, from the cache if nothing changed."""
        # The analysis comes first: it refuses a tally before the store is asked for anything.
        facts = understand(tally)
        writer = self._writer()
        tables = {}
        for schema in (*tables_of(tally.rows), *public_tables(tally.rows)):
            table = writer.table(schema.name)
            _require_fit(schema, table)
            tables[schema.name] = table
        sql = self.texts.find(tally, tables)
        if sql is None:
            last = None if self.arrays is None else OpenKey.of(facts)
            sql = tally_sql(facts, writer, last)
            self.texts.keep(tally, tables, sql)
        return facts, sql

    def _check_rights(self, schema: Schema, table: StoredTable) -> None:
        """Refuse a table that this session may not read.

        Reading no row asks for all rights that a question needs, and tells nothing about any row.
        """
        names = [stored_column(name, table).sql for name, _ in schema.declared]
        try:
            self.fetch(select_sql(names, f"{table.sql} AS t", "LIMIT 0"))
        except EngineFailure:
            raise SchemaMismatch(f"the store has no table {schema.name} that it can read") from None

    def _check_equality(self, schema: Schema, table: StoredTable) -> None:
        """Refuse ids of a type that the store cannot group, sort, join and write as text.

        Every question would fail after its charge. No row is read: the type alone decides.
        """
        if not isinstance(schema.unit, People):
            return
        person = person_column(schema.unit.id, table)
        ids = select_sql([f"{id_sql(person, self.dialect)} AS p"], f"{table.sql} AS t", "LIMIT 0")
        text = self.dialect.as_text("p")
        # With an order: a type that can be hashed alone fails questions that sort.
        cells = ["p", f"{text} AS x", "count(*) OVER (PARTITION BY p ORDER BY p) AS n"]
        counted = select_sql(cells, nested(ids), "GROUP BY p")
        joined = f"{nested(counted, 'l')} JOIN {nested(counted, 'r')} ON l.p = r.p"
        try:
            self.fetch(select_sql(["l.x"], joined))
        except EngineFailure:
            raise SchemaMismatch(
                f"{schema.name}.{schema.unit.id} is stored as {person.type}, which the store cannot compare: people "
                "could not be told apart. Store ids as text or whole numbers"
            ) from None

    def _check_matches(self, schema: Schema) -> None:
        """Refuse a public table whose values repeat more than stated; counted once a schema."""
        # Once for each schema, since counting reads the whole table.
        if schema in self.counted:
            return

        def count_repeats(columns: tuple[str, ...]) -> object:
            rows = self.fetch(max_repeats_sql(schema, columns, self._writer()))
            return rows[0][0]

        require_matches(schema, count_repeats)
        self.counted.add(schema)


class SqlEngine:
    """Base of the PostgreSQL and Spark engines, which answer by one `SqlStore`."""

    _store: SqlStore

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally."""
        return self._store.explain(tally)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several columns.

        They are in order; NULL is left out.
        """
        return self._store.public_values(table, *columns)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return self._store.table(table).types()

    def close(self) -> None:
        """Release what the engine holds of the server."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def require_readable(schema: Schema, parts: Sequence[StoredTable]) -> None:
    """Refuse columns that would be NULL in every row of every part of a table."""
    for name, stored in unread_columns(schema, parts).items():
        kind = schema.columns[name].kind
        raise SchemaMismatch(
            f"{schema.name}.{name} is stored as {stored.type}, of which a column of kind {kind} reads "
            "nothing: it would be NULL in every row. Declare it as it is stored, or store it as text"
        )


def unread_columns(schema: Schema, parts: Sequence[StoredTable]) -> dict[str, StoredColumn]:
    """Return the declared columns that would be NULL in every row, by the types that are stored.

    The stored type of such a column has no readable value in any part. It is described as in the
    first part.
    """
    unread = {}
    for name, column in schema.declared:
        stored = [stored_column(name, part) for part in parts]
        if not any(_is_readable(column, each) for each in stored):
            unread[name] = stored[0]
    return unread


def _is_readable(column: Column, stored: StoredColumn) -> bool:
    if stored.unread:
        return False
    # A column with `kept` was read by its declaration when the store took it in.
    if stored.kept is not None or is_readable(column, stored.stored):
        return True
    return stored.type.strip('"').lower() in _EMPTY_TYPES


def _require_fit(schema: Schema, table: StoredTable) -> None:
    """Refuse a schema that is neither the one by which a table was prepared nor narrower."""
    if table.read_by is None:
        return
    reason = misfit(schema, table.read_by)
    if reason is not None:
        raise SchemaMismatch(
            f"the prepared table {schema.name} does not fit its schema: {reason}; prepare it again"
        )


def public_tables(relation: Relation) -> Iterable[Schema]:
    """List the public tables that a relation joins."""
    for each in relations_in(relation):
        if isinstance(each, JoinPublic):
            yield each.table


def tally_sql(facts: TallyFacts, writer: Writer, last: OpenKey | None = None) -> str:
    """Write the SQL text of a tally; totals by the key `last` come in lists.

    Refuses: ids that are stored as different types, and expressions that are nested too deeply.

    Law: tests/engines/test_random.py::TestEveryEngineAgreesWithMemory
    """
    tally = facts.tally
    rows = entries_of(facts, writer, last)
    _check_ids(facts, writer)
    dialect = writer.dialect
    # Joining heavy people alone reads the tables twice. If the second reading saw other rows, a
    # person counted in one and added up in the other could contribute more than the bound.
    if not all(writer.table(schema.name).steady for schema in tables_of(tally.rows)):
        dialect = replace(dialect, heavy=False)
    if tally.people:
        rows = once_per_person(rows)
    return bounded_sql(rows, tally.share, dialect)


def people_sql(facts: TallyFacts, writer: Writer) -> str:
    """Write the bounded totals of each person and key: the person's id, the keys, the totals."""
    tables = [writer.table(schema.name) for schema in tables_of(facts.tally.rows)]
    rows = entries_of(facts, writer)
    _check_ids(facts, writer)
    if any(table.nobody and not table.ids for table in tables):
        raise SchemaMismatch(
            "this prepared store has numbers of people and not their ids, so it cannot say who "
            "came before; use the source itself, or declare the unit within a day"
        )
    # The owner comes first among the keys: each person has totals of their own.
    keys = (*rows.owner, *rows.keys)
    apart = replace(rows, keys=keys, read_keys=(*rows.owner, *rows.read_keys))
    dialect = replace(writer.dialect, heavy=False)
    sql = bounded_sql(apart, facts.tally.share, dialect)
    ids = tables[0].ids
    if not ids:
        return sql
    owner = rows.owner[0]
    if apart.read_keys != apart.keys:
        # Keys that are read after adding up get new names, and the owner is the first key.
        owner = numbered("y", 1)[0]
    source = f"({sql}) AS w JOIN {ids} AS i ON w.{owner} = i.n"
    return select_sql(["i.id", f"w.* EXCLUDE ({owner})"], source)


def read_totals(facts: TallyFacts, answer: Iterable[Sequence[object]]) -> Totals:
    """Read the answer of a store: keys as exact values, totals as integers.

    Rows whose key was not asked for are left out.

    Refuses: two stored keys that are equal in Python, with the constant failure that shows no key.
    One of their totals would be lost otherwise.

    Law: tests/engines/test_snapshot.py::TestKeysNeverMeet
    """
    tally = facts.tally
    width = len(facts.keys)
    listed = tally.listed
    rows = list(answer)
    # Column by column, and each value of a key once: there may be a hundred thousand cells.
    columns = list(zip(*rows, strict=True))
    read_keys = []
    for stored_keys, domain in zip(columns[:width], facts.keys, strict=bool(rows)):
        values = {stored: value_of(stored, domain) for stored in set(stored_keys)}
        read_keys.append([values[stored] for stored in stored_keys])
    numbers = []
    for total, factor in zip(columns[width:], _count_values(facts), strict=bool(rows)):
        numbers.append([int(number) * factor for number in total])
    keys = list(zip(*read_keys, strict=True)) if width else [()] * len(rows)
    totals: dict[Values, tuple[int, ...]] = dict(zip(keys, zip(*numbers, strict=True), strict=True))
    if len(totals) < len(rows):
        raise failure()
    if not tally.only or not width:
        return totals
    wanted = set(tally.only)
    if listed == width:
        return {key: values for key, values in totals.items() if key in wanted}
    return {key: values for key, values in totals.items() if key[:listed] in wanted}


def _count_values(facts: TallyFacts) -> list[int]:
    """List the value of one unit of each total: without bounds, counts come back unweighted."""
    if not isinstance(facts.tally.share, Free):
        return [1] * len(facts.terms)
    return [term.high if term.counts else 1 for term in facts.terms]


def _check_ids(facts: TallyFacts, writer: Writer) -> None:
    # By name, since one table may be scanned several times.
    ids = {}
    for schema in tables_of(facts.tally.rows):
        if isinstance(schema.unit, People):
            table = writer.table(schema.name)
            ids[schema.name] = person_column(schema.unit.id, table)
    _require_alike(list(ids.items()))


def _require_alike(ids: Sequence[tuple[str, StoredColumn]]) -> None:
    """Refuse ids of one person that are stored as different types.

    A comparison would cast one of them, and the cast could fail on a row.
    """
    types = {_id_type(column): table for table, column in ids}
    if len(types) > 1:
        raise SchemaMismatch(
            f"the person's id is stored as different types in {' and '.join(types.values())}; store it as one type"
        )


def _id_type(x: StoredColumn) -> str:
    match x.stored:
        # Types of one class compare without a cast that could fail.
        case "integer" | "text" | "float":
            return x.stored
        case _:
            return x.type


def distinct_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write the distinct values of columns of a public table; rows with a NULL are left out."""
    frame, names, present = _public_columns(table, columns, writer)
    return select_sql([f"DISTINCT {', '.join(names)}"], nested(frame.sql), f"WHERE {present}")


def max_repeats_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write the greatest number of rows of a public table with the same values in some columns.

    A NULL joins with nothing, so rows with one are left out.
    """
    frame, names, present = _public_columns(table, columns, writer)
    tail = f"WHERE {present} {group_by(names)}"
    counts = select_sql(["count(*) AS n"], nested(frame.sql), tail)
    return select_sql(["COALESCE(max(n), 0)"], nested(counts))


def _public_columns(
    table: Schema, columns: Sequence[str], writer: Writer
) -> tuple[SqlFrame, list[str], str]:
    """Write columns of a public table, with their SQL names and the test that none is NULL."""
    frame = public_frame(table, frozenset(columns), writer)
    names = [frame.names[column] for column in columns]
    return frame, names, none_null(names)
