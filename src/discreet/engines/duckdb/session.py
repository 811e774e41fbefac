"""Sandbox for DuckDB connections: they answer queries, and can do no more.

A locked session reads its own tables and the files that were listed, and no others. It uses no
network, loads no extensions, changes no settings, and writes temporary files to a private folder
only. A connection that the caller opened is not locked.
"""

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
"""Integer ids in a range of up to 2^20 are counted in an array of that length, not a hash table."""
VALUE_OPTIMIZERS = (
    "row_group_pruner",
    "join_filter_pushdown",
    "filter_pushdown",
    "empty_result_pullup",
    "compressed_materialization",
    "statistics_propagation",
)
"""Optimizer passes that look at values: one row could decide whether a million others are read.

The last simplifies expressions by the least and greatest value: a column with one value becomes a
constant, and a sum whose range is small is added up in fewer bits."""

_PROGRESS = ("SET enable_progress_bar = true", "SET enable_progress_bar_print = false")


@frozen
class StoreLimits:
    """Limits of a store: memory such as "2GB", and threads; None leaves them to DuckDB."""

    memory: str | None = None
    threads: int | None = None


def read_limits(memory: object, threads: object) -> StoreLimits:
    """Check limits.

    >>> from discreet.engines.duckdb.session import read_limits
    >>> read_limits("2GB", 2)
    StoreLimits(memory='2GB', threads=2)
    """
    max_memory = None
    if memory is not None:
        _check_memory(memory)
        max_memory = str(memory)
    max_threads = None
    if threads is not None:
        max_threads = whole(threads, "threads", least=1)
    return StoreLimits(max_memory, max_threads)


def _check_memory(memory: object) -> None:
    """Refuse an amount of memory that DuckDB does not understand."""
    try:
        duckdb.connect(config={"memory_limit": str(memory)}).close()
    except duckdb.Error:
        raise InvalidArgument(f"memory must be an amount such as '2GB', got {memory!r}") from None


def open_workspace(owner: object) -> Path:
    """Make a folder that only this user can read; it is removed when `owner` is freed."""
    # mkdtemp gives the folder mode 0700.
    folder = tempfile.mkdtemp(prefix="discreet-")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def _scratch_folder(process: int) -> str:
    """Make the private folder of one process for queries that need more than memory.

    It is removed when the process ends.
    """
    folder = tempfile.mkdtemp(prefix=f"discreet-{process}-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def open_session(
    database: str, limits: StoreLimits, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Connect to a database file or ":memory:", with settings that no environment changes.

    They differ only by `limits` and `read_only`. DuckDB opens a file once in a process, and refuses
    a second connection to it with other settings.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": False,
        "perfect_ht_threshold": DENSE_BITS,
        "temp_directory": _scratch_folder(os.getpid()),
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


def why_unopened(file_name: str, problem: duckdb.Error) -> str:
    """Say why DuckDB could not open a file: it is missing, open elsewhere, or not a DuckDB file.

    DuckDB raises these errors before it reads a row, so they cannot show one.
    """
    said = str(problem)
    if "does not exist" in said:
        return f"{file_name} is not there; give the path of a DuckDB file"
    if "lock on file" in said:
        return (
            f"{file_name} is open elsewhere, in a program that writes to it; close it there, or "
            "give a copy of the file"
        )
    if "different configuration" in said or "already attached" in said:
        return (
            f"{file_name} is open elsewhere in this program, with other settings; close that connection, or pass it: "
            "DuckDB(connection)"
        )
    return f"{file_name} cannot be opened as a DuckDB file"


_IGNORE_VALUES = f"SET disabled_optimizers = '{','.join(VALUE_OPTIMIZERS)}'"


def ignore_values(connection: duckdb.DuckDBPyConnection) -> None:
    """Disable the optimizer passes that look at values.

    Guarantee: no stored value changes the plan of a query.

    Law: tests/engines/test_plans.py::test_one_extreme_cell_changes_no_plan
    """
    connection.execute(_IGNORE_VALUES)


def use_values(connection: duckdb.DuckDBPyConnection) -> None:
    """Enable all optimizer passes, for our own tables, whose statistics are right."""
    connection.execute("SET disabled_optimizers = ''")


def lock_session(
    connection: duckdb.DuckDBPyConnection,
    files: Iterable[Path | str] | None,
    *,
    progress: bool,
) -> None:
    """Let a connection read these files and no others, and change no setting from now on.

    `files` is None for a database file that was opened for reading only. Another session of this
    process may have opened and locked it before; then there is nothing left to do.

    Law: tests/intake/test_prepare.py::TestDoors
    """
    settings = [_IGNORE_VALUES]
    if progress:
        settings += _PROGRESS
    if files is not None:
        listed = ", ".join(put_quotes(str(file), "'") for file in files)
        settings.append(f"SET allowed_paths = [{listed}]")
        settings.append("SET enable_external_access = false")
    elif _is_locked(connection):
        return
    # Locked last: no setting can be changed after it.
    settings.append("SET lock_configuration = true")
    connection.execute("; ".join(settings))


def _is_locked(connection: duckdb.DuckDBPyConnection) -> bool:
    setting = connection.execute("SELECT current_setting('lock_configuration')")
    ((locked,),) = setting.fetchall()
    return bool(locked)


def show_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB measure the progress of a query, without printing it."""
    connection.execute("; ".join(_PROGRESS))


def require_own_functions(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Refuse functions of others with names of DuckDB's own: they would be called instead."""
    functions = "system.main.duckdb_functions()"
    foreign = select_sql(["function_name"], functions, "WHERE NOT internal")
    internal = select_sql(["function_name"], functions, "WHERE internal")
    rows = connection.execute(f"{foreign} INTERSECT {internal}").fetchall()
    replaced = sorted(row[0] for row in rows)
    if replaced:
        raise InvalidArgument(
            f"{name} has functions of its own that are called like DuckDB's ({', '.join(replaced)}) and would "
            'take their place; drop them, or name the tables: DuckDB({"people": "company.duckdb"})'
        )
