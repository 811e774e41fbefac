"""Several questions: workloads under one charge, and trade-offs of equal questions in a budget.

Loaded on first use.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
