"""PostgreSQL engine and its dialect."""
