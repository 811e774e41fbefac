"""Numerical accounting: the privacy loss distribution of a composition, with certified bounds."""
