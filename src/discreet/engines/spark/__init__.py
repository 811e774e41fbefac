"""Spark engine and its dialect."""
