"""Lexical part of the SQL reader: one statement, translation of dialects, and quotes."""
