"""Prepare a store: read sources once, strictly, and keep what was read in one file, or leave nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import duckdb
from rich.console import Console
from rich.progress import Progress

from ...connection import require_path, server_table
from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.csv_file import BadRecord, Csv
from ...intake.report import TableReport
from ...intake.source_digest import digest_source
from ..postgres.engine import Postgres
from ..sql.store import require_readable
from .catalog import take_in
from .dialect import DUCKDB
from .engine import DuckDB
from .findings import make_report
from .manifest import Manifest, PreparedTable, is_store, write_mark
from .parts import parts_of
from .session import StoreLimits, blindfold, open_session, read_limits, see_again
from .sources import (
    CsvFiles,
    DatabaseTable,
    OpenSource,
    ParquetFiles,
    ServerTable,
    TableSource,
    open_source,
    paths_of,
)

Tell = Callable[[str], None]


def prepare(
    sources: Mapping[str, TableSource],
    schemas: Iterable[Schema],
    out: str | Path,
    *,
    delimiter: str | None = None,
    quote: str = '"',
    encoding: str = "utf-8",
    on_bad_record: BadRecord = "refuse",
    memory: str | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> DuckDB:
    r"""Read tables once, as their schemas declare, into a store that opens at once; what was at `out` is replaced.

    Sources are files, frames, tables of a DuckDB file ("company.duckdb#sales.people") or of PostgreSQL, given by a
    `Postgres` or as "postgresql://db/company#hr.staff". Every cell is read by itself and its column's declaration;
    people's ids become numbers. The words about text files
    hold for every one; `Csv(…)` says them for one source. The store is written beside `out` and put in its place when
    it is whole. Then `dp.DuckDB(out)` opens it, and `report` tells the steward what became of the cells.

    >>> import discreet as dp
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("age,region\n37,N\n200,S\nold,N\n")
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> store = dp.prepare({"people": folder / "people.csv"}, [people], folder / "people.store")
    >>> print(store.report)
    for the steward only: these counts come from the data
    people: 3 rows
      age: 1 unreadable, 1 clipped, such as aaa
      region: every cell read

    Refuses a source without a schema and a schema without a source, two schemas of one name, columns that are not
    there, records that break the grammar, a place that cannot be written, a disk that is full.
    """
    tables, declared = dict(sources), _declared_tables(schemas, sources)
    form = {
        "delimiter": delimiter,
        "quote": quote,
        "encoding": encoding,
        "on_bad_record": on_bad_record,
    }
    require_path(out)
    limits, target = read_limits(memory, threads), Path(out)
    given = {name: _add_words(source, form) for name, source in tables.items()}
    folder = _folder_beside(target)
    try:
        with (
            _open_servers(given) as given,
            Progress(console=Console(stderr=True), transient=True, disable=not progress) as bar,
        ):
            task = bar.add_task("reading", total=3 * len(given))

            def tell(what: str) -> None:
                bar.update(task, description=what, advance=1)

            _write(given, declared, folder, limits, tell)
        os.replace(folder / "store", target)
    except OSError:
        raise InvalidArgument(
            f"{target} cannot be written; is the folder yours, and is there space on the disk?"
        ) from None
    except duckdb.Error:
        raise InvalidArgument(
            f"{target.name} could not be prepared; is there enough memory, and space on the disk?"
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return DuckDB(target, memory=memory, threads=threads)


def _declared_tables(schemas: Iterable[Schema], sources: Mapping[str, object]) -> dict[str, Schema]:
    listed = [schemas] if isinstance(schemas, Schema) else list(schemas)
    found = {schema.name: schema.ready() for schema in listed}
    if len(found) < len(listed):
        raise InvalidArgument("two schemas have the same name; a table is declared once")
    if set(found) != set(sources):
        odd = ", ".join(sorted(set(found) ^ set(sources)))
        raise SchemaMismatch(f"each table needs a schema and a source; {odd} has only one of them")
    if not found:
        raise InvalidArgument(
            "there is no table to prepare; give at least one source and its schema"
        )
    return found


@contextmanager
def _open_servers(tables: Mapping[str, TableSource]) -> Iterator[dict[str, TableSource]]:
    """Open the servers among the sources, each once, and hold their data still: all tables of one are in one state."""
    found_at = {name: server_table(source) for name, source in tables.items()}
    named = {name: found for name, found in found_at.items() if found is not None}
    places: dict[str, dict[str, str]] = {}
    for name, (address, place) in named.items():
        if not place:
            raise InvalidArgument(
                f"name the table of {name} behind a #, as in postgresql://db/company#hr.staff"
            )
        places.setdefault(address, {})[name] = place
    with ExitStack() as held:
        stores = {
            address: held.enter_context(Postgres(address, tables=at))
            for address, at in places.items()
        }
        found = {
            name: stores[named[name][0]] if name in named else source
            for name, source in tables.items()
        }
        for store in {
            id(source): source for source in found.values() if isinstance(source, Postgres)
        }.values():
            held.enter_context(store.snapshot())
        yield found


def _add_words(source: TableSource, form: Mapping[str, object]) -> TableSource:
    """Add the words about text files to a source that is one and says none itself."""
    if not isinstance(source, str | Path | list | tuple) or server_table(source) is not None:
        return source
    if isinstance(source, str) and "#" in source:
        return source
    names = [path.name.lower().removesuffix(".gz") for path in paths_of(source)]
    return (
        Csv(source, **form) if all(n.endswith((".csv", ".tsv", ".txt")) for n in names) else source
    )  # type: ignore[arg-type]


def _folder_beside(target: Path) -> Path:
    """Make a private folder where the store will be, so that it can be put in place by one renaming.

    Refuses a place where something else lies than a store: a source that is named by mistake must not be lost.
    """
    if target.is_dir():
        raise InvalidArgument(f"{target} is a folder; give the path of a file")
    if target.exists() and not is_store(target):
        raise InvalidArgument(
            f"{target} is there, and is no prepared store; give another path, or remove it first"
        )
    try:
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError:
        raise InvalidArgument(
            f"{target} cannot be written; give a path in a folder that exists and is yours"
        ) from None


def _write(
    sources: Mapping[str, TableSource],
    schemas: Mapping[str, Schema],
    folder: Path,
    limits: StoreLimits,
    tell: Tell,
) -> None:
    place, workspace = folder / "store", folder / "scratch"
    workspace.mkdir()
    connection = open_session(str(place), limits)
    try:
        connection.execute("SET preserve_insertion_order = false")
        take = partial(_take, connection, workspace, tell)
        mark = Manifest({name: take(sources[name], schema) for name, schema in schemas.items()})
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '\\ids %'"
        ).fetchall():
            connection.execute(f"DROP TABLE {DUCKDB.quote(name)}")
        write_mark(connection, mark)
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
    place.chmod(0o600)


def _take(
    connection: duckdb.DuckDBPyConnection,
    workspace: Path,
    tell: Tell,
    given: TableSource,
    schema: Schema,
) -> PreparedTable:
    name = schema.name
    tell(f"checking {name}")
    server = isinstance(given, Postgres)
    source = ServerTable(given, workspace) if server else open_source(given, name, workspace)
    stamps = tuple(map(digest_source, _origins(given, source)))
    parts = list(parts_of(source, schema, connection))
    require_readable(schema, parts)
    tell(f"reading {name}")
    blindfold(
        connection, kept=False
    )  # what a file says of its least and greatest value leaves out NaN
    taken = take_in(
        connection,
        source,
        schema,
        parts,
        DUCKDB.quote(name),
        settled=partial(see_again, connection),
    )
    blindfold(connection, kept=False)
    tell(f"counting {name}")
    rows, nobody, columns = make_report(connection, schema, parts, taken.seen)
    bad = sum(file.bad for file in source.files) if isinstance(source, CsvFiles) else 0
    word = given.on_bad_record if isinstance(given, Csv) else "refuse"
    whole = word != "drop" and not isinstance(
        source, ServerTable | DatabaseTable
    )  # which may be views
    return PreparedTable(
        schema, taken.layout, stamps, TableReport(name, rows, nobody, bad, word, columns), whole
    )


def _origins(given: TableSource, source: OpenSource) -> Sequence[Path]:
    """List the files a source was read from, as the steward named them."""
    match source:
        case CsvFiles():
            return paths_of(given.path if isinstance(given, Csv) else given)
        case ParquetFiles(paths=paths):
            return paths
        case DatabaseTable(path=path):
            return (path,)
        case _:
            return ()
