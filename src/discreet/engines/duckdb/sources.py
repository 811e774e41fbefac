"""Where a table comes from: files, frames in memory, tables of a DuckDB file. No reading may depend on sampled values.

CSV        text throughout, checked against the grammar to its last byte; each cell is read by its declaration
Parquet    columns by their stored types, file by file; what DuckDB's reader stumbles over is read by Arrow's
frames     Arrow columns by their types, made total (`intake.arrow`); Python objects one by one (`intake.cells`)
tables     of a DuckDB file, "company.duckdb#sales.people", by their stored types; of PostgreSQL, read by the server
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ...connection import require_path
from ...errors import InvalidArgument
from ...frozen import frozen, replace
from ...intake.csv_file import Csv, CsvFile, open_csv
from ...optional import load
from ..postgres.engine import Postgres

TableSource: TypeAlias = Any
"""The path of a file, a pattern or a list of them, `Csv(…)`, or a pandas, Polars or Arrow table."""

_PATTERN = re.compile(r"[*?\[]")
_TEXT = (".csv", ".tsv", ".txt")
_READABLE = "give the path of a .csv, .tsv or .parquet file, or a pandas, Polars or Arrow table"


@frozen
class CsvFiles:
    """Text files that keep the grammar."""

    files: tuple[CsvFile, ...]


@frozen
class ParquetFiles:
    """Parquet files."""

    paths: tuple[Path, ...]


@frozen
class Frame:
    """A table in memory: columns by name, each an Arrow column or a pandas one of Python objects."""

    columns: dict[str, Any]
    rows: int


@frozen
class DatabaseTable:
    """A table of a DuckDB file, by the names of its schema and its own."""

    path: Path
    names: tuple[str, ...]


@frozen
class ServerTable:
    """A table of PostgreSQL, and the private folder into which its cells are taken out, read as a schema says."""

    store: Postgres
    workspace: Path


OpenSource: TypeAlias = CsvFiles | ParquetFiles | Frame | DatabaseTable | ServerTable


def open_source(source: TableSource, name: str, workspace: Path | None = None) -> OpenSource:
    """Find out what a source is, and check it as far as no schema is needed.

    >>> from discreet.engines.duckdb.sources import open_source
    >>> open_source("visits.parquet", "visits").paths[0].name
    'visits.parquet'

    Refuses other kinds of files, text files without a header line, and those that are not well-formed.
    """
    if isinstance(source, Csv):
        paths = paths_of(source.path)
        return CsvFiles(
            tuple(
                _plain(open_csv(replace(source, path=path), workspace), workspace) for path in paths
            )
        )
    if isinstance(source, str | Path | list | tuple):
        return _files(source, name, workspace)
    return _frame(source, name)


def _files(source: Any, name: str, workspace: Path | None) -> OpenSource:  # noqa: ANN401
    if isinstance(source, str) and "#" in source and not Path(source).exists():
        path, _, table = source.rpartition("#")
        require_path(source)
        return DatabaseTable(Path(path), tuple(table.split(".")))
    paths = paths_of(source)
    plain = {"".join(path.suffixes[-2:]).lower().removesuffix(".gz") for path in paths}
    if all(kind.endswith((".parquet", ".pq")) for kind in plain):
        return ParquetFiles(tuple(_plain_name(path, workspace) for path in paths))
    if all(kind.endswith(_TEXT) for kind in plain):
        return CsvFiles(tuple(_plain(open_csv(path, workspace), workspace) for path in paths))
    if len(paths) == 1 and paths[0].suffix.lower() in (".duckdb", ".ddb", ".db"):
        return DatabaseTable(paths[0], (name,))
    raise InvalidArgument(f"{paths[0].name or paths[0]} is no file this engine reads; {_READABLE}")


def paths_of(source: object) -> tuple[Path, ...]:
    """List the files that a path, a pattern or a list of them means, in order; a file's own name is no pattern.

    >>> from discreet.engines.duckdb.sources import paths_of
    >>> [path.name for path in paths_of(["a.csv", "b.csv"])]
    ['a.csv', 'b.csv']
    """
    given: Iterable[object] = source if isinstance(source, list | tuple) else (source,)
    found: list[Path] = []
    for each in given:
        text = str(each)
        pattern = _PATTERN.search(text) is not None and not Path(text).exists()
        matches = sorted(map(Path, glob.glob(text, recursive=True))) if pattern else [Path(text)]
        if not matches or not matches[0].exists():
            require_path(
                each
            )  # before any refusal shows it: host=web/part.csv is a file only if it is there
        if not matches:
            raise InvalidArgument(f"no file matches {text}; give the path of a file that is there")
        found += matches
    if not found:
        raise InvalidArgument("a list of no files is no table; give at least one")
    return tuple(found)


def _plain(file: CsvFile, workspace: Path | None) -> CsvFile:
    return replace(file, path=_plain_name(file.path, workspace))


def _plain_name(path: Path, workspace: Path | None) -> Path:
    """Return a name of a file that DuckDB cannot take for a pattern: its own, or that of a link in a private folder."""
    if workspace is None or _PATTERN.search(str(path)) is None:
        return path
    link = workspace / f"{len(list(workspace.iterdir()))}{''.join(path.suffixes[-2:])}"
    link.symlink_to(path.resolve())
    return link


def _frame(source: Any, name: str) -> Frame:  # noqa: ANN401
    """Take a pandas, Polars or Arrow table apart into its columns."""
    pa = load("pyarrow", "tables")
    kind = type(source).__module__.split(".")[0]
    if kind == "polars":
        source = source.collect() if hasattr(source, "collect") else source
        columns = {label: _polars(source[label]) for label in source.columns}
    elif kind == "pandas" and hasattr(source, "columns"):
        columns = {str(label): _pandas(source[label]) for label in _labels(source.columns, name)}
    elif isinstance(source, pa.Table | pa.RecordBatch):
        table = pa.table(source) if isinstance(source, pa.RecordBatch) else source
        columns = dict(zip(_labels(table.column_names, name), table.columns, strict=True))
    else:
        raise InvalidArgument(f"{name} is no table this engine reads; {_READABLE}")
    _labels(list(columns), name)
    return Frame(columns, len(source))


def _labels(labels: Iterable[Any], name: str) -> Sequence[Any]:
    """Refuse column names that differ only in case: DuckDB could not tell them apart."""
    listed = list(labels)
    if len({str(label).casefold() for label in listed}) < len(listed):
        raise InvalidArgument(f"{name} has columns whose names differ only in case; rename one")
    return listed


def _polars(column: Any) -> Any:  # noqa: ANN401
    """Return an Arrow column, or a list of objects where there is no type for them."""
    pa = load("pyarrow", "tables")
    if str(column.dtype) in ("Object", "Int128", "UInt128"):  # for which Arrow has no type
        return column.to_list()
    found = column.to_arrow()
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _pandas(column: Any) -> Any:  # noqa: ANN401
    """Return an Arrow column where pandas has a type for all cells, else the objects themselves.

    Categories are objects too: their values may be of several types.
    """
    pa = load("pyarrow", "tables")
    if str(column.dtype) in ("object", "category") or str(column.dtype).startswith(
        ("Sparse", "period", "interval")
    ):
        return column.tolist()
    try:
        found = pa.array(column, from_pandas=True)
    except (
        pa.ArrowException,
        UnicodeError,
        OverflowError,
    ):  # half a character is no text, and no other cell's business
        return column.tolist()
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
