"""Matrix mechanism for whole numbers: many counts of one table at once, consistent, of least error.

Start at `workload` (the counts asked), then `choose` (the strategy taken), then one strategy, such
as `residual`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .choose import bound_of as bound_of
    from .choose import plan_strategy as plan_strategy
    from .estimate import covers as covers
    from .nested import NestedTables as NestedTables
    from .plan import AnyWorkload as AnyWorkload
    from .plan import Bound as Bound
    from .plan import StrategyPlan as StrategyPlan
    from .strategy_norms import Block as Block
    from .strategy_norms import StrategyNorms as StrategyNorms
    from .tail import SumLaw as SumLaw
    from .tail import reaches as reaches
    from .workload import Counts as Counts
    from .workload import Hierarchy as Hierarchy
    from .workload import RunningTotals as RunningTotals
    from .workload import Tables as Tables
    from .workload import marginals as marginals

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "strategy_norms": "Block StrategyNorms",
            "choose": "bound_of plan_strategy",
            "estimate": "covers",
            "nested": "NestedTables",
            "plan": "AnyWorkload Bound StrategyPlan",
            "tail": "SumLaw reaches",
            "workload": "Counts Hierarchy RunningTotals Tables marginals",
        },
    )
