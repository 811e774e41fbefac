"""Matrix mechanism for whole numbers: many counts of one table at once, consistent, of least error.

Start at `workload` (the counts asked), then `choose` (the strategy taken), then one strategy, such
as `residual`.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
