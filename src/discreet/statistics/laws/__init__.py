"""How far noise moves what is worked out from noisy totals: tails of sums, searches, interval arithmetic."""
