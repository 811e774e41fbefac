"""Joins, sub-queries and conditions on the person."""
