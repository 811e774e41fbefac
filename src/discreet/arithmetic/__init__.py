"""Exact arithmetic: rational numbers, outward rounding, root finding and power series."""
