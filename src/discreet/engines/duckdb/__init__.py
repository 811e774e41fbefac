"""DuckDB: the engine, its dialect, and where it finds tables."""
