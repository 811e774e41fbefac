"""DuckDB: the embedded store, over CSV and Parquet files, pandas, Polars and Arrow tables, and DuckDB's own files."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...query.algebra.tally import Tally, Totals
from ...query.domains.domain import Scalar
from ..base import cancelled, failure
from ..progress import watch
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.lines import in_lines
from ..sql.select import select_sql
from ..sql.store import SqlStore
from .dialect import DUCKDB, stored_class
from .sources import TableSource, arrow_table, file_sql

__all__ = ["DuckDB"]

HELD = "held_"
"""What is registered from memory is called this, and the table's name in hexadecimal."""
DENSE_BITS = 20
"""Ids that are integers in a range of up to 2^20 are counted in an array of that length instead of a hash table."""


class DuckDB:
    """Answer from DuckDB: `DuckDB({"people": "people.csv"})`, `DuckDB("company.duckdb")`, or an open connection.

    Tables are files (CSV, Parquet) or pandas, Polars and Arrow tables, by name; nothing is copied but data frames of
    Python objects. A DuckDB file is opened for reading only. `progress` shows a bar while a query runs.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tally import Tally
    >>> import pyarrow as pa
    >>> from discreet.data import Integer, Rows
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tally import Free, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> store = dp.DuckDB({"people": pa.table({"age": [37, 200, None]})})
    >>> people = dp.Schema("people", Rows(), {"age": Integer(0, 120)})
    >>> store.tally(Tally(Scan(people), (), (Term(Field("age"), 1, 0, 120),), Free()))
    {(): (157,)}

    Refuses files and objects it cannot read, and a connection with a default collation; whatever DuckDB says while it
    runs becomes one constant failure.
    """

    def __init__(
        self, tables: Mapping[str, TableSource] | str | Path | duckdb.DuckDBPyConnection, *, progress: bool = False
    ) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._held: dict[str, StoredTable] = {}
        self._sources: dict[str, str] = {}
        self._connection = _connect(tables)
        if isinstance(tables, Mapping):
            self._sources = {name: _register(self._connection, name, source) for name, source in tables.items()}
        if progress:
            self._connection.execute("SET enable_progress_bar = true")
            self._connection.execute("SET enable_progress_bar_print = false")
        self._store = SqlStore(DUCKDB, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._store.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally, in lines; a file stands there by the name of its table."""
        text = self._store.explain(tally)
        for name, source in self._sources.items():
            if source.startswith("read_"):  # where a file lies is nobody's business
                text = text.replace(in_lines(source), DUCKDB.quote(name))
        return text

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not in the store, or whose values repeat more than it states."""
        self._store.check(schema)

    def public_values(self, table: Schema, column: str) -> tuple[Scalar, ...]:
        """List the distinct values of a column of a public table, in order, NULL left out."""
        return self._store.public_values(table, column)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return {name: column.type for name, column in self._table(table).columns.items()}

    def interrupt(self) -> None:
        """Cancel the query that is running, from another thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _table(self, name: str) -> StoredTable:
        if name not in self._held:
            if self._sources and name not in self._sources:
                raise SchemaMismatch(f"there is no table {name} here; there are {', '.join(self._sources)}")
            self._held[name] = self._described(name, self._sources.get(name, DUCKDB.quote(name)))
        return self._held[name]

    def _described(self, name: str, source: str) -> StoredTable:
        with self._lock:
            try:
                rows = self._connection.execute(f"DESCRIBE {select_sql(['*'], source)}").fetchall()
            except duckdb.ConnectionException:
                raise failure() from None
            except duckdb.Error:
                raise SchemaMismatch(f"the store has no table {name} that it can read") from None
        packed = not source.startswith((HELD, "read_csv"))
        columns = {row[0]: StoredColumn(DUCKDB.quote(row[0]), row[1], stored_class(row[1]), packed) for row in rows}
        return StoredTable(source, columns)

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        with self._lock:
            try:
                if not self._progress:
                    return self._run(sql)
                return watch(lambda: self._run(sql), self._connection.query_progress, self._connection.interrupt)
            except duckdb.InterruptException:
                raise cancelled() from None
            except duckdb.Error:
                raise failure() from None

    def _run(self, sql: str) -> Sequence[Sequence[object]]:
        return self._connection.execute(sql).fetchall()


def _connect(tables: object) -> duckdb.DuckDBPyConnection:
    if isinstance(tables, duckdb.DuckDBPyConnection):
        if tables.execute("SELECT current_setting('default_collation')").fetchall() not in ([("",)], [("binary",)]):
            raise InvalidArgument("the connection compares text by a collation; SET default_collation = 'binary' first")
        return tables
    if isinstance(tables, Mapping):
        return duckdb.connect(config={"python_enable_replacements": False, "perfect_ht_threshold": DENSE_BITS})
    if isinstance(tables, str | Path):
        try:
            return duckdb.connect(str(tables), read_only=True, config={"perfect_ht_threshold": DENSE_BITS})
        except duckdb.Error:
            raise InvalidArgument(f"{Path(tables).name} cannot be opened as a DuckDB file") from None
    raise InvalidArgument(
        'DuckDB takes tables by name, such as {"people": "people.csv"}, a DuckDB file or a connection'
    )


def _register(connection: duckdb.DuckDBPyConnection, name: str, source: Any) -> str:  # noqa: ANN401
    """Return what stands after FROM for a source."""
    if isinstance(source, str | Path):
        return file_sql(source, connection)
    held = f"{HELD}{name.encode().hex()}"
    connection.register(held, arrow_table(source, name))
    return held
