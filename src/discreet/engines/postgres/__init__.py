"""PostgreSQL: the engine and its dialect."""
