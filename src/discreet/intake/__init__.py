"""Intake of data: sources are read strictly; no record decides how another one is read."""
