"""The parts of a source as DuckDB reads them: what stands after FROM, and the columns that a schema declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

import duckdb

from ...data.columns.column import Category
from ...data.schema import Schema
from ...data.unit import People
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.arrow import total_column
from ...intake.csv_file import Csv, CsvFile, open_csv
from ...intake.object_cells import id_cells, read_cells
from ...optional import load
from ..base import find_column, require_columns
from ..postgres.export import FIRST
from ..sql.dialect import StoredColumn, StoredTable, put_quotes
from ..sql.select import select_sql
from .dialect import DUCKDB, stored_class
from .sources import CsvFiles, DatabaseTable, Frame, OpenSource, ParquetFiles, ServerTable

_HELD = count()


def names_of(source: OpenSource, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """List the columns of a source with their stored types."""
    match source:
        case CsvFiles(files=files):
            return dict.fromkeys(files[0].header, "VARCHAR")
        case Frame(columns=columns):
            return {name: _type(column) for name, column in columns.items()}
        case ParquetFiles(paths=paths):
            return _types(describe(connection, _parquet_sql([str(paths[0])])))
        case DatabaseTable():
            return _types(describe(connection, _attach(source, connection)))
        case ServerTable():
            return {}


def _types(table: StoredTable) -> dict[str, str]:
    return {name: column.type for name, column in table.columns.items()}


def _type(column: object) -> str:
    return "objects" if isinstance(column, list) else str(column.type)  # type: ignore[attr-defined]


def describe(
    connection: duckdb.DuckDBPyConnection, source: str, packed: bool = True
) -> StoredTable:
    """Describe what stands after FROM."""
    rows = connection.execute(f"DESCRIBE {select_sql(['*'], source)}").fetchall()
    columns = {
        row[0]: StoredColumn(DUCKDB.quote(row[0]), row[1], stored_class(row[1]), packed)
        for row in rows
    }
    return StoredTable(source, columns)


def parts_of(
    source: OpenSource, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> Iterator[StoredTable]:
    """Yield the parts of a source, each a table with the columns that the schema declares.

    Refuses a part that lacks one of them, and a file that cannot be read.
    """
    match source:
        case CsvFiles(files=files):
            for file in files:
                columns = {
                    name: StoredColumn(DUCKDB.quote(name), "VARCHAR", "text")
                    for name in file.header
                }
                require_columns(schema, columns)
                yield StoredTable(csv_sql(file), columns)
        case Frame():
            require_columns(schema, source.columns)
            yield _register(source, schema, connection)
        case ParquetFiles(paths=paths):
            for path in paths:
                yield _parquet(str(path), schema, connection)
        case DatabaseTable():
            table = describe(connection, _attach(source, connection))
            require_columns(schema, table.columns)
            yield table
        case ServerTable():
            yield _export(source, schema)


def csv_sql(file: CsvFile, types: Mapping[str, str] | None = None) -> str:
    """Write how a file that keeps the grammar is read: every setting is given, so that nothing is detected.

    With `types` it is one that a server wrote, in which empty text has quotes and a missing cell has none.
    """
    found = file.records
    listed = types or dict.fromkeys(file.header, "VARCHAR")
    columns = ", ".join(f"{put_quotes(label, chr(39))}: '{kind}'" for label, kind in listed.items())
    facts = {
        "auto_detect": "false",
        "header": "true" if file.named else "false",
        "columns": f"{{{columns}}}",
        "delim": put_quotes(file.delimiter, "'"),
        "quote": put_quotes(file.quote, "'"),
        "escape": put_quotes(file.quote, "'"),
        "strict_mode": "true",
        "parallel": "false" if found.quoted_ends else "true",
        "allow_quoted_nulls": "true" if types is None else "false",
        "hive_partitioning": "false",  # a folder's name is no column
        "max_line_size": str(max(1 << 21, 2 * found.longest)),
    }
    if not found.crlf:
        facts["new_line"] = r"'\n'"  # whatever the first line end inside quotes is
    settings = ", ".join(f"{key} = {value}" for key, value in facts.items())
    return f"read_csv([{put_quotes(str(file.path), chr(39))}], {settings})"


_SAVED = {
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "category text": "VARCHAR",
    "category boolean": "BOOLEAN",
}
_SAVED_IDS = {"integer": "BIGINT", "float": "DOUBLE"}


def _export(source: ServerTable, schema: Schema) -> StoredTable:
    """Take the cells of a server's table out into a private file, and describe them: they have been read there."""
    place = source.workspace / f"{len(list(source.workspace.iterdir()))}.csv"
    person = source.store.export(schema, place)
    types, columns = {FIRST: "TINYINT"}, {}
    for number, (name, column) in enumerate(schema.columns.items()):
        kind = f"category {column.of}" if isinstance(column, Category) else column.kind
        types |= {f"k{number}": _SAVED.get(kind, "BIGINT"), f"o{number}": "SMALLINT"}
        columns[name] = StoredColumn(
            f"k{number}", types[f"k{number}"], "other", kept=column, seen=f"o{number}"
        )
    if person is not None and isinstance(schema.unit, People):
        types["p"] = _SAVED_IDS.get(person.stored, "VARCHAR")
        person = replace(
            person, sql="p", stored="other" if person.stored == "decimal" else person.stored
        )
        columns.setdefault(schema.unit.id, person)
    file = open_csv(Csv(place, delimiter=",", header=False, names=tuple(types)))
    return StoredTable(csv_sql(file, types), columns, person)


def _parquet_sql(paths: list[str]) -> str:
    """Write how Parquet files are read; in a list that no folder's listing is asked for."""
    return f"read_parquet([{', '.join(put_quotes(path, chr(39)) for path in paths)}], hive_partitioning = false)"


def _parquet(path: str, schema: Schema, connection: duckdb.DuckDBPyConnection) -> StoredTable:
    """Read a file in place if DuckDB's reader gets through it, else by Arrow's, whose cells are then made total."""
    name = path.rpartition("/")[2]
    try:
        table, labels = describe(connection, _parquet_sql([path])), _parquet_names(path, connection)
    except duckdb.Error:
        raise InvalidArgument(f"{name} cannot be read as Parquet") from None
    if len({label.casefold() for label in labels}) < len(labels):  # of which DuckDB renames one
        raise InvalidArgument(f"{name} has columns whose names differ only in case; rename one")
    require_columns(schema, table.columns)
    if _readable(table, schema, connection):
        return table
    parquet = load("pyarrow.parquet", "tables")
    names = [find_column(name, table.columns) or name for name in wanted_columns(schema)]
    held = parquet.read_table(path, columns=names, partitioning=None)
    return _register(
        Frame(dict(zip(names, held.columns, strict=True)), held.num_rows), schema, connection
    )


def _parquet_names(path: str, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """List the columns of a file as it names them: what follows a nested one are its parts."""
    text = select_sql(["name", "num_children"], "parquet_schema(?)")
    names, inside = [], 0
    for label, parts in connection.execute(text, [path]).fetchall()[1:]:
        if not inside:
            names.append(str(label))
        inside += (parts or 0) - (1 if inside else 0)
    return names


def wanted_columns(schema: Schema) -> list[str]:
    """List the stored columns that a schema reads."""
    person = [schema.unit.id] if isinstance(schema.unit, People) else []
    return list(dict.fromkeys([*schema.columns, *person]))


def _readable(table: StoredTable, schema: Schema, connection: duckdb.DuckDBPyConnection) -> bool:
    """Read every text and time of a file once: text that is not UTF-8 and times out of range raise in the reader."""
    stored = [
        table.columns[find_column(name, table.columns) or name] for name in wanted_columns(schema)
    ]
    cells = [f"sum(length({x.sql}))" for x in stored if x.stored == "text"]
    cells += [
        f"count(CASE WHEN {x.sql} > {x.sql} THEN 1 END)"
        for x in stored
        if x.stored in ("timestamp", "zoned")
    ]
    if not cells:
        return True
    try:
        connection.execute(select_sql(cells, table.sql)).fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False
    return True


def _register(frame: Frame, schema: Schema, connection: duckdb.DuckDBPyConnection) -> StoredTable:
    """Hand the declared columns of a frame to DuckDB: Arrow columns made total, objects read one by one."""
    pa = load("pyarrow", "tables")
    name = f"held_{next(_HELD)}"
    columns, arrays = {}, []
    for place, (declared, rule) in enumerate(schema.columns.items()):
        stored = find_column(declared, frame.columns) or declared
        given = frame.columns[stored]
        kept = isinstance(given, list)
        arrays.append(read_cells(given, rule) if kept else total_column(given))
        columns[stored] = StoredColumn(f"c{place}", "", "other", kept=rule if kept else None)
    person = None
    if isinstance(schema.unit, People):
        given = frame.columns[find_column(schema.unit.id, frame.columns) or schema.unit.id]
        arrays.append(id_cells(given) if isinstance(given, list) else total_column(given))
        person = StoredColumn("person", "", "other")
    labels = [column.sql for column in columns.values()] + ([] if person is None else [person.sql])
    connection.register(name, pa.table(dict(zip(labels, arrays, strict=True))))
    types = describe(connection, name, packed=False).columns
    known = {stored: _with_type(column, types) for stored, column in columns.items()}
    if person is not None and isinstance(schema.unit, People):
        person = _with_type(person, types)
        known.setdefault(find_column(schema.unit.id, frame.columns) or schema.unit.id, person)
    return StoredTable(name, known, person)


def _with_type(column: StoredColumn, types: dict[str, StoredColumn]) -> StoredColumn:
    found = types[column.sql]
    return StoredColumn(found.sql, found.type, found.stored, kept=column.kept)


def _alias(source: DatabaseTable) -> str:
    return f"from_{abs(hash(str(source.path))):x}"


def is_view(source: DatabaseTable, connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether an attached file has a view of that name: then its text, not its cells, says what may fail."""
    named = "WHERE database_name = ? AND lower(view_name) = lower(?) AND NOT internal"
    text = select_sql(["count(*)"], "duckdb_views()", named)
    return bool(connection.execute(text, [_alias(source), source.names[-1]]).fetchall()[0][0])


def _attach(source: DatabaseTable, connection: duckdb.DuckDBPyConnection) -> str:
    """Attach a DuckDB file for reading, and write its table's name; outside `main` if only one schema has it."""
    alias = _alias(source)
    try:
        connection.execute(
            f"ATTACH IF NOT EXISTS {put_quotes(str(source.path), chr(39))} AS {alias} (READ_ONLY)"
        )
    except duckdb.Error:
        raise InvalidArgument(f"{source.path.name} cannot be opened as a DuckDB file") from None
    return f"{alias}.{table_sql(source.names, connection, alias)}"


def table_sql(names: tuple[str, ...], connection: duckdb.DuckDBPyConnection, database: str) -> str:
    """Write the name of a table with its schema: `main`'s, else that of the only schema which has such a table."""
    kinds = [("duckdb_tables()", "table_name"), ("duckdb_views()", "view_name")]
    texts = [
        select_sql(
            ["schema_name", name],
            table,
            f"WHERE database_name = ? AND lower({name}) = lower(?) AND NOT internal",
        )
        for table, name in kinds
    ]
    found = connection.execute(" UNION ALL ".join(texts), [database, names[-1]] * 2).fetchall()
    places = [row for row in found if len(names) < 2 or row[0] == names[0]]
    first = [row for row in places if row[0] == "main"] or places
    if len(first) != 1:
        several = (
            f"it is in {', '.join(sorted(row[0] for row in first))}: say which"
            if first
            else "it is not there"
        )
        raise SchemaMismatch(
            f"the store has no table {'.'.join(names)} that it can read: {several}"
        )
    return ".".join(DUCKDB.quote(name) for name in first[0])
