"""Plans: which exact totals a question needs, which noise meets them, what it costs and how far off it will be.

Everything here is public: a plan needs no data, costs nothing and can be shown. Start at `plan`, then `choose`.
"""

from __future__ import annotations

from .plan import Plan
from .question import plan_question
from .selection import Selection
from .split import routes, split
from .third import Third, find_third
from .workload import Workload, plan_workload

__all__ = [
    "Plan",
    "Selection",
    "Third",
    "Workload",
    "find_third",
    "plan_question",
    "plan_workload",
    "routes",
    "split",
]
