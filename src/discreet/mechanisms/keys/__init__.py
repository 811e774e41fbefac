"""Partition selection: which unknown keys may be shown. Thresholds, optimal rule, stability."""
