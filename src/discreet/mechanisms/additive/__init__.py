"""Mechanisms that add noise."""
