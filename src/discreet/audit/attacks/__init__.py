"""Attacks that succeed without privacy and fail with it: to learn from, and to try on one's own."""
