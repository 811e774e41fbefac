"""Stores of the service: users, receipts, data sets."""
