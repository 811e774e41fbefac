"""Mechanisms for many queries: sparse vector and multiplicative weights (interactive), and MWEM."""
