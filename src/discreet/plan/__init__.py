"""Planner package: releases, noise, price and predicted error of a question.

Everything here is public: a plan reads no data, costs nothing and can be shown. Start at `plan`,
then `choose`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .budget_allocation import routes as routes
    from .budget_allocation import split as split
    from .choose import plan_question as plan_question
    from .plan import Plan as Plan
    from .selection import Selection as Selection
    from .several.tradeoff import Tradeoff as Tradeoff
    from .several.tradeoff import solve_tradeoff as solve_tradeoff
    from .several.workload import Workload as Workload
    from .several.workload import plan_workload as plan_workload

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "plan": "Plan",
            "choose": "plan_question",
            "budget_allocation": "routes split",
            "selection": "Selection",
            "several.tradeoff": "Tradeoff solve_tradeoff",
            "several.workload": "Workload plan_workload",
        },
    )
