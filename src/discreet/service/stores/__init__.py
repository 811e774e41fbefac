"""Stores of the service: its database, users, receipts and saved questions; opened data sets."""
