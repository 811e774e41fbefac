"""The command line's `prepare`: read sources once, strictly, into a store; or tell whether a store is stale."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, cast

import typer

from ... import engines  # DuckDB is imported when it is touched
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
    on_bad_record: Annotated[
        str, typer.Option(help="refuse, drop or null: what becomes of a bad record.")
    ] = "refuse",
    delimiter: Annotated[
        str | None, typer.Option(help="What separates the fields of text files.")
    ] = None,
    quote: Annotated[str, typer.Option(help="The quote of text files.")] = '"',
    encoding: Annotated[str, typer.Option(help="The encoding of text files.")] = "utf-8",
    memory: Annotated[str | None, typer.Option(help="The most memory to use, such as 2GB.")] = None,
) -> None:
    """Read files once, strictly, into a store that opens at once; report what became of their cells.

    The report is the steward's: it comes from the data.

    Example: discreet prepare people.csv --schema people.toml --out people.store
    """
    with refusals():
        if check:
            raise typer.Exit(_check(sources))
        if not schema or not out:
            raise InvalidArgument(
                "say --schema SCHEMA.toml and --out STORE; or --check with stores alone"
            )
        schemas = read_schemas(schema)
        tables = _tables(sources, schemas, table or [])
        if server := server_table(out):
            _on_server(tables, schemas, *server)
            return
        store = engines.prepare(
            tables,
            [each for each in schemas if each.name in tables],
            out,
            delimiter=delimiter,
            quote=quote,
            encoding=encoding,
            on_bad_record=cast("BadRecord", on_bad_record),
            memory=memory,
            progress=sys.stderr.isatty(),
        )
        with store:
            typer.echo(str(store.report))
        typer.echo(f"{out}: ready")


def _tables(
    sources: Sequence[str], schemas: Sequence[Schema], more: Sequence[str]
) -> dict[str, list[str] | str]:
    """Find the table of each file: the files without a name are all of one table."""
    server = server_table(sources[0])
    first = sources[0].partition("#")[0] if server is None else server[1].rpartition(".")[2]
    tables: dict[str, list[str] | str] = {
        table_of(first, schemas): sources[0] if len(sources) == 1 else list(sources)
    }
    for word in more:
        name, _, path = word.partition("=")
        if not path or name in tables:
            raise InvalidArgument(
                f"--table {masked(word)} names no further table; write NAME=FILE, each name once"
            )
        tables[name] = path
    return tables


def _on_server(
    tables: Mapping[str, list[str] | str], schemas: Sequence[Schema], address: str, home: str
) -> None:
    """Prepare tables of a server inside it."""
    if not home:
        raise InvalidArgument(
            "name the schema of the server behind a #, as in postgresql://db/company#ready"
        )
    found = {name: server_table(source) or ("", "") for name, source in tables.items()}
    elsewhere = [name for name, (server, _) in found.items() if server != address]
    if elsewhere:
        raise InvalidArgument(
            f"{', '.join(elsewhere)}: a server prepares its own tables; give the same address for both, or --out FILE"
        )
    with engines.Postgres(
        address, tables={name: place for name, (_, place) in found.items()}
    ) as store:
        store.prepare([each for each in schemas if each.name in tables], home).close()
    typer.echo(f"{home}: ready")


def _check(stores: Sequence[str]) -> int:
    """Tell of each store whether it is stale; return 1 if any is."""
    stale: Mapping[str, list[str]] = {place: _stale(place) for place in stores}
    for place, changed in stale.items():
        typer.echo(
            f"{place}: {'stale: ' + ', '.join(changed) if changed else 'as its sources are'}"
        )
    return 1 if any(stale.values()) else 0


def _stale(place: str) -> list[str]:
    with engines.DuckDB(place) as store:
        return [source for table in store.report.tables for source in table.stale]
