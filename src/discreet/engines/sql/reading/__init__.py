"""Reading of stored values, as SQL that cannot fail."""
