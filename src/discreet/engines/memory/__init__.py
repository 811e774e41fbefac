"""Reference engine: rows in memory, totals by the definition."""
