"""Prices of privacy events in each measure, in closed form."""
