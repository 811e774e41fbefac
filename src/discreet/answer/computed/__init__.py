"""Columns that are computed from noisy ones: where the exact ones lie."""
