"""Mechanisms that answer one query after another: sparse vector, multiplicative weights."""
