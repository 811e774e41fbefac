"""Attacks that work where there is no privacy and fail where there is: to learn from, and to try on one's own."""
