"""Several questions: many under one charge (workload); number, error and price of equal ones.

The latter is the trade-off: of the three, two are given and the third is found.

The modules are loaded on first use.
"""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
