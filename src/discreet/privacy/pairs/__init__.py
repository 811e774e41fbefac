"""Dominating pairs: for every event two laws that are at least as easy to tell apart."""
