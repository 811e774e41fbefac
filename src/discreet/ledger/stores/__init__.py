"""Stores of a ledger: SQLite file, PostgreSQL, memory."""
