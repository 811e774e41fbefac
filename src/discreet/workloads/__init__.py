"""Many counts of one table at once: which whole numbers to measure, so that all are least wrong, and consistent.

Start at `workload` (what is asked), then `choose` (which strategy is taken), then one strategy, such as `residual`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import late

if TYPE_CHECKING:
    from .change import Block, Change
    from .choose import bound_of, plan_strategy
    from .nested import NestedTables
    from .plan import Bound, StrategyPlan
    from .workload import Counts, Hierarchy, RunningTotals, Tables, marginals

__all__ = [
    "Block",
    "Bound",
    "Change",
    "Counts",
    "Hierarchy",
    "NestedTables",
    "RunningTotals",
    "StrategyPlan",
    "Tables",
    "bound_of",
    "marginals",
    "plan_strategy",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = late(
        __name__,
        {
            "change": "Block Change",
            "choose": "bound_of plan_strategy",
            "nested": "NestedTables",
            "plan": "Bound StrategyPlan",
            "workload": "Counts Hierarchy RunningTotals Tables marginals",
        },
    )
