"""Joins, sub-queries and conditions that speak of the person."""
