"""Sources of a table: files, frames in memory, tables of databases.

No reading may depend on sampled values.

| source | reading |
|---|---|
| CSV | text throughout, checked against the grammar to its last byte; a cell is read by its declaration |
| Parquet | columns by the types in the file's footer, file by file (`intake.parquet_file`) |
| frames | Arrow columns by their types (`intake.arrow`); objects one by one (`intake.object_cells`) |
| tables | of a DuckDB file, "company.duckdb#sales.people", by their stored types; of PostgreSQL, read by the server |

Each kind of source has one reader. Which one reads a column follows from types that are declared in
the source, never from a cell.
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
from ..base import differ_only_in_case
from ..postgres.engine import Postgres

TableSource: TypeAlias = Any
"""One source of a table, in one of these forms:

the path of a file, a pattern such as "visits-*.csv", or a list of them; `Csv(…)`; a pandas, Polars
or Arrow table; a table of a DuckDB file, "company.duckdb#sales.people". `prepare` also takes a
`Postgres` and a PostgreSQL address with "#" and a table's name."""

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_DATABASE_SUFFIXES = (".duckdb", ".ddb", ".db")
_ARROW_KINDS = "biufMm"
"""Kinds of NumPy types that Arrow has too: truths, numbers, times, durations."""
_ARROW_SIZES = (1, 2, 4, 8)
"""Bytes of one cell in these types; longer floats have no type of Arrow's."""
_PATTERN = re.compile(r"[*?\[]")
_READABLE = "give the path of a .csv, .tsv or .parquet file, or a pandas, Polars or Arrow table"


@frozen
class CsvFiles:
    """Text files that keep the grammar."""

    files: tuple[CsvFile, ...]

    @property
    def bad(self) -> int:
        """Count the records that break the grammar."""
        return sum(file.bad for file in self.files)


@frozen
class ParquetFiles:
    """Parquet files."""

    paths: tuple[Path, ...]


@frozen
class Frame:
    """A table in memory: columns by name, each an Arrow column or a list of Python objects."""

    columns: dict[str, Any]
    rows: int


@frozen
class DatabaseTable:
    """A table of a DuckDB file; `names` is the table's name, after that of its schema if given."""

    path: Path
    names: tuple[str, ...]


@frozen
class ServerTable:
    """A table of PostgreSQL, and the private folder into which its cells are exported."""

    store: Postgres
    workspace: Path


OpenSource: TypeAlias = CsvFiles | ParquetFiles | Frame | DatabaseTable | ServerTable


def open_source(source: TableSource, name: str, workspace: Path | None = None) -> OpenSource:
    """Recognize a source, and check it as far as no schema is needed.

    >>> from discreet.engines.duckdb.sources import open_source
    >>> open_source("visits.parquet", "visits").paths[0].name
    'visits.parquet'

    Refuses: other kinds of files, text files that are not well-formed, and text files whose first
    line does not name the columns, unless `Csv(header=False, …)` names them.
    """
    if isinstance(source, Csv):
        files = [replace(source, path=path) for path in paths_of(source.path)]
        return _text_files(files, workspace)
    if isinstance(source, str | Path | list | tuple):
        return _files(source, name, workspace)
    return _frame(source, name)


def _files(source: Any, name: str, workspace: Path | None) -> OpenSource:  # noqa: ANN401
    """Recognize files by their suffixes: Parquet, text, or a table of a DuckDB file."""
    if isinstance(source, str) and "#" in source and not Path(source).exists():
        path, _, table = source.rpartition("#")
        require_path(source)
        return DatabaseTable(Path(path), tuple(table.split(".")))
    paths = paths_of(source)
    suffixes = {"".join(path.suffixes[-2:]).lower().removesuffix(".gz") for path in paths}
    if all_end_in(suffixes, _PARQUET_SUFFIXES):
        return ParquetFiles(tuple(_literal_path(path, workspace) for path in paths))
    if all_end_in(suffixes, TEXT_SUFFIXES):
        return _text_files(paths, workspace)
    first = paths[0]
    if len(paths) == 1 and first.suffix.lower() in _DATABASE_SUFFIXES:
        return DatabaseTable(first, (name,))
    raise InvalidArgument(f"{first.name or first} is no file this engine reads; {_READABLE}")


def all_end_in(names: Iterable[str], suffixes: tuple[str, ...]) -> bool:
    """Return whether all names end in one of some suffixes."""
    return all(name.endswith(suffixes) for name in names)


def _text_files(given: Iterable[Csv | Path], workspace: Path | None) -> CsvFiles:
    files = []
    for each in given:
        file = open_csv(each, workspace)
        files.append(replace(file, path=_literal_path(file.path, workspace)))
    return CsvFiles(tuple(files))


def paths_of(source: object) -> tuple[Path, ...]:
    """List the files of a path, a pattern or a list of them, in order.

    The name of a file that exists is no pattern.

    >>> from discreet.engines.duckdb.sources import paths_of
    >>> [path.name for path in paths_of(["a.csv", "b.csv"])]
    ['a.csv', 'b.csv']
    """
    given: Iterable[object] = source if isinstance(source, list | tuple) else (source,)
    paths: list[Path] = []
    for each in given:
        text = str(each)
        matches = [Path(text)]
        if _PATTERN.search(text) is not None and not Path(text).exists():
            matches = sorted(map(Path, glob.glob(text, recursive=True)))
        if not matches or not matches[0].exists():
            # Before any refusal shows the text, which may be a connection string with a password:
            # host=web/part.csv is a file only if it exists.
            require_path(each)
        if not matches:
            raise InvalidArgument(f"no file matches {text}; give the path of a file that is there")
        paths += matches
    if not paths:
        raise InvalidArgument("a list of no files is no table; give at least one")
    return tuple(paths)


def _literal_path(path: Path, workspace: Path | None) -> Path:
    """Return a path that DuckDB cannot take for a pattern.

    It is the file's own path, or that of a link in a private folder.
    """
    if workspace is None or _PATTERN.search(str(path)) is None:
        return path
    number = len(list(workspace.iterdir()))
    link = workspace / f"{number}{''.join(path.suffixes[-2:])}"
    link.symlink_to(path.resolve())
    return link


def _frame(source: Any, name: str) -> Frame:  # noqa: ANN401
    """Split a pandas, Polars or Arrow table into its columns."""
    pa = load("pyarrow", "tables")
    library = type(source).__module__.split(".")[0]
    if library == "polars":
        # A lazy frame is computed first.
        if hasattr(source, "collect"):
            source = source.collect()
        columns = {label: _polars(source[label]) for label in source.columns}
    elif library == "pandas" and hasattr(source, "columns"):
        labels = _check_labels(source.columns, name)
        columns = {str(label): _pandas(source[label]) for label in labels}
    elif isinstance(source, pa.Table | pa.RecordBatch):
        table = pa.table(source) if isinstance(source, pa.RecordBatch) else source
        labels = _check_labels(table.column_names, name)
        columns = dict(zip(labels, table.columns, strict=True))
    else:
        raise InvalidArgument(f"{name} is no table this engine reads; {_READABLE}")
    _check_labels(list(columns), name)
    return Frame(columns, len(source))


def _check_labels(labels: Iterable[Any], name: str) -> Sequence[Any]:
    """Refuse column names that differ only in case: DuckDB could not tell them apart."""
    listed = list(labels)
    if differ_only_in_case(map(str, listed)):
        raise InvalidArgument(f"{name} has columns whose names differ only in case; rename one")
    return listed


def _polars(column: Any) -> Any:  # noqa: ANN401
    """Return an Arrow column, or a list of objects where Arrow has no type for them."""
    if str(column.dtype) in ("Object", "Int128", "UInt128"):
        return column.to_list()
    return _chunked(column.to_arrow())


def _pandas(column: Any) -> Any:  # noqa: ANN401
    """Return an Arrow column where the type of a column is one of Arrow's, else the objects.

    The type alone decides. Text may hold half a character, which Arrow cannot, unless Arrow holds
    the text already. Categories are objects too: their values may be of several types.
    """
    pa = load("pyarrow", "tables")
    dtype = column.dtype
    held_by_arrow = type(column.array).__name__.startswith("Arrow")
    # Sparse columns have the kind of their cells, but no size of one.
    size = getattr(dtype, "itemsize", None)
    is_plain = getattr(dtype, "kind", "O") in _ARROW_KINDS and size in _ARROW_SIZES
    if held_by_arrow or is_plain:
        return _chunked(pa.array(column, from_pandas=True))
    return column.tolist()


def _chunked(array: Any) -> Any:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
