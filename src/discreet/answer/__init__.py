"""Answers: noisy tables with confidence intervals, made from exact totals and a plan.

Modules that only some questions need (workloads, derived views, measurements) are imported lazily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from . import derived_views as derived_views
    from . import measurements as measurements
    from . import workload_run as workload_run
    from .answer import Answer as Answer
    from .ask import answer_question as answer_question
    from .ask import run_plan as run_plan
    from .suggest import suggest_bounds as suggest_bounds

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "answer": "Answer",
            "ask": "answer_question run_plan",
            "measurements": "",
            "derived_views": "",
            "workload_run": "",
            "suggest": "suggest_bounds",
        },
    )
