"""The closed algebra: questions, relations, expressions, statistics, tallies."""
