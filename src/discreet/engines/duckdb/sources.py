"""Where DuckDB finds a table: a file it reads itself, or columns in memory. No reading may depend on sampled values.

A CSV file is read as text throughout, with the delimiter and the names of its first line: DuckDB's own detection looks
at rows, so one row could change the type of a column, or raise. Lines that do not fit the header count nowhere; an
empty cell is NULL. Columns of Python objects become one Arrow type, or text if their values have several.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any, TypeAlias

from ...data.columns.cell import absent
from ...data.infer.sniff import DELIMITERS
from ...errors import InvalidArgument
from ..sql.dialect import doubled

__all__ = ["TableSource", "arrow_table", "file_sql"]

TableSource: TypeAlias = Any
"""The path of a CSV or Parquet file, or a pandas, Polars or Arrow table."""

_READABLE = "give the path of a .csv, .tsv or .parquet file, or a pandas, Polars or Arrow table"


def file_sql(path: str | Path) -> str:
    """Write the table function that reads a file.

    >>> file_sql("visits.parquet")
    "read_parquet('visits.parquet')"

    Refuses other kinds of files, and text files without a header line.
    """
    name = str(path)
    plain = name.removesuffix(".gz").lower()
    if plain.endswith((".parquet", ".pq")):
        return f"read_parquet({doubled(name, chr(39))})"
    if plain.endswith((".csv", ".tsv", ".txt")):
        return _csv_sql(name)
    raise InvalidArgument(f"{Path(name).name} is no file this engine reads; {_READABLE}")


def _csv_sql(name: str) -> str:
    delimiter, header = _header(name)
    columns = ", ".join(f"{doubled(label, chr(39))}: 'VARCHAR'" for label in header)
    facts = {
        "auto_detect": "false",
        "header": "true",
        "columns": f"{{{columns}}}",
        "delim": doubled(delimiter, "'"),
        "quote": "'\"'",
        "escape": "'\"'",
        "ignore_errors": "true",
    }
    return f"read_csv({doubled(name, chr(39))}, {', '.join(f'{key} = {value}' for key, value in facts.items())})"


def _header(name: str) -> tuple[str, list[str]]:
    opener = gzip.open if name.lower().endswith(".gz") else open
    try:
        with opener(name, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
            first = lines.readline()
    except OSError:
        raise InvalidArgument(f"{Path(name).name} cannot be read; {_READABLE}") from None
    delimiter = max(DELIMITERS, key=first.count)
    header = next(csv.reader([first], delimiter=delimiter), [])
    if not header or len({label.casefold() for label in header}) < len(header) or not all(header):
        raise InvalidArgument(f"the first line of {Path(name).name} must name its columns, each with a name of its own")
    return delimiter, header


def arrow_table(source: TableSource, name: str) -> Any:  # noqa: ANN401
    """Turn a pandas, Polars or Arrow table into an Arrow table.

    Refuses anything else, and column names that differ only in case: DuckDB could not tell them apart.
    """
    import pyarrow as pa  # type: ignore[import-untyped]

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
    import pyarrow as pa

    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if absent(value) else str(value) for value in column], pa.string())
