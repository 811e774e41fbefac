"""Column types, and the readers of one stored value of each."""
