"""Closed algebra of questions: relations, expressions, statistics and tallies."""
