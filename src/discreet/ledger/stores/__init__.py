"""Where a ledger is kept: SQLite, PostgreSQL, memory."""
