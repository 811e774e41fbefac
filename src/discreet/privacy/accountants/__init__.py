"""Accountants: the methods that price a composition, and lower bounds by witnesses."""
