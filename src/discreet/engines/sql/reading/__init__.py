"""How a stored value is read, as SQL that cannot fail."""
