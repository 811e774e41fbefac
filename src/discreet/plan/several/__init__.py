"""Several questions: many under one charge (workload), or one asked many times (trade-off).

The modules are loaded on first use.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
