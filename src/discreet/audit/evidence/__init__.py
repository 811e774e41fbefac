"""Exact conclusions from counted outputs: bounds, ceilings, claims."""
