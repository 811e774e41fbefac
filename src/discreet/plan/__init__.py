"""Plans: which exact totals a question needs, which noise meets them, what it costs and how far off it will be.

Everything here is public: a plan needs no data, costs nothing and can be shown. Start at `plan`, then `release`.
"""

from __future__ import annotations

from .plan import Plan
from .question import plan_question
from .release import Choice, ChosenRelease, Distinct, NoisyRelease, Release, Total, Want
from .selection import Selection
from .several.third import Third, find_third
from .several.workload import Workload, plan_workload
from .split import routes, split

__all__ = [
    "Choice",
    "ChosenRelease",
    "Distinct",
    "NoisyRelease",
    "Plan",
    "Release",
    "Selection",
    "Third",
    "Total",
    "Want",
    "Workload",
    "find_third",
    "plan_question",
    "plan_workload",
    "routes",
    "split",
]
