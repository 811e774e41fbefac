"""Bounds on what one unit can change: rows, keys, totals, and the sensitivity of each."""
