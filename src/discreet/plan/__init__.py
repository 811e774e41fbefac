"""Plans: which exact totals a question needs, which noise meets them, what it costs and how far off it will be.

Everything here is public: a plan needs no data, costs nothing and can be shown. Start at `plan`, then `choose`.
"""

from __future__ import annotations

from .plan import Plan
from .question import plan_question
from .selection import Selection
from .several.third import Third, find_third
from .several.workload import Workload, plan_workload
from .split import routes, split

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
