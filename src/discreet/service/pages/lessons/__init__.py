"""Lessons about differential privacy, with sliders."""
