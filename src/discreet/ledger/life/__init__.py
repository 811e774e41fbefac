"""Life of a ledger beside its charges: move, import, upgrade, repair."""
