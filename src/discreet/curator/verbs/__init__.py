"""Requests to the curator beside questions: bounds, models, synthetic tables, streams, rehearsals.

A rehearsal costs nothing. The others are charged before a row is read; a stream is charged once,
at its opening. The modules are imported lazily, because most questions need none of them.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
