"""Engines compute exact totals: on DuckDB, PostgreSQL and Spark, and on rows in memory.

An engine answers a tally: for each key, exact integer totals to which each person contributes at
most a declared amount. The engine in memory is the reference that all others must agree with.

Start at `base`, then `memory`; `sql` turns a tally into one SQL text, in the dialect of each store.
Names are imported lazily, so that no driver is needed but the one that is used.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
