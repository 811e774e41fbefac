"""Exact sums from a store: moments as totals of expressions, so that no row leaves it; else its rows."""
