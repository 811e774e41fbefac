"""Questions about private data: a small closed algebra, from SQL or from tables, with one meaning on every store.

Start at `tree` (what can be asked), `expression` and `kind` (what rows say), `tally` (what a store is asked).
"""
