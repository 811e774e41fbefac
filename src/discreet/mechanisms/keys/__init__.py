"""Which keys may be shown: thresholds, partition selection, stability."""
