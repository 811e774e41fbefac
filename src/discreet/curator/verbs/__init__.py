"""Verbs of the curator that are no questions: each is charged, run and stored like one."""
