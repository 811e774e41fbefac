"""Mechanisms beyond global sensitivity: smooth, propose-test-release, inverse sensitivity."""
