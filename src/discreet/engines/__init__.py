"""Stores that answer exactly: DuckDB, PostgreSQL, Spark, and rows in memory as the reference.

Start at `base`, then `memory`; `sql` turns a tally into one SQL text, in the dialect of each store. Names are imported
when they are touched, so that no driver is needed but the one that is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..intake.csv_file import Csv as Csv
    from .base import Engine as Engine
    from .duckdb.engine import DuckDB as DuckDB
    from .duckdb.prepare import prepare as prepare
    from .memory.engine import Memory as Memory
    from .postgres.engine import Postgres as Postgres
    from .spark.engine import Spark as Spark

__all__ = ["Csv", "DuckDB", "Engine", "Memory", "Postgres", "Spark", "prepare"]

_HOMES = {
    "Csv": ".intake.csv_file",
    "DuckDB": "duckdb.engine",
    "Engine": "base",
    "Memory": "memory.engine",
    "Postgres": "postgres.engine",
    "Spark": "spark.engine",
    "prepare": "duckdb.prepare",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
