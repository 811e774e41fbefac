"""Selection mechanisms: choose one of several public candidates by a private score.

The modules about quantiles are loaded lazily, when one of them is first used.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
