"""A connection that can do no more than answer: no files, no network, no extensions, no settings, private scratch."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ..sql.dialect import doubled

__all__ = ["Limits", "close_doors", "open_session", "open_workspace", "read_limits"]

DENSE_BITS = 20
"""Ids that are integers in a range of up to 2^20 are counted in an array of that length instead of a hash table."""
BLIND = (
    "statistics_propagation",
    "row_group_pruner",
    "join_filter_pushdown",
    "filter_pushdown",
    "empty_result_pullup",
    "compressed_materialization",
)
"""What an optimizer does that looks at values, so that one row could decide whether a million others are read."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a store may use: memory such as "2GB", threads; None leaves it to DuckDB."""

    memory: str | None = None
    threads: int | None = None


def read_limits(memory: object, threads: object) -> Limits:
    """Check limits.

    >>> from discreet.engines.duckdb.session import read_limits
    >>> read_limits("2GB", 2)
    Limits(memory='2GB', threads=2)
    """
    try:
        if memory is not None:
            duckdb.connect(config={"memory_limit": str(memory)}).close()
    except duckdb.Error:
        raise InvalidArgument(f"memory must be an amount such as '2GB', got {memory!r}") from None
    return Limits(
        None if memory is None else str(memory), None if threads is None else whole(threads, "threads", least=1)
    )


def open_workspace(owner: object) -> Path:
    """Make a folder that only this user can read; it goes when its owner does."""
    place = tempfile.mkdtemp(prefix="discreet-")  # 0700
    weakref.finalize(owner, shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def open_session(
    database: str, workspace: Path, limits: Limits, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Connect with settings that do not depend on where the process runs."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": False,
        "perfect_ht_threshold": DENSE_BITS,
        "temp_directory": str(workspace / "scratch"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "default_collation": "",
    }
    if limits.memory is not None:
        config["memory_limit"] = limits.memory
    if limits.threads is not None:
        config["threads"] = limits.threads
    return duckdb.connect(database, read_only=read_only, config=config)


def close_doors(connection: duckdb.DuckDBPyConnection, files: Iterable[Path | str] = ()) -> None:
    """Let a connection read these files and no others, look at no statistics, and change no setting from now on."""
    listed = ", ".join(doubled(str(file), "'") for file in files)
    connection.execute(f"SET disabled_optimizers = '{','.join(BLIND)}'")
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
