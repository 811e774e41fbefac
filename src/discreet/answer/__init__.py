"""Answers: noisy tables with an interval for every statistic, made from exact totals and a plan.

What only some questions need (`sets` of keys, `one_set` of them, their `measurements`) is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import late

if TYPE_CHECKING:
    from . import measurements as measurements
    from . import one_set as one_set
    from . import sets as sets
    from .answer import Answer as Answer
    from .ask import answer_question as answer_question
    from .ask import run_plan as run_plan
    from .suggest import suggest_bounds as suggest_bounds

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = late(
        __name__,
        {
            "answer": "Answer",
            "ask": "answer_question run_plan",
            "measurements": "",
            "one_set": "",
            "sets": "",
            "suggest": "suggest_bounds",
        },
    )
