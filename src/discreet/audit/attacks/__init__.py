"""Attacks on answers and models: they succeed without differential privacy and fail with it."""
