"""Verbs of a curator over HTTP: one module for a verb, or for a few that share their request.

Each module has the request, its check from public facts, its run and its reply; `table` lists all.
"""
