"""Streams: standing reports that are charged once and publish a noisy count or sum for every day.

A published number never changes. Start at `question` (what can be asked), `plan` (strategy and
noise), then `closing` (how a day is published).
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
