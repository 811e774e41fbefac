"""Mechanisms that choose one of several candidates."""
