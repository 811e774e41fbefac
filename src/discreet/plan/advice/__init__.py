"""Advice: objections to a question from public facts, before its charge; loaded on first use."""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
