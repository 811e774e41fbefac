"""Plans: which exact totals a question needs, which noise meets them, what it costs and how far off it will be.

Everything here is public: a plan needs no data, costs nothing and can be shown. Start at `plan`, then `choose`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import late

if TYPE_CHECKING:
    from .plan import Plan as Plan
    from .question import plan_question as plan_question
    from .route import routes as routes
    from .route import split as split
    from .selection import Selection as Selection
    from .several.third import Third as Third
    from .several.third import find_third as find_third
    from .several.workload import Workload as Workload
    from .several.workload import plan_workload as plan_workload

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = late(
        __name__,
        {
            "plan": "Plan",
            "question": "plan_question",
            "route": "routes split",
            "selection": "Selection",
            "several.third": "Third find_third",
            "several.workload": "Workload plan_workload",
        },
    )
