"""Searching for frequent words that nobody listed: stages, candidates, evidence."""
