"""Looking back: history, export, verification."""
