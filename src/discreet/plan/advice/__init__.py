"""Advice: warnings about a question before its charge, from public facts; loaded on first use."""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
