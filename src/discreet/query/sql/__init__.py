"""From SQL to a question, by an allow-list over the parsed text."""
