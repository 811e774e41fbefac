"""Delimiters that a text file may have between its fields; the header line decides which."""

DELIMITERS = ",;\t|"
