"""Data sources of commands: a CSV, Parquet or DuckDB file, or a URL of PostgreSQL or Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

# The package imports the driver of a store only when its engine is used.
from .. import engines
from ..connection import is_server, masked, server_table
from ..data.schema import Schema
from ..engines.spark.session import is_address, open_session
from ..errors import InvalidArgument

if TYPE_CHECKING:
    from ..engines.duckdb.engine import DuckDB
    from ..engines.postgres.engine import Postgres
    from ..engines.spark.engine import Spark

_DATABASES = (".duckdb", ".ddb", ".db", ".store")


def open_source(
    source: str,
    schemas: Sequence[Schema],
    tables: Mapping[str, str] | None = None,
    *,
    progress: bool = False,
) -> DuckDB | Postgres | Spark:
    """Open the store of a source.

    `tables` maps names of further tables to files, or to tables of Spark.

    Refuses: standard input, further tables beside a database, a missing file, and a file whose
    table does not follow from its name and the schemas, by `InvalidArgument`.
    """
    if source == "-":
        raise InvalidArgument(
            "the data cannot come from standard input: it is read more than once; "
            "give a file or an address"
        )
    if is_address(source):
        return engines.Spark(open_session(source), tables or {}, progress=progress)
    server = server_table(source)
    if server is not None:
        if tables:
            raise InvalidArgument("--table names files; a PostgreSQL address has its own tables")
        address, remote_table = server
        return _open_server(address, remote_table, schemas, progress=progress)
    files = {name: _existing(path) for name, path in (tables or {}).items()}
    if Path(source).suffix.lower() in _DATABASES:
        if tables:
            raise InvalidArgument("--table names files; a DuckDB file has its own tables")
        return engines.DuckDB(_existing(source), progress=progress)
    name = table_of(source, schemas)
    if name in files:
        raise InvalidArgument(
            f"--table {name} names the table of {source} again; name each table once"
        )
    return engines.DuckDB({name: _existing(source), **files}, progress=progress)


def _open_server(
    address: str, remote_table: str, schemas: Sequence[Schema], *, progress: bool
) -> Postgres:
    """Open a server; `remote_table` is the table named behind a #, "" if there is none."""
    tables = {}
    if remote_table:
        # Without the schema of the server: people of public.people.
        name = remote_table.rpartition(".")[2]
        tables[table_of(name, schemas)] = remote_table
    return engines.Postgres(address, tables=tables, progress=progress)


def _existing(path: str) -> str:
    """Return a path; refuse one that is no file."""
    if is_server(path) or not Path(path).is_file():
        raise InvalidArgument(
            f"{masked(path)} is no file; "
            "give the path of a CSV, Parquet or DuckDB file that is there"
        )
    return path


def table_of(source: str, schemas: Sequence[Schema]) -> str:
    """Return the declared table of a file: the one named like the file, else the only private one.

    >>> import discreet as dp
    >>> from discreet.cli.source import table_of
    >>> votes = dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})
    >>> table_of("data/votes.csv", [votes]), table_of("march.csv.gz", [votes])
    ('votes', 'votes')

    Refuses: a file that could be several tables, by `InvalidArgument`.
    """
    stem = Path(source).name.split(".")[0]
    names = [schema.name for schema in schemas]
    if stem in names:
        return stem
    private = [schema.name for schema in schemas if not schema.public]
    if len(private) != 1:
        raise InvalidArgument(
            f"{source} is named like no table of the schema; "
            f"the tables are {', '.join(names)}: rename the file"
        )
    return private[0]
