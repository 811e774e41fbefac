"""Dates, times and intervals of SQL."""
