"""Questions written in Python: tables, columns, aggregates."""
