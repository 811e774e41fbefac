"""The text of a question: one statement, other dialects' spelling, and the user's own words."""
