"""`discreet prepare`: read sources once, strictly, into a store; or check if a store is stale."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

# The package imports DuckDB only when it is used.
from ... import engines
from ...connection import masked, server_table
from ...data.files.schema_file import read_schemas
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...intake.csv_file import BadRecord
from ..flags import SchemaFlag, TableFlag
from ..refusal import refusals
from ..source import table_of


def prepare(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="CSV or Parquet files of one table, FILE.duckdb#TABLE, or postgresql://…#TABLE."
        ),
    ],
    *,
    schema: SchemaFlag = "",
    out: Annotated[
        str,
        typer.Option(
            help="The store to write, or postgresql://…#SCHEMA for tables on the sources' own server."
        ),
    ] = "",
    table: TableFlag = None,
    check: Annotated[
        bool, typer.Option("--check", help="Tell whether a store's sources have changed since.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Report what would be read, and write nothing."),
    ] = False,
    on_bad_record: Annotated[
        str, typer.Option(help="refuse, drop or null: what becomes of a bad record.")
    ] = "refuse",
    delimiter: Annotated[
        str | None, typer.Option(help="What separates the fields of text files.")
    ] = None,
    quote: Annotated[str, typer.Option(help="The quote of text files.")] = '"',
    encoding: Annotated[str, typer.Option(help="The encoding of text files.")] = "utf-8",
    memory: Annotated[str | None, typer.Option(help="The most memory to use, such as 2GB.")] = None,
    forgotten: Annotated[
        str | None, typer.Option(help="A list of `discreet forget`: these people are left out.")
    ] = None,
) -> None:
    """Read files once, strictly, into a store that opens at once; report what became of their cells.

    The report is the steward's: it comes from the data.

    Example: discreet prepare people.csv --schema people.toml --out people.store
    """
    with refusals():
        if check:
            raise typer.Exit(_check(sources))
        if not schema or not (out or dry_run):
            raise InvalidArgument(
                "say --schema SCHEMA.toml and --out STORE, or --dry-run; or --check with stores alone"
            )
        schemas = read_schemas(schema)
        tables = _tables(sources, schemas, table or [])
        server = server_table(out)
        if server is not None and not dry_run:
            if forgotten is not None:
                raise InvalidArgument(
                    "--forgotten is for stores in files; on a server delete the rows before it prepares"
                )
            address, server_schema = server
            _prepare_on_server(tables, schemas, address, server_schema)
            return
        options = {
            "delimiter": delimiter,
            "quote": quote,
            "encoding": encoding,
            "on_bad_record": cast("BadRecord", on_bad_record),
            "memory": memory,
            "progress": sys.stderr.isatty(),
            "forgotten": forgotten,
        }
        declared = [one for one in schemas if one.name in tables]
        if dry_run:
            # Read as it would be, into a folder that is removed: the report is the same.
            with tempfile.TemporaryDirectory() as folder:
                _prepare(tables, declared, Path(folder) / "store", options)
            typer.echo("nothing was written")
            return
        _tell_replaced(out)
        _prepare(tables, declared, out, options)
        typer.echo(f"{out}: ready")


def _prepare(
    tables: Mapping[str, list[str] | str],
    schemas: Sequence[Schema],
    out: str | Path,
    options: Mapping[str, Any],
) -> None:
    """Read sources into a store at `out`, and print the report."""
    with engines.prepare(tables, schemas, out, **options) as store:
        typer.echo(str(store.report))


def _tell_replaced(out: str) -> None:
    """Print the tables of the store at `out` that is about to be replaced, if there is one."""
    if not Path(out).is_file():
        return
    try:
        with engines.DuckDB(out) as store:
            tables = [f"{table.name} ({table.rows:,} rows)" for table in store.report.tables]
    except InvalidArgument:
        # Another version's store, or one that is open elsewhere.
        tables = []
    if tables:
        typer.echo(f"{out} is there: {', '.join(tables)}; it is replaced when all is read")


def _tables(
    sources: Sequence[str], schemas: Sequence[Schema], more: Sequence[str]
) -> dict[str, list[str] | str]:
    """Map each table to its sources: the files without a name are all of one table."""
    server = server_table(sources[0])
    if server is None:
        file_name = sources[0].partition("#")[0]
    else:
        file_name = server[1].rpartition(".")[2]
    first_table = table_of(file_name, schemas)
    tables: dict[str, list[str] | str] = {first_table: list(sources)}
    if len(sources) == 1:
        tables[first_table] = sources[0]
    for option in more:
        name, _, path = option.partition("=")
        if not path or name in tables:
            # The value may be a URL with a password, which is not shown.
            raise InvalidArgument(
                f"--table {masked(option)} names no further table; write NAME=FILE, each name once"
            )
        tables[name] = path
    return tables


def _prepare_on_server(
    tables: Mapping[str, list[str] | str],
    schemas: Sequence[Schema],
    address: str,
    server_schema: str,
) -> None:
    """Prepare tables of a server inside it."""
    if not server_schema:
        raise InvalidArgument(
            "name the schema of the server behind a #, as in postgresql://db/company#ready"
        )
    locations = {}
    elsewhere = []
    for name, source in tables.items():
        server, location = server_table(source) or ("", "")
        locations[name] = location
        if server != address:
            elsewhere.append(name)
    if elsewhere:
        raise InvalidArgument(
            f"{', '.join(elsewhere)}: a server prepares its own tables; "
            "give the same address for both, or --out FILE"
        )
    declared = [schema for schema in schemas if schema.name in tables]
    with engines.Postgres(address, tables=locations) as store:
        store.prepare(declared, server_schema).close()
    typer.echo(f"{server_schema}: ready")


def _check(stores: Sequence[str]) -> int:
    """Print whether each store is stale; return 1 if any is."""
    # All are read before anything is printed: a store that cannot be opened is refused first.
    changed_sources = {path: _changed_sources(path) for path in stores}
    for path, changed in changed_sources.items():
        state = "as its sources are"
        if changed:
            state = "stale: " + ", ".join(changed)
        typer.echo(f"{path}: {state}")
    return int(any(changed_sources.values()))


def _changed_sources(path: str) -> list[str]:
    """Return the sources of a store that have changed since it was prepared."""
    changed: list[str] = []
    with engines.DuckDB(path) as store:
        for table in store.report.tables:
            changed.extend(table.stale)
    return changed
