"""Drafting of a schema from a file, a data frame or rows."""
