"""Rows of any source as mappings, for a look at them: Parquet, data frames, tables of a DuckDB file or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...connection import connection_facts, server_table, why_unconnected
from ...errors import InvalidArgument
from ...optional import load

BATCH = 2048


def frame_rows(source: Any) -> tuple[list[str], Iterator[Mapping[str, object]]] | None:  # noqa: ANN401
    """Return the names and rows of a pandas, Polars or Arrow table, None for anything else.

    >>> import pyarrow as pa
    >>> from discreet.data.drafting.source_rows import frame_rows
    >>> names, rows = frame_rows(pa.table({"age": [37]}))
    >>> names, list(rows)
    (['age'], [{'age': 37}])
    """
    kind = type(source).__module__.split(".")[0]
    if kind == "pandas" and hasattr(source, "columns"):
        names = [str(name) for name in source.columns]
        return names, (
            dict(zip(names, row, strict=True)) for row in source.itertuples(index=False, name=None)
        )
    if kind == "polars":
        frame = source.collect() if hasattr(source, "collect") else source
        return list(frame.columns), iter(frame.iter_rows(named=True))
    if kind == "pyarrow" and hasattr(source, "to_batches"):
        return list(source.column_names), (
            row for batch in source.to_batches(BATCH) for row in batch.to_pylist()
        )
    return None


def stored_rows(path: str) -> tuple[list[str], Iterator[Mapping[str, object]]] | None:
    """Return the names and rows of a Parquet file or a table of DuckDB or PostgreSQL, None for other paths.

    Refuses a file or table that cannot be read.
    """
    if server := server_table(path):
        return _served(*server)
    place, _, table = path.partition("#")
    suffix = Path(place).suffix.lower()
    if suffix in (".parquet", ".pq"):
        return _parquet(place)
    return (
        _database(place, table or Path(place).stem)
        if suffix in (".duckdb", ".ddb", ".db")
        else None
    )


def _parquet(place: str) -> tuple[list[str], Iterator[Mapping[str, object]]]:
    module = load("pyarrow.parquet", "tables")
    try:
        file = module.ParquetFile(place)
    except (OSError, ValueError):  # Arrow's own errors are of these kinds
        raise InvalidArgument(f"{Path(place).name} cannot be read as Parquet") from None
    rows = (row for batch in file.iter_batches(BATCH) for row in batch.to_pylist())
    return [str(name) for name in file.schema_arrow.names], rows


def _database(place: str, table: str) -> tuple[list[str], Iterator[Mapping[str, object]]]:
    duckdb = load("duckdb", "tables")
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in table.split("."))
    try:
        cursor = duckdb.connect(place, read_only=True).execute(f"FROM {quoted}")
    except duckdb.Error:
        raise InvalidArgument(
            f"{Path(place).name} has no table {table} that can be read; name one as FILE.duckdb#TABLE"
        ) from None
    names = [str(column[0]) for column in cursor.description]
    return names, (dict(zip(names, row, strict=True)) for row in iter(cursor.fetchone, None))


def _served(address: str, table: str) -> tuple[list[str], Iterator[Mapping[str, object]]]:
    """Read a table of PostgreSQL, some rows at a time."""
    rows = _fetched(
        address, ".".join('"' + name.replace('"', '""') + '"' for name in table.split("."))
    )
    try:
        names = list(next(rows))
    except load("psycopg", "postgres").Error:
        raise InvalidArgument(
            f"the server has no table {table or '(none named)'} that can be read; name one as postgresql://…#hr.staff"
        ) from None
    return names, rows


def _fetched(address: str, quoted: str) -> Iterator[Mapping[str, object]]:
    """Yield the names of a table's columns, as a row without values, and then its rows."""
    psycopg = load("psycopg", "postgres")
    settings = {"options": "-c default_transaction_read_only=on", "client_encoding": "utf8"}
    try:
        opened = psycopg.connect(**(connection_facts(address) | settings))
    except psycopg.OperationalError as problem:
        said = why_unconnected(problem, address)
        raise InvalidArgument(f"the PostgreSQL server cannot be used: {said}") from None
    with opened as connection, connection.cursor(name="look") as cursor:
        cursor.itersize = BATCH
        cursor.execute(f"TABLE {quoted}")
        names = [str(column.name) for column in cursor.description]
        yield dict.fromkeys(names)
        yield from (dict(zip(names, row, strict=True)) for row in cursor)
