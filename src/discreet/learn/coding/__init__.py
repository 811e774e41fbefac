"""Coding of rows as integers: the columns that a model sees, from public facts alone."""
