"""Accountants: the methods that price a composition of events, from above and from below."""
