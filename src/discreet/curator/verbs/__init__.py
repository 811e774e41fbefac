"""Requests to the curator other than questions: bounds, models, synthetic tables and rehearsals.

All but rehearsals are charged, run and stored as questions are. The modules are imported lazily, because
most questions need none of them.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
