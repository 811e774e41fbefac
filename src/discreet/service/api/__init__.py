"""The ways in under /api/v1."""
