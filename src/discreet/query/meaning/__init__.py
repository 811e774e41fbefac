"""Semantics of questions: the reference evaluation, and post-processing of noisy results."""
