"""Answers: noisy tables with confidence intervals, made from exact totals and a plan.

Modules that only some questions need (workloads, derived views, measurements) are imported lazily.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
