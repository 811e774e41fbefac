"""Rows as whole numbers: which columns a model sees, from public facts alone, and how a cell becomes one of them."""
