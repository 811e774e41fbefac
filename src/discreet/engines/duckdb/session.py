"""A connection that can do no more than answer: no files, no network, no extensions, no settings, private scratch."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import duckdb

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ..sql.dialect import put_quotes
from ..sql.select import select_sql

DENSE_BITS = 20
"""Ids that are integers in a range of up to 2^20 are counted in an array of that length instead of a hash table."""
BLIND = (
    "row_group_pruner",
    "join_filter_pushdown",
    "filter_pushdown",
    "empty_result_pullup",
    "compressed_materialization",
)
"""What an optimizer does that looks at values, so that one row could decide whether a million others are read."""
STATISTICS = "statistics_propagation"
"""Simplifies what it can decide by the least and greatest values; kept tables hide theirs, but for people's numbers."""

_PROGRESS = ("SET enable_progress_bar = true", "SET enable_progress_bar_print = false")


@frozen
class StoreLimits:
    """How much a store may use: memory such as "2GB", threads; None leaves it to DuckDB."""

    memory: str | None = None
    threads: int | None = None


def read_limits(memory: object, threads: object) -> StoreLimits:
    """Check limits.

    >>> from discreet.engines.duckdb.session import read_limits
    >>> read_limits("2GB", 2)
    StoreLimits(memory='2GB', threads=2)
    """
    try:
        if memory is not None:
            duckdb.connect(config={"memory_limit": str(memory)}).close()
    except duckdb.Error:
        raise InvalidArgument(f"memory must be an amount such as '2GB', got {memory!r}") from None
    return StoreLimits(
        None if memory is None else str(memory),
        None if threads is None else whole(threads, "threads", least=1),
    )


def open_workspace(owner: object) -> Path:
    """Make a folder that only this user can read; it goes when its owner does."""
    place = tempfile.mkdtemp(prefix="discreet-")  # 0700
    weakref.finalize(owner, shutil.rmtree, place, ignore_errors=True)
    return Path(place)


@cache
def _scratch(process: int) -> str:
    """Make the private folder of one process in which queries that need more than memory write; it goes at the end."""
    place = tempfile.mkdtemp(prefix=f"discreet-{process}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def open_session(
    database: str, limits: StoreLimits, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Connect with settings that do not depend on where the process runs, and are the same for all its connections:
    DuckDB opens a file once in a process.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": False,
        "perfect_ht_threshold": DENSE_BITS,
        "temp_directory": _scratch(os.getpid()),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "default_collation": "",
        "enable_external_access": not read_only,
    }
    if limits.memory is not None:
        config["memory_limit"] = limits.memory
    if limits.threads is not None:
        config["threads"] = limits.threads
    return duckdb.connect(database, read_only=read_only, config=config)


def _blind(*, kept: bool) -> str:
    return f"SET disabled_optimizers = '{','.join(BLIND if kept else (*BLIND, STATISTICS))}'"


def blindfold(connection: duckdb.DuckDBPyConnection, *, kept: bool) -> None:
    """Let the optimizer look at no values; `kept`: all tables are kept ones."""
    connection.execute(_blind(kept=kept))


def see_again(connection: duckdb.DuckDBPyConnection) -> None:
    """Let the optimizer look at values again: those of our own tables, which are as they say."""
    connection.execute("SET disabled_optimizers = ''")


def close_doors(
    connection: duckdb.DuckDBPyConnection,
    files: Iterable[Path | str] | None,
    *,
    kept: bool,
    progress: bool,
) -> None:
    """Let a connection read these files and no others, and change no setting from now on.

    None: it reads a database file alone, which may be open in this process already, with its doors closed.
    """
    settings = [_blind(kept=kept), *(_PROGRESS if progress else ())]
    if files is not None:
        listed = ", ".join(put_quotes(str(file), "'") for file in files)
        settings += [f"SET allowed_paths = [{listed}]", "SET enable_external_access = false"]
    elif connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
        return
    connection.execute("; ".join([*settings, "SET lock_configuration = true"]))


def show_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB count how far a query is, without printing it."""
    connection.execute("; ".join(_PROGRESS))


def require_own_functions(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Refuse functions of others that are called like DuckDB's own: they would be called in their place."""
    listed = "system.main.duckdb_functions()"
    named = [
        select_sql(["function_name"], listed, f"WHERE {test}")
        for test in ("NOT internal", "internal")
    ]
    found = sorted(row[0] for row in connection.execute(" INTERSECT ".join(named)).fetchall())
    if found:
        raise InvalidArgument(
            f"{name} has functions of its own that are called like DuckDB's ({', '.join(found)}) and would take their "
            'place; drop them, or name the tables: DuckDB({"people": "company.duckdb"})'
        )
