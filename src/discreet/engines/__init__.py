"""Engines that answer exactly: DuckDB, PostgreSQL, Spark, and rows in memory as the reference.

Start at `base`, then `memory`; `sql` turns a tally into one SQL text, in the dialect of each store.
Names are imported lazily, so that no driver is needed but the one that is used.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
