"""Presentation of plans as text, HTML and JSON."""
