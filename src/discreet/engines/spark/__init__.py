"""Spark SQL: the engine and its dialect."""
