"""Ingest of data into a prepared store: sources are read once, strictly, into one DuckDB file.

Either the whole store is written and put at its path, or nothing changes there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.progress import Progress

from ...connection import require_path, server_table
from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.csv_file import BadRecord, Csv
from ...intake.forgotten import Forgotten, read_forgotten
from ...intake.source_digest import digest_source
from ..base import schemas_in
from ..postgres.engine import Postgres
from ..sql.store import require_readable
from .catalog import require_sure, take_in
from .dialect import DUCKDB
from .engine import DuckDB
from .findings import count_over_rows, make_report
from .manifest import Manifest, PreparedTable, is_store, write_mark
from .parts import open_parts
from .session import StoreLimits, ignore_values, open_session, read_limits, use_values
from .sources import (
    TEXT_SUFFIXES,
    CsvFiles,
    DatabaseTable,
    OpenSource,
    ParquetFiles,
    ServerTable,
    TableSource,
    all_end_in,
    open_source,
    paths_of,
)

Tell = Callable[[str], None]
_STEPS = 3
"""Steps of each table that progress shows: checking, reading, counting."""


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
    forgotten: str | Path | None = None,
) -> DuckDB:
    r"""Read tables once, as their schemas declare, into a store that opens at once.

    Sources are files, frames, tables of a DuckDB file ("company.duckdb#sales.people") or of
    PostgreSQL, given by a `Postgres` or as "postgresql://db/company#hr.staff". Every cell is read
    by its column's declaration and by no other cell; people's ids become numbers. `delimiter` to
    `on_bad_record` apply to every text file but those in a `Csv(…)`, which states its own. The
    store is written beside `out` and replaces it when it is complete. `forgotten` is a list that
    `discreet forget` made: the rows of these people are left out. Then `dp.DuckDB(out)` opens the
    store, and `report` tells the steward how the cells were read.

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

    Refuses: a source without a schema and a schema without a source, two schemas of one name,
    columns that are not there, records that break the grammar (unless `on_bad_record` says
    otherwise), a path that cannot be written or holds anything but a prepared store, a disk that is
    full.

    Law: tests/intake/test_prepare.py::TestNothingHalfWritten
    """
    tables = dict(sources)
    declared = _declared_tables(schemas, sources)
    text_options = {
        "delimiter": delimiter,
        "quote": quote,
        "encoding": encoding,
        "on_bad_record": on_bad_record,
    }
    require_path(out)
    limits = read_limits(memory, threads)
    target = Path(out)
    left_out = None if forgotten is None else read_forgotten(forgotten)
    given = {name: _add_options(source, text_options) for name, source in tables.items()}
    folder = _folder_beside(target)
    try:
        with (
            _open_servers(given) as opened,
            Progress(console=Console(stderr=True), transient=True, disable=not progress) as bar,
        ):
            task = bar.add_task("reading", total=_STEPS * len(opened))

            def tell(step: str) -> None:
                bar.update(task, description=step, advance=1)

            _write_store(opened, declared, folder, limits, tell, forgotten=left_out)
        # One renaming: readers see the old store or the new one, never a part of it.
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
    """Return the schemas by name, in the form that answers questions (`Schema.ready`).

    Refuses: two schemas of one name, and tables without a schema or without a source.
    """
    listed = schemas_in(schemas)
    declared = {schema.name: schema.ready() for schema in listed}
    if len(declared) < len(listed):
        raise InvalidArgument("two schemas have the same name; a table is declared once")
    unmatched = set(declared) ^ set(sources)
    if unmatched:
        names = ", ".join(sorted(unmatched))
        raise SchemaMismatch(
            f"each table needs a schema and a source; {names} has only one of them"
        )
    if not declared:
        raise InvalidArgument(
            "there is no table to prepare; give at least one source and its schema"
        )
    return declared


@contextmanager
def _open_servers(tables: Mapping[str, TableSource]) -> Iterator[dict[str, TableSource]]:
    """Open each server among the sources once, in one snapshot for all of its tables."""
    addresses: dict[str, str] = {}
    stored_names: dict[str, dict[str, str]] = {}
    for name, source in tables.items():
        server = server_table(source)
        if server is None:
            continue
        address, stored_name = server
        if not stored_name:
            raise InvalidArgument(
                f"name the table of {name} behind a #, as in postgresql://db/company#hr.staff"
            )
        addresses[name] = address
        stored_names.setdefault(address, {})[name] = stored_name
    with ExitStack() as opened:
        servers = {}
        for address, named in stored_names.items():
            servers[address] = opened.enter_context(Postgres(address, tables=named))
        sources = dict(tables)
        for name, address in addresses.items():
            sources[name] = servers[address]
        for store in _distinct_servers(sources.values()):
            opened.enter_context(store.snapshot())
        yield sources


def _distinct_servers(sources: Iterable[TableSource]) -> Iterable[Postgres]:
    """List each server once, by identity: one may hold several tables."""
    servers = {}
    for source in sources:
        if isinstance(source, Postgres):
            servers[id(source)] = source
    return servers.values()


def _add_options(source: TableSource, options: Mapping[str, Any]) -> TableSource:
    """Add the options for text files to a source that is one and gives none itself."""
    if not isinstance(source, str | Path | list | tuple) or server_table(source) is not None:
        return source
    if isinstance(source, str) and "#" in source:
        return source
    names = [path.name.lower().removesuffix(".gz") for path in paths_of(source)]
    if all_end_in(names, TEXT_SUFFIXES):
        return Csv(source, **options)
    return source


def _folder_beside(target: Path) -> Path:
    """Make a private folder beside the store's path, so that one renaming puts it in place.

    Refuses: a path with something else than a store. A source that is named by mistake must not be
    lost.
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


def _write_store(
    sources: Mapping[str, TableSource],
    schemas: Mapping[str, Schema],
    folder: Path,
    limits: StoreLimits,
    tell: Tell,
    *,
    forgotten: Forgotten | None,
) -> None:
    """Write all tables and the manifest into the DuckDB file `folder`/store.

    `tell` is called with the name of each step, for the progress bar.
    """
    path = folder / "store"
    workspace = folder / "scratch"
    workspace.mkdir()
    connection = open_session(str(path), limits)
    try:
        # No total depends on the order of rows, and keeping it costs memory.
        connection.execute("SET preserve_insertion_order = false")
        tables = {}
        for name, schema in schemas.items():
            tables[name] = _ingest(
                connection, workspace, tell, sources[name], schema, forgotten=forgotten
            )
        _drop_ids(connection)
        # Last of all: a file without it is no store, whatever stopped the writing before.
        write_mark(connection, Manifest(tables))
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
    # Only the owner may read the store: it holds private rows.
    path.chmod(0o600)


def _drop_ids(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the tables that map ids to numbers: a store does not hold people's ids."""
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '\\ids %'"
    )
    for (name,) in tables.fetchall():
        connection.execute(f"DROP TABLE {DUCKDB.quote(name)}")


def _ingest(
    connection: duckdb.DuckDBPyConnection,
    workspace: Path,
    tell: Tell,
    given: TableSource,
    schema: Schema,
    *,
    forgotten: Forgotten | None,
) -> PreparedTable:
    """Read one source into the store by its schema; return its layout, digests and report.

    `tell` is called at each of the three steps: checking, reading and counting.
    """
    name = schema.name
    tell(f"checking {name}")
    source = _open_table(given, name, workspace)
    # Digests are taken before reading: a file that changes meanwhile then counts as changed.
    stamps = tuple(map(digest_source, _origins(given, source)))
    with open_parts(source, schema, connection) as parts:
        if isinstance(source, DatabaseTable):
            require_sure(source, schema, connection)
        require_readable(schema, parts)
        tell(f"reading {name}")
        # The least and greatest value that a file states leave out NaN, so they must not be used.
        ignore_values(connection)
        taken = take_in(
            connection,
            source,
            schema,
            parts,
            DUCKDB.quote(name),
            settled=partial(use_values, connection),
            forgotten=forgotten,
        )
        ignore_values(connection)
        tell(f"counting {name}")
        bad = source.bad if isinstance(source, CsvFiles) else 0
        action = given.on_bad_record if isinstance(given, Csv) else "refuse"
        over_rows = count_over_rows(connection, schema, DUCKDB.quote(name))
        seen = (*taken.seen, over_rows)
        report = make_report(connection, schema, parts, seen, (bad, action))
    # Tables of databases may be views, which leave out rows by their content.
    may_be_view = isinstance(source, ServerTable | DatabaseTable)
    return PreparedTable(
        schema,
        taken.layout,
        stamps,
        report=report,
        whole=action != "drop" and not may_be_view and forgotten is None,
    )


def _open_table(given: TableSource, name: str, workspace: Path) -> OpenSource:
    if isinstance(given, Postgres):
        return ServerTable(given, workspace)
    return open_source(given, name, workspace)


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
