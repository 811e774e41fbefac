"""Prices in words and pictures."""
