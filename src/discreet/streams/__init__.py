"""Streams: standing reports, charged once for a fixed number of days.

A stream publishes one noisy count or sum per day and combination of public keys. A published
number never changes. Start at `question` (what can be asked), `plan` (strategy and
noise), then `closing` (how a day is published).
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
