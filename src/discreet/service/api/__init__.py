"""Endpoints of the HTTP API under /api/v1."""
