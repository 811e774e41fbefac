"""Relations as SQL: nested SELECTs whose columns have made-up names, so that no names can clash.

Every row of a frame carries its owner: the person's id, and the number of the window if the unit
has one. Rows without an id, or without a time if there is a window, count nowhere: they are left
out at the scan.

Truncation of a person's rows happens before a join multiplies them. Of n > k rows of a person, k
are kept, evenly spread in the order of their columns: row r (from 1) is kept if
(r·k + ⌊n/2⌋) mod n < k. That holds for exactly k of the n rows, and for the middle one if k = 1.
Rows that are equal in all columns may change places, which changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

from ....data.schema import Schema
from ....data.unit import People
from ....frozen import field, frozen
from ....query.algebra import tree
from ....query.algebra.expression import Field
from ....query.algebra.tree import Relation
from ....query.bounds.fanout import find_cut, find_cuts
from ....query.bounds.relation_facts import columns_of
from ....query.domains.domain import Domain, Texts, domain_of_column
from ...base import find_column, require_columns
from ...column_pruning import ColumnNames, needed_below, needed_in_order
from ...tally_analysis import times_of
from ..dialect import Dialect, StoredColumn, StoredTable
from ..expression import SqlScope, alike_sql, check_length, expression_sql, scaled_sql
from ..reading.value import prepare, read
from ..select import group_by, named_cells, nested, select_sql
from .join_barrier import JoinSide, join_sql
from .person import id_sql, present_sql, total_sql, window_sql

T = TypeVar("T")
COUNT = "n"
"""Name of the stored number of a person's rows in a frame."""


@frozen
class SqlFrame:
    """A SELECT: the SQL names of its columns, their domains, and the names of its owner."""

    sql: str
    names: dict[str, str]
    domains: dict[str, Domain]
    owner: tuple[str, ...]


@frozen
class Writer:
    """Context for writing one SQL text: the dialect, the stored tables and a supply of names.

    `raw` names columns of a table that are selected as they are stored, to be read later.
    """

    dialect: Dialect
    table: Callable[[str], StoredTable]
    numbers: Iterator[int] = field(default_factory=count)
    raw: Mapping[str, str] = field(default_factory=dict)
    count: str = ""
    """The stored column that holds the number of rows of a person, if it is wanted."""

    def fresh(self, letter: str) -> str:
        """Return a name that is not yet used in this text."""
        return f"{letter}{next(self.numbers)}"

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """Return a fresh name for each column."""
        return {name: self.fresh("c") for name in names}


def scope_of(frame: SqlFrame, writer: Writer) -> SqlScope:
    """Return the scope of an expression over a frame."""
    return SqlScope(frame.names, frame.domains, writer.dialect)


def frame_of(relation: Relation, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write a relation with those of its columns that are needed.

    Law: tests/engines/test_relations.py::TestEveryEngineJoinsAlike
    """
    frame = _frame(relation, needed, writer)
    check_length(frame.sql)
    return frame


def _frame(relation: Relation, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write a relation by its kind, with those of its columns that are needed."""
    match relation:
        case tree.BlockScan():
            return _scan_blocks(relation, needed, writer)
        case tree.Scan(schema=schema):
            return _scan(schema, needed, writer)
        case tree.Where():
            return _where(relation, needed, writer)
        case tree.Select():
            return _project(relation, needed, writer)
        case tree.JoinPublic():
            return _join_public(relation, needed, writer)
        case tree.JoinPeople():
            return _join_people(relation, needed, writer)
        case tree.Union():
            return _union(relation, needed, writer)
        case tree.PerPerson():
            return _per_person(relation, needed, writer)


def _where(relation: tree.Where, needed: ColumnNames, writer: Writer) -> SqlFrame:
    (below,) = needed_below(relation, needed)
    frame = frame_of(relation.rows, below, writer)
    test = expression_sql(relation.condition, scope_of(frame, writer))
    return replace(frame, sql=select_sql(["*"], nested(frame.sql), f"WHERE {test}"))


def _project(relation: tree.Select, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write rows with those computed columns of a projection that are needed."""
    chosen = _only(relation.columns, needed)
    (below,) = needed_below(relation, needed)
    frame = frame_of(relation.rows, below, writer)
    scope = scope_of(frame, writer)
    names = writer.named(chosen)
    cells = {}
    for name, expression in chosen.items():
        cells[names[name]] = expression_sql(expression, scope)
    sql = _select(frame.owner, cells, frame.sql)
    return SqlFrame(sql, names, _domains(relation, names), frame.owner)


def _only(columns: Iterable[tuple[str, T]], needed: ColumnNames) -> dict[str, T]:
    """Keep the columns that are needed."""
    return {name: column for name, column in columns if name in needed}


def _domains(relation: Relation, names: Iterable[str]) -> dict[str, Domain]:
    domains = columns_of(relation)
    return {name: domains[name] for name in names}


def _select(owner: Iterable[str], cells: Mapping[str, str], source: str, tail: str = "") -> str:
    """Write a SELECT of an owner and named cells from another."""
    return select_sql([*owner, *named_cells(cells.items())], nested(source), tail)


def stored_column(name: str, table: StoredTable) -> StoredColumn:
    """Refer to a stored column by its declared name."""
    stored_name = find_column(name, table.columns) or name
    return _qualified(table.columns[stored_name])


def person_column(name: str, table: StoredTable) -> StoredColumn:
    """Refer to the column of the owner: the one that the store made, or else the declared id."""
    if table.person is None:
        return stored_column(name, table)
    return _qualified(table.person)


def _qualified(column: StoredColumn) -> StoredColumn:
    return replace(column, sql=f"t.{column.sql}")


def _scan(schema: Schema, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write the rows of a table as its schema reads them, with their owner and window."""
    table = writer.table(schema.name)
    require_columns(schema, table.columns)
    window = schema.unit.window if isinstance(schema.unit, People) else None
    if window is None:
        return _cells(schema, needed, table, writer)
    column, per = window
    frame = _cells(schema, needed | {column}, table, writer)
    time = frame.names[column]
    name = writer.fresh("p")
    cells = {name: window_sql(time, frame.domains[column], per, writer.dialect)}
    columns = (*frame.owner, *frame.names.values(), *writer.raw.values())
    sql = _select(columns, cells, frame.sql, f"WHERE {time} IS NOT NULL")
    return replace(frame, sql=sql, owner=(*frame.owner, name))


def _scan_blocks(scan: tree.BlockScan, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write the rows of each person in that person's first blocks of time, which alone count.

    Guarantee: which rows of a person count depends on the rows of that person alone.

    Law: tests/engines/test_blocks.py::TestEveryEngineCountsTheSameBlocks
    """
    blocks = scan.blocks
    column, _ = scan.schema.column(blocks.column)
    frame = _scan(scan.schema, needed | {column}, writer)
    time = frame.names[column]
    number = window_sql(time, frame.domains[column], blocks.per, writer.dialect)
    person = frame.owner[0]
    rows = select_sql(["*", f"{number} AS b"], nested(frame.sql), f"WHERE {time} IS NOT NULL")
    window = f"OVER (PARTITION BY {person}"
    counted = f"a <= {blocks.most}"
    rank = f"dense_rank() {window} ORDER BY b) AS a"
    if blocks.stays is not None:
        rank = f"min(b) {window}) AS a"
        counted = f"b < a + {blocks.stays}"
    if writer.dialect.guarded:
        # As in `truncate_frame`: a row of nobody's, so that no window is over no rows.
        rows = f"{rows} UNION ALL BY NAME SELECT NULL AS {person}"
        counted = f"{counted} AND {person} IS NOT NULL"
    ranked = select_sql(["*", rank], nested(rows))
    cells = [*frame.owner, *frame.names.values()]
    return replace(frame, sql=select_sql(cells, nested(ranked), f"WHERE {counted}"))


def _cells(schema: Schema, wanted: ColumnNames, table: StoredTable, writer: Writer) -> SqlFrame:
    """Write the columns of a table as the schema reads them: prepared first, then read."""
    dialect = writer.dialect
    columns = schema.columns
    prepared = {}
    for name, column in columns.items():
        if name in wanted or name in writer.raw:
            prepared[name] = prepare(column, stored_column(name, table), dialect)
    raw_names = {name: writer.fresh("r") for name in prepared}
    inner = {}
    owner: tuple[str, ...] = ()
    tail = ""
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, table)
        key = writer.fresh("p")
        owner = (key,)
        inner[key] = id_sql(person, dialect)
        tail = f"WHERE {present_sql(person, dialect)}"
    for name, x in prepared.items():
        inner[raw_names[name]] = x.sql
    names = writer.named(name for name in prepared if name in wanted)
    # The outer SELECT reads what the inner one prepared, so that no text is written twice.
    outer = {}
    for name, cell in names.items():
        outer[cell] = read(columns[name], replace(prepared[name], sql=raw_names[name]), dialect)
    for name, cell in writer.raw.items():
        outer[cell] = raw_names[name]
    if writer.count:
        inner[COUNT] = f"t.{writer.count}"
        outer[COUNT] = COUNT
    source = select_sql(named_cells(inner.items()), f"{table.sql} AS t", tail)
    domains = {name: domain_of_column(columns[name]) for name in names}
    return SqlFrame(_select(owner, outer, source), names, domains, owner)


def public_frame(table: Schema, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write columns of a public table."""
    return _scan(table, needed, writer)


def _truncated(
    rows: Relation, max_rows: int | None, needed: ColumnNames, writer: Writer
) -> SqlFrame:
    """Write one side of a join, each person truncated to `max_rows` rows (None: not at all)."""
    order = needed_in_order(rows, needed)
    return truncate_frame(frame_of(rows, needed, writer), max_rows, order, writer.dialect)


def _join_public(join: tree.JoinPublic, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write the join of rows with a public table, after truncation where rows could multiply."""
    added = _only(join.columns, needed)
    (below,) = needed_below(join, needed)
    left = _truncated(join.rows, find_cut(join), below, writer)
    public_columns = frozenset(added.values()) | {column for _, column in join.on}
    right = public_frame(join.table, public_columns, writer)
    here = scope_of(left, writer)
    there = scope_of(right, writer)
    left_keys = []
    right_keys = []
    for expression, column in join.on:
        mine, yours = alike_sql((expression, here), (Field(column), there))
        left_keys.append(mine)
        right_keys.append(yours)
    names = _only(left.names.items(), needed)
    # An added column replaces one of the same name on the left.
    public = {writer.fresh("c"): right.names[column] for column in added.values()}
    names |= dict(zip(added, public, strict=True))
    own = list(left.owner)
    own += [left.names[name] for name in names if name in left.names]
    first = JoinSide(left.sql, "l", (), left_keys, own)
    second = JoinSide(right.sql, "r", (), right_keys, named_cells(public.items()))
    sql = join_sql(first, second, writer.dialect, keep="left" if join.keep else "")
    return SqlFrame(sql, names, _domains(join, names), left.owner)


def _join_people(join: tree.JoinPeople, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write the join of two private tables on equal owners and keys, each side truncated first."""
    left_rows, right_rows = find_cuts(join)
    left_needed, right_needed = needed_below(join, needed)
    left = _truncated(join.left, left_rows, left_needed, writer)
    right = _truncated(join.right, right_rows, right_needed, writer)
    here = scope_of(left, writer)
    there = scope_of(right, writer)
    left_keys = []
    right_keys = []
    for mine, yours in join.on:
        left_key, right_key = alike_sql((mine, here), (yours, there))
        left_keys.append(left_key)
        right_keys.append(right_key)
    both = left.names | right.names
    names = _only(both.items(), needed)
    owner = left.owner
    own = list(left.owner)
    if join.outer == "full":
        # A row may have either side only: its owner is that of the side that is there.
        owner = tuple(writer.fresh("p") for _ in left.owner)
        own = []
        for name, left_id, right_id in zip(owner, left.owner, right.owner, strict=True):
            own.append(f"COALESCE({left_id}, {right_id}) AS {name}")
    first = JoinSide(left.sql, "l", left.owner, left_keys, [*own, *names.values()])
    second = JoinSide(right.sql, "r", right.owner, right_keys, ())
    sql = join_sql(first, second, writer.dialect, keep=join.outer)
    return SqlFrame(sql, names, _domains(join, names), owner)


def _union(union: tree.Union, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write UNION ALL of several relations, all numbers in the steps of the union."""
    frames = [frame_of(part, needed, writer) for part in union.parts]
    domains = _domains(union, needed_in_order(union, needed))
    names = writer.named(domains)
    owner = tuple(writer.fresh("p") for _ in frames[0].owner)
    texts = []
    for frame in frames:
        scope = scope_of(frame, writer)
        cells = dict(zip(owner, frame.owner, strict=True))
        # Numbers of all parts are brought to the steps of the union.
        for name, domain in domains.items():
            cells[names[name]] = scaled_sql(Field(name), domain, scope)
        texts.append(_select((), cells, frame.sql))
    return SqlFrame(" UNION ALL ".join(texts), names, domains, owner)


def _per_person(relation: tree.PerPerson, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write one row for each person and key, with that person's totals."""
    totals = _only(relation.totals, needed)
    summed = {}
    for name, total in totals.items():
        if total.expression is not None:
            summed[name] = total.expression
    (below,) = needed_below(relation, needed)
    frame = frame_of(relation.rows, below, writer)
    scope = scope_of(frame, writer)
    keys = writer.named(dict(relation.keys))
    values = writer.named(summed)
    cells = {}
    for name, expression in relation.keys:
        cells[keys[name]] = expression_sql(expression, scope)
    for name, expression in summed.items():
        cells[values[name]] = expression_sql(expression, scope)
    inner_domains = columns_of(relation.rows)
    columns = writer.named(totals)
    total_cells = {}
    for name, total in totals.items():
        times = times_of(total, inner_domains)
        value = values.get(name, "*")
        total_cells[columns[name]] = total_sql(total, times, value, writer.dialect)
    groups = (*frame.owner, *keys.values())
    source = _select(frame.owner, cells, frame.sql)
    sql = _select(groups, total_cells, source, group_by(groups))
    both = keys | columns
    names = _only(both.items(), needed)
    return SqlFrame(sql, names, _domains(relation, names), frame.owner)


def truncate_frame(
    frame: SqlFrame, max_rows: int | None, columns: Iterable[str], dialect: Dialect
) -> SqlFrame:
    """Keep at most `max_rows` rows of each person (None: all), spread by the order of `columns`.

    Guarantee: which rows of a person are kept depends on the rows of that person alone.

    Law: tests/engines/test_fanout.py::TestAPersonIsCutBeforeRowsMultiply
    """
    if max_rows is None:
        return frame
    person = frame.owner[0]
    owner = ", ".join(frame.owner)
    order = list(frame.owner)
    order += [f"{_order_key(name, frame, dialect)} NULLS FIRST" for name in columns]
    rank = f"row_number() OVER (PARTITION BY {owner} ORDER BY {', '.join(order)}) AS a"
    size = f"count(*) OVER (PARTITION BY {owner}) AS b"
    spread = f"(a * {max_rows} + {dialect.divide('b', '2')}) % b < {max_rows}"
    rows = frame.sql
    test = f"(b <= {max_rows} OR {spread})"
    if dialect.guarded:
        # The store skips a window over no rows. A row of nobody's keeps that from showing; it is
        # dropped again by the test.
        rows = f"{rows} UNION ALL BY NAME SELECT NULL AS {person}"
        test = f"{test} AND {person} IS NOT NULL"
    ranked = select_sql(["*", rank, size], nested(rows))
    cells = [*frame.owner, *frame.names.values()]
    return replace(frame, sql=select_sql(cells, nested(ranked), f"WHERE {test}"))


def _order_key(name: str, frame: SqlFrame, dialect: Dialect) -> str:
    """Write a column to sort by; text is compared letter by letter, whatever the collation."""
    column = frame.names[name]
    if isinstance(frame.domains[name], Texts):
        return dialect.as_text(column)
    return column
