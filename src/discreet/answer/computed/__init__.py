"""Confidence intervals of columns that are computed from noisy ones."""
