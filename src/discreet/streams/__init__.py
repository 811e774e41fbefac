"""Streams: one charge, then every day its answer, for years; what is published is final."""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
