"""Randomized response: each person perturbs their own answer (local differential privacy)."""
