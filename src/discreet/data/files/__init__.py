"""Schemas as plain values, JSON and TOML files."""
