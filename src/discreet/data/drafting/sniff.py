"""Sniffing of a file or rows: the names of columns, a guess of each type, and its extremes.

Everything here is read from the data, so it is as private as the data. Guesses go into a draft for
the steward, and extremes only if the steward asks for them.

Guarantee: no refusal carries a value.

Law: tests/data/test_infer.py::TestFiles, tests/data/test_infer.py::TestSources
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, TypeAlias

from ...connection import connection_facts, server_table, why_unconnected
from ...errors import InvalidArgument
from ...frozen import frozen
from ...optional import load
from ..columns.cell import is_null, read_boolean, read_number, read_timestamp, to_python
from ..columns.column import ColumnType
from ..unit import read_name
from .delimiter import DELIMITERS
from .forms import form_of, proposal

InferSource: TypeAlias = Any
"""A path of CSV, Parquet or DuckDB (FILE.duckdb#TABLE), a table of PostgreSQL
(postgresql://…#TABLE), a data frame, or rows as mappings."""
Row: TypeAlias = Mapping[str, object]
Table: TypeAlias = tuple[list[str], Iterator[Row]]
"""Names of columns, and the rows."""
FIRST_ROWS = 1000
"""Rows from which types are guessed, unless extremes are wanted too."""
BATCH = 2048
"""Rows read at once from a table."""
CODE = re.compile(r"[+-]?0[0-9]+|[+-]?[0-9]{19,}")
"""Leading zeros or too many digits for 64 bits: a code to compare, not a number to add up."""
MAX_FORMS = 40
"""Most forms kept of one column; where so many are kept, no format is proposed."""
MAX_CELLS = 5000
"""Texts kept of one column, by which proposals are chosen."""
DECIMALS = re.compile(r"[+-]?[0-9]*\.([0-9]{1,4})")
NUMBERS: frozenset[ColumnType] = frozenset({"integer", "real"})
DAYS: frozenset[ColumnType] = frozenset({"date", "timestamp"})


_ALL_KINDS: frozenset[ColumnType] = frozenset(
    {"boolean", "integer", "real", "date", "timestamp", "text"}
)


@dataclass(slots=True)
class Look:
    """Types, extremes and forms of the values of one column that were taken (`take`) so far."""

    kinds: frozenset[ColumnType] = _ALL_KINDS
    """Types that all values so far fit."""
    numbers: tuple[float, float] | None = None
    times: tuple[datetime, datetime] | None = None
    longest: int = 0
    forms: set[str] = field(default_factory=set)
    """Forms of the cells that are text, at most MAX_FORMS."""
    cells: Counter[str] = field(default_factory=Counter)
    """Cells that are text and how many have each; of texts beyond MAX_CELLS none is kept."""
    places: int = 0
    """The most decimals of a cell."""

    @property
    def proposal(self) -> tuple[ColumnType, str] | None:
        """The type and declaration that would read all text cells so far; None for plain text."""
        if self.kind != "text" or len(self.forms) >= MAX_FORMS:
            return None
        return proposal(self.forms)

    @property
    def kind(self) -> ColumnType:
        """The narrowest type that all values so far fit; text if there were none."""
        if self.kinds == _ALL_KINDS:
            return "text"
        order: tuple[ColumnType, ...] = ("boolean", "integer", "real", "date", "timestamp")
        return next((kind for kind in order if kind in self.kinds), "text")

    def take(self, value: object) -> None:
        """Count one more value."""
        if (
            isinstance(value, str)
            and value
            and (value in self.cells or len(self.cells) < MAX_CELLS)
        ):
            self.cells[value] += 1
        if _blank(value):
            return
        self.kinds &= _kinds(value)
        shown = str(value)
        self.longest = max(self.longest, len(shown))
        if isinstance(value, str) and len(self.forms) < MAX_FORMS:
            self.forms.add(form_of(value))
        self.places = max(self.places, _decimals(shown))
        x = read_number(value)
        if x is not None and abs(x) != float("inf"):
            low, high = self.numbers or (x, x)
            self.numbers = min(x, low), max(x, high)
        time = read_timestamp(value)
        if time is not None:
            first, last = self.times or (time, time)
            self.times = min(time, first), max(time, last)


@frozen
class Looks:
    """The `Look` at every column, by name.

    `most_rows` is the greatest number of rows of one person, if an id column was given and every
    row was read; else None.
    """

    columns: dict[str, Look]
    most_rows: int | None


def sniff(source: InferSource, *, every_row: bool = False, person: str | None = None) -> Looks:
    """Read the first 1,000 rows of a source, or every row, and return the looks of its columns.

    >>> from discreet.data.drafting.sniff import sniff
    >>> rows = [{"age": "37", "paid": "12.50", "zip": "0152"}, {"age": "41", "paid": "", "zip": "0481"}]
    >>> [look.kind for look in sniff(rows).columns.values()]
    ['integer', 'real', 'text']

    Refuses: a file that cannot be read, one without a header, names that no column can have, and an
    id that is no column; InvalidArgument.
    """
    names, rows = _table(source)
    if person is not None and person not in names:
        raise InvalidArgument(
            f"there is no column {person!r} to tell people by; there are {', '.join(names)}"
        )
    looks = {name: Look() for name in names}
    rows_of: Counter[str] = Counter()
    if not every_row:
        rows = islice(rows, FIRST_ROWS)
    for row in rows:
        for name in names:
            looks[name].take(row.get(name))
        # From some rows alone the most rows of one person cannot be told.
        if person is not None and every_row and not _blank(row.get(person)):
            rows_of[str(row[person])] += 1
    return Looks(looks, max(rows_of.values(), default=None))


def _table(source: InferSource) -> Table:
    """Return the names and the rows of a source."""
    if isinstance(source, str | Path):
        table = _stored_table(str(source))
        if table is None:
            return _csv_table(Path(source))
    else:
        table = _frame_table(source) or _mapping_table(source)
    names, rows = table
    return _read_names(names), rows


def _mapping_table(source: InferSource) -> Table:
    rows = iter(source)
    first = next(rows, None)
    if not isinstance(first, Mapping):
        raise InvalidArgument(
            "infer takes the path of a CSV file, or at least one row as a mapping of names to values"
        )
    return list(first), chain([first], rows)


def _csv_table(path: Path) -> Table:
    """Return names and rows of a CSV file; refuses a first line that looks like values."""
    rows = _csv_rows(path)
    names = _read_names(next(rows, []))
    if all(read_number(name) is not None or read_timestamp(name) is not None for name in names):
        raise InvalidArgument(
            f"the first line of {path.name} looks like values; infer needs a first line of names"
        )
    # Not strict: a short row has NULL in its last columns.
    return names, (dict(zip(names, row, strict=False)) for row in rows)


def _csv_rows(path: Path) -> Iterator[list[str]]:
    """Yield the records of a CSV file, whose delimiter is the commonest one in its first line."""
    try:
        with _open_text(path) as lines:
            header = lines.readline()
            lines.seek(0)
            delimiter = max(DELIMITERS, key=header.count)
            yield from csv.reader(lines, delimiter=delimiter)
    except FileNotFoundError:
        raise InvalidArgument(f"{path} cannot be read: there is no such file") from None
    except (OSError, EOFError, zlib.error, csv.Error):
        raise InvalidArgument(
            f"{path.name} cannot be read as CSV; give a text file with one header line"
        ) from None


def _open_text(path: Path) -> IO[str]:
    """Open a text file, compressed or not."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _read_names(header: list[object] | list[str]) -> list[str]:
    """Check the names of the columns; a refusal shows no name, since it may be a value."""
    names = []
    for position, name in enumerate(header, start=1):
        try:
            names.append(read_name(name, f"column {position}"))
        except InvalidArgument:
            # The first refusal would show the name, which is a value if there is no header.
            raise InvalidArgument(
                f"column {position} needs a printable name of at most 63 bytes without quotes"
            ) from None
    if not names or len({name.casefold() for name in names}) < len(names):
        raise InvalidArgument(
            "the columns need names that differ, also in lower case; infer reads them from the header"
        )
    return names


def _blank(value: object) -> bool:
    return is_null(value) or (isinstance(value, str) and not value.strip(" "))


def _decimals(cell: str) -> int:
    """Count the decimals of a numeral; 0 for other text and for more than four decimals."""
    match = DECIMALS.fullmatch(cell.strip(" "))
    if match:
        return len(match[1])
    return 0


def _kinds(value: object) -> frozenset[ColumnType]:
    """Return the types that a value that is present fits."""
    if isinstance(value, str):
        return _kinds_of_text(value.strip(" ")) | {"text"}
    plain = to_python(value)
    if isinstance(plain, bool):
        return frozenset({"boolean"})
    # A datetime is a date too, so it is asked for first.
    if isinstance(plain, datetime):
        return frozenset({"timestamp"})
    if isinstance(plain, date):
        return DAYS
    x = read_number(plain)
    if x is None:
        return frozenset({"text"})
    return _kinds_of_number(x)


def _kinds_of_text(cell: str) -> frozenset[ColumnType]:
    """Return the types but text that a cell of text fits; none for a code such as 0152."""
    if CODE.fullmatch(cell):
        return frozenset()
    x = read_number(cell)
    if x is not None:
        return _kinds_of_number(x)
    if read_boolean(cell) is not None:
        return frozenset({"boolean"})
    if read_timestamp(cell) is not None:
        # Ten characters are a bare day; a longer text has a time of day.
        if len(cell) == 10:
            return DAYS
        return frozenset({"timestamp"})
    return frozenset()


def _kinds_of_number(x: float) -> frozenset[ColumnType]:
    if isinstance(x, int):
        return NUMBERS
    return frozenset({"real"})


def _frame_table(source: Any) -> Table | None:  # noqa: ANN401
    """Return the names and rows of a pandas, Polars or Arrow table, None for anything else.

    >>> import pyarrow as pa
    >>> from discreet.data.drafting.sniff import _frame_table
    >>> names, rows = _frame_table(pa.table({"age": [37]}))
    >>> names, list(rows)
    (['age'], [{'age': 37}])
    """
    # By the module's name: none of these libraries is imported for a check.
    library = type(source).__module__.split(".")[0]
    if library == "pandas" and hasattr(source, "columns"):
        names = [str(name) for name in source.columns]
        tuples = source.itertuples(index=False, name=None)
        return names, (dict(zip(names, row, strict=True)) for row in tuples)
    if library == "polars":
        # A lazy frame is a query that has not run yet.
        if hasattr(source, "collect"):
            source = source.collect()
        return list(source.columns), iter(source.iter_rows(named=True))
    if library == "pyarrow" and hasattr(source, "to_batches"):
        return list(source.column_names), _rows_of_batches(source.to_batches(BATCH))
    return None


def _rows_of_batches(batches: Iterable[Any]) -> Iterator[Row]:
    """Yield the rows of Arrow's batches, one batch in memory at a time."""
    for batch in batches:
        yield from batch.to_pylist()


def _stored_table(path: str) -> Table | None:
    """Return names and rows of a Parquet file, or a table of DuckDB or PostgreSQL; None otherwise.

    Refuses: a file or table that cannot be read, with InvalidArgument.
    """
    server = server_table(path)
    if server:
        return _postgres_table(*server)
    file, _, table = path.partition("#")
    suffix = Path(file).suffix.lower()
    if suffix in (".parquet", ".pq"):
        return _parquet_table(file)
    if suffix in (".duckdb", ".ddb", ".db"):
        return _duckdb_table(file, table or Path(file).stem)
    return None


def _parquet_table(path: str) -> Table:
    """Return names and rows of a Parquet file."""
    module = load("pyarrow.parquet", "tables")
    try:
        file = module.ParquetFile(path)
    except (OSError, ValueError):
        # Arrow's own errors are of these kinds.
        raise InvalidArgument(f"{Path(path).name} cannot be read as Parquet") from None
    names = [str(name) for name in file.schema_arrow.names]
    # Arrow's errors while it reads are of these kinds too.
    rows = _rows_of_batches(file.iter_batches(BATCH))
    return names, _without_words(rows, path, (OSError, ValueError))


def _duckdb_table(path: str, table: str) -> Table:
    """Return names and rows of a table of a DuckDB file, opened for reading only."""
    duckdb = load("duckdb", "tables")
    try:
        cursor = duckdb.connect(path, read_only=True).execute(f"FROM {_quoted(table)}")
    except duckdb.Error:
        raise InvalidArgument(
            f"{Path(path).name} has no table {table} that can be read; name one as FILE.duckdb#TABLE"
        ) from None
    names = [str(column[0]) for column in cursor.description]
    fetched = iter(cursor.fetchone, None)
    rows = (dict(zip(names, row, strict=True)) for row in fetched)
    return names, _without_words(rows, path, (duckdb.Error,))


def _without_words(
    rows: Iterator[Row], path: str, errors: tuple[type[Exception], ...]
) -> Iterator[Row]:
    """Yield rows; where one cannot be read, say so without the library's words, which may hold a cell."""
    try:
        yield from rows
    except errors:
        raise InvalidArgument(
            f"{Path(path).name} has a row that cannot be read; leave its column out or mend it"
        ) from None


def _quoted(table: str) -> str:
    """Quote a name of a table, perhaps with its schema, for SQL."""
    names = [name.replace('"', '""') for name in table.split(".")]
    return ".".join(f'"{name}"' for name in names)


def _postgres_table(address: str, table: str) -> Table:
    """Read a table of PostgreSQL, some rows at a time."""
    rows = _postgres_rows(address, _quoted(table))
    try:
        names = list(next(rows))
    except load("psycopg", "postgres").Error:
        raise InvalidArgument(
            f"the server has no table {table or '(none named)'} that can be read; name one as postgresql://…#hr.staff"
        ) from None
    return names, _without_words(rows, table, (load("psycopg", "postgres").Error,))


def _postgres_rows(address: str, quoted: str) -> Iterator[Row]:
    """Yield the names of a table's columns, as a row without values, and then its rows."""
    psycopg = load("psycopg", "postgres")
    # Read-only: a look at a table must not be able to change it.
    settings = {"options": "-c default_transaction_read_only=on", "client_encoding": "utf8"}
    try:
        opened = psycopg.connect(**(connection_facts(address) | settings))
    except psycopg.OperationalError as problem:
        reason = why_unconnected(problem, address)
        raise InvalidArgument(f"the PostgreSQL server cannot be used: {reason}") from None
    # A named cursor is on the server, so that a large table is not fetched at once.
    with opened as connection, connection.cursor(name="look") as cursor:
        cursor.itersize = BATCH
        cursor.execute(f"TABLE {quoted}")
        names = [str(column.name) for column in cursor.description]
        yield dict.fromkeys(names)
        for row in cursor:
            yield dict(zip(names, row, strict=True))
