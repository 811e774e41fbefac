"""DuckDB engine, its dialect, and its sources of tables."""
