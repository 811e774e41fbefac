"""A ledger beside its charges: another place, another release, a clock that was wrong, entries that were lost."""
