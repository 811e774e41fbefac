"""Budgets that hold when the next question depends on the last answer."""
