"""Charged requests as jobs: threads, leases, the time grid."""
