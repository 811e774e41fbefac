"""Charged requests as jobs (threads, leases, timing grid); worker processes for free requests."""
