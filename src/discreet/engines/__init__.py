"""Engines that answer exactly: DuckDB, PostgreSQL, Spark, and rows in memory as the reference.

Start at `base`, then `memory`; `sql` turns a tally into one SQL text, in the dialect of each store.
Names are imported lazily, so that no driver is needed but the one that is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..intake.csv_file import Csv as Csv
    from .base import Engine as Engine
    from .duckdb.engine import DuckDB as DuckDB
    from .duckdb.prepare import prepare as prepare
    from .memory.engine import Memory as Memory
    from .postgres.engine import Postgres as Postgres
    from .spark.engine import Spark as Spark

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".intake.csv_file": "Csv",
            "base": "Engine",
            "duckdb.engine": "DuckDB",
            "duckdb.prepare": "prepare",
            "memory.engine": "Memory",
            "postgres.engine": "Postgres",
            "spark.engine": "Spark",
        },
    )
