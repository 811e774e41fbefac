"""Where DuckDB finds a table: a file it reads itself, or columns in memory. No reading may depend on sampled values.

A CSV file is read as text throughout, with the delimiter and the names of its first line: DuckDB's own detection looks
at rows, so one row could change the type of a column, or raise. It is checked against the grammar first, to its last
byte, and refused if it breaks it; an empty cell is NULL. Columns of Python objects become one Arrow type, or text if
their values have several.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb

from ...data.columns.cell import absent
from ...errors import InvalidArgument
from ...intake.csv_file import CsvFile, open_csv
from ...optional import load
from ..sql.dialect import doubled

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["TableSource", "arrow_table", "file_sql"]

TableSource: TypeAlias = Any
"""The path of a CSV or Parquet file, or a pandas, Polars or Arrow table."""

_READABLE = "give the path of a .csv, .tsv or .parquet file, or a pandas, Polars or Arrow table"


def file_sql(path: str | Path, connection: DuckDBPyConnection) -> str:
    """Write the table function that reads a file; a CSV file is checked to its last byte first.

    >>> import duckdb
    >>> from discreet.engines.duckdb.sources import file_sql
    >>> file_sql("visits.parquet", duckdb.connect())
    "read_parquet('visits.parquet', hive_partitioning = false)"

    Refuses other kinds of files, text files without a header line, and those that are not well-formed.
    """
    name = str(path)
    plain = name.removesuffix(".gz").lower()
    if plain.endswith((".parquet", ".pq")):
        return f"read_parquet({_literal(name)}, hive_partitioning = false)"
    if plain.endswith((".csv", ".tsv", ".txt")):
        file = open_csv(name)
        sql = _csv_sql(file)
        if _rows(connection, sql) != file.records.count:
            raise InvalidArgument(f"{file.path.name} cannot be read: DuckDB finds other records in it than it holds")
        return sql
    raise InvalidArgument(f"{Path(name).name} is no file this engine reads; {_READABLE}")


def _rows(connection: DuckDBPyConnection, sql: str) -> int | None:
    try:
        found = connection.execute(f"SELECT count(*) FROM {sql}").fetchone()  # noqa: S608 all of it is quoted
    except duckdb.Error:
        return None
    return None if found is None else int(found[0])


def _csv_sql(file: CsvFile) -> str:
    """Write how a file that keeps the grammar is read: every setting is given, so that nothing is detected."""
    found = file.records
    columns = ", ".join(f"{doubled(label, chr(39))}: 'VARCHAR'" for label in file.header)
    facts = {
        "auto_detect": "false",
        "header": "true",
        "columns": f"{{{columns}}}",
        "delim": doubled(file.delimiter, "'"),
        "quote": "'\"'",
        "escape": "'\"'",
        "strict_mode": "false" if found.lf and found.crlf else "true",  # strict means one kind of line end
        "parallel": "false" if found.quoted_ends or (found.lf and found.crlf) else "true",
        "hive_partitioning": "false",  # a folder's name is no column
        "max_line_size": str(max(1 << 21, 2 * found.longest)),
    }
    settings = ", ".join(f"{key} = {value}" for key, value in facts.items())
    return f"read_csv({_literal(str(file.path))}, {settings})"


def _literal(path: str) -> str:
    """Write the path of one file: brackets, stars and question marks in it are no pattern."""
    return doubled(re.sub(r"[*?\[]", lambda found: f"[{found.group()}]", path), "'")


def arrow_table(source: TableSource, name: str) -> Any:  # noqa: ANN401
    """Turn a pandas, Polars or Arrow table into an Arrow table.

    Refuses anything else, and column names that differ only in case: DuckDB could not tell them apart.
    """
    pa = load("pyarrow", "tables")
    kind = type(source).__module__.split(".")[0]
    if kind == "polars":
        source = source.collect() if hasattr(source, "collect") else source
        table = source.to_arrow()
    elif kind == "pandas" and hasattr(source, "columns"):
        table = pa.table({str(label): _arrow_column(source[label]) for label in source.columns})
    elif isinstance(source, pa.Table | pa.RecordBatch):
        table = pa.table(source) if isinstance(source, pa.RecordBatch) else source
    else:
        raise InvalidArgument(f"{name} is no table this engine reads; {_READABLE}")
    if len({label.casefold() for label in table.column_names}) < len(table.column_names):
        raise InvalidArgument(f"{name} has columns whose names differ only in case; rename one")
    return table


def _arrow_column(column: Any) -> Any:  # noqa: ANN401
    """Convert a pandas column; objects of several types become text, since a type must not depend on one row."""
    pa = load("pyarrow", "tables")
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if absent(value) else str(value) for value in column], pa.string())
