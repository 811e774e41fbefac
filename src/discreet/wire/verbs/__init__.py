"""Verbs of a curator over HTTP: one module for each subject, such as questions or training.

Each module has the requests, their check from public facts, run and reply; `table` lists all.
"""
