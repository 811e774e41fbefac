"""Readers of arguments: values, lattice steps, budgets, and deprecated ways to call."""
