"""Exact numbers: rationals from what people write, outward rounding, roots and series."""
