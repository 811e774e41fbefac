"""Relations as SQL: nested SELECTs whose columns have made-up names, so that no stored name can clash with another.

Every row of a frame carries its owner: the person's id, and the number of the window if the unit has one. Rows without
an id, or without a time if there is a window, count nowhere: they are left out at the scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ....data.schema import Schema
from ....data.unit import People
from ....query.algebra.expression import Field
from ....query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)
from ....query.bounds.fanout import find_cut, find_cuts
from ....query.bounds.relation_facts import columns_of
from ....query.domains.domain import Domain, domain_of_column
from ...base import find_column, require_columns
from ...column_pruning import ColumnNames, needed_below
from ...tally_analysis import times_of
from ..dialect import StoredColumn, StoredTable
from ..expression import alike_sql, expression_sql, scaled_sql
from ..reading.value import prepare, read
from ..scope import SqlScope, short
from ..select import named_cells, select_sql
from .frame import SqlFrame, Writer
from .join_barrier import JoinSide, join_sql
from .person import id_sql, present_sql, total_sql, window_sql
from .truncation import cut_frame

COUNT = "n"
"""How a frame calls the stored number of a person's rows."""


def scope_of(frame: SqlFrame, writer: Writer) -> SqlScope:
    """Return the place of an expression over a frame."""
    return SqlScope(frame.names, frame.domains, writer.dialect)


def frame_of(relation: Relation, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write a relation with those of its columns that are needed."""
    frame = _frame(relation, needed, writer)
    return replace(frame, sql=short(frame.sql))


def _frame(relation: Relation, needed: ColumnNames, writer: Writer) -> SqlFrame:
    match relation:
        case Scan(schema=schema):
            return _scan(schema, needed, writer)
        case Where(rows=rows, condition=condition):
            frame = frame_of(rows, needed_below(relation, needed)[0], writer)
            test = expression_sql(condition, scope_of(frame, writer))
            return replace(frame, sql=select_sql(["*"], f"({frame.sql}) AS t", f"WHERE {test}"))
        case Select(rows=rows, columns=columns):
            chosen = {name: expression for name, expression in columns if name in needed}
            frame = frame_of(rows, needed_below(relation, needed)[0], writer)
            scope, names = scope_of(frame, writer), writer.named(chosen)
            cells = {
                names[name]: expression_sql(expression, scope)
                for name, expression in chosen.items()
            }
            return SqlFrame(
                _select(frame.owner, cells, frame.sql),
                names,
                _domains(relation, names),
                frame.owner,
            )
        case JoinPublic():
            return _join_public(relation, needed, writer)
        case JoinPeople():
            return _join_people(relation, needed, writer)
        case Union():
            return _union(relation, needed, writer)
        case PerPerson():
            return _per_person(relation, needed, writer)


def _domains(relation: Relation, names: Iterable[str]) -> dict[str, Domain]:
    domains = columns_of(relation)
    return {name: domains[name] for name in names}


def _select(owner: Iterable[str], cells: Mapping[str, str], source: str, tail: str = "") -> str:
    """Write a SELECT of an owner and named cells from another."""
    return select_sql([*owner, *named_cells(cells.items())], f"({source}) AS t", tail)


def stored_column(name: str, table: StoredTable) -> StoredColumn:
    """Refer to a stored column by its declared name."""
    column = table.columns[find_column(name, table.columns) or name]
    return replace(column, sql=f"t.{column.sql}")


def person_column(name: str, table: StoredTable) -> StoredColumn:
    """Refer to the column that tells whose row it is: the store's own numbers of people, or the declared id."""
    return (
        stored_column(name, table)
        if table.person is None
        else replace(table.person, sql=f"t.{table.person.sql}")
    )


def _scan(schema: Schema, needed: ColumnNames, writer: Writer) -> SqlFrame:
    table = writer.table(schema.name)
    require_columns(schema, table.columns)
    unit = schema.unit if isinstance(schema.unit, People) else None
    window = None if unit is None else unit.window
    wanted = needed if window is None else needed | {window[0]}
    frame = _cells(schema, wanted, table, writer)
    if window is None:
        return frame
    column, per = window
    time, name = frame.names[column], writer.fresh("p")
    cells = {name: window_sql(time, frame.domains[column], per, writer.dialect)}
    sql = _select(
        (*frame.owner, *frame.names.values()), cells, frame.sql, f"WHERE {time} IS NOT NULL"
    )
    return replace(frame, sql=sql, owner=(*frame.owner, name))


def _cells(schema: Schema, wanted: ColumnNames, table: StoredTable, writer: Writer) -> SqlFrame:
    """Write the columns of a table as the schema reads them: prepared first, then read."""
    dialect, columns = writer.dialect, schema.columns
    prepared = {
        name: prepare(columns[name], stored_column(name, table), dialect)
        for name in columns
        if name in wanted
    }
    raw = {name: writer.fresh("r") for name in prepared}
    inner, tail = {raw[name]: x.sql for name, x in prepared.items()}, ""
    owner: tuple[str, ...] = ()
    if isinstance(schema.unit, People):
        person, key = person_column(schema.unit.id, table), writer.fresh("p")
        inner, owner = {key: id_sql(person, dialect), **inner}, (key,)
        tail = f"WHERE {present_sql(person, dialect)}"
    names = writer.named(prepared)
    outer = {
        names[name]: raw[name]
        if name in writer.late
        else read(columns[name], replace(x, sql=raw[name]), dialect)
        for name, x in prepared.items()
    }
    if writer.count:
        inner[COUNT], outer[COUNT] = f"t.{writer.count}", COUNT
    source = select_sql(named_cells(inner.items()), f"{table.sql} AS t", tail)
    domains = {name: domain_of_column(columns[name]) for name in names}
    return SqlFrame(_select(owner, outer, source), names, domains, owner)


def public_frame(table: Schema, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write columns of a public table."""
    return _scan(table, needed, writer)


def _cut(rows: Relation, most: int | None, needed: ColumnNames, writer: Writer) -> SqlFrame:
    """Write one side of a join, each person cut to so many rows."""
    order = [name for name in columns_of(rows) if name in needed]
    return cut_frame(frame_of(rows, needed, writer), most, order, writer.dialect)


def _join_public(join: JoinPublic, needed: ColumnNames, writer: Writer) -> SqlFrame:
    added = {name: column for name, column in join.columns if name in needed}
    (below,) = needed_below(join, needed)
    left = _cut(join.rows, find_cut(join), below, writer)
    right = public_frame(
        join.table, frozenset(added.values()) | {column for _, column in join.on}, writer
    )
    here, there = scope_of(left, writer), scope_of(right, writer)
    alike = [
        alike_sql((expression, here), (Field(column), there)) for expression, column in join.on
    ]
    names = {name: sql for name, sql in left.names.items() if name in needed}
    public = {writer.fresh("c"): right.names[column] for column in added.values()}
    names |= dict(zip(added, public, strict=True))
    own = [*left.owner, *(left.names[n] for n in names if n in left.names)]
    mine = JoinSide(left.sql, "l", (), [key for key, _ in alike], own)
    yours = JoinSide(right.sql, "r", (), [key for _, key in alike], named_cells(public.items()))
    sql = join_sql(mine, yours, writer.dialect, keep="left" if join.keep else "")
    return SqlFrame(sql, names, _domains(join, names), left.owner)


def _join_people(join: JoinPeople, needed: ColumnNames, writer: Writer) -> SqlFrame:
    sides = zip((join.left, join.right), find_cuts(join), needed_below(join, needed), strict=True)
    left, right = (_cut(side, most, below, writer) for side, most, below in sides)
    here, there = scope_of(left, writer), scope_of(right, writer)
    alike = [alike_sql((mine, here), (yours, there)) for mine, yours in join.on]
    names = {name: sql for name, sql in (left.names | right.names).items() if name in needed}
    owner, own = left.owner, list(left.owner)
    if join.outer == "full":  # whichever side is there
        owner = tuple(writer.fresh("p") for _ in left.owner)
        pairs = zip(owner, left.owner, right.owner, strict=True)
        own = [f"COALESCE({mine}, {yours}) AS {name}" for name, mine, yours in pairs]
    first = JoinSide(left.sql, "l", left.owner, [key for key, _ in alike], [*own, *names.values()])
    second = JoinSide(right.sql, "r", right.owner, [key for _, key in alike], ())
    sql = join_sql(first, second, writer.dialect, keep=join.outer)
    return SqlFrame(sql, names, _domains(join, names), owner)


def _union(union: Union, needed: ColumnNames, writer: Writer) -> SqlFrame:
    frames = [frame_of(part, needed, writer) for part in union.parts]
    domains = _domains(union, [name for name in columns_of(union) if name in needed])
    names = writer.named(domains)
    owner = tuple(writer.fresh("p") for _ in frames[0].owner)
    texts = []
    for frame in frames:
        scope = scope_of(frame, writer)
        cells = dict(zip(owner, frame.owner, strict=True))
        cells |= {
            names[name]: scaled_sql(Field(name), domain, scope) for name, domain in domains.items()
        }
        texts.append(_select((), cells, frame.sql))
    return SqlFrame(" UNION ALL ".join(texts), names, domains, owner)


def _per_person(relation: PerPerson, needed: ColumnNames, writer: Writer) -> SqlFrame:
    totals = {name: total for name, total in relation.totals if name in needed}
    added = {
        name: total.expression for name, total in totals.items() if total.expression is not None
    }
    frame = frame_of(relation.rows, needed_below(relation, needed)[0], writer)
    scope, keys, values = (
        scope_of(frame, writer),
        writer.named(dict(relation.keys)),
        writer.named(added),
    )
    cells = {keys[name]: expression_sql(expression, scope) for name, expression in relation.keys}
    cells |= {values[name]: expression_sql(expression, scope) for name, expression in added.items()}
    inner, columns = columns_of(relation.rows), writer.named(totals)
    found = {
        columns[name]: total_sql(
            total, times_of(total, inner), values.get(name, "*"), writer.dialect
        )
        for name, total in totals.items()
    }
    groups = (*frame.owner, *keys.values())
    sql = _select(
        groups, found, _select(frame.owner, cells, frame.sql), f"GROUP BY {', '.join(groups)}"
    )
    names = {name: sql_name for name, sql_name in (keys | columns).items() if name in needed}
    return SqlFrame(sql, names, _domains(relation, names), frame.owner)
