"""Matrix mechanism for whole numbers: many counts of one table at once, consistent, of least error.

A workload says which sums of public cells are asked. A strategy says which whole numbers are
measured with noise instead, from which the sums are estimated by least squares. Start at
`workload`, then `choose` (the strategy taken), then one strategy, such as `residual`.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
