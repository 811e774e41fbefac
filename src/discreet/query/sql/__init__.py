"""SQL reader: an allow-list over the parsed text, from SQL to a question."""
