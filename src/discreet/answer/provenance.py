"""How a stored answer was made, where today's planner would plan its question otherwise."""

from __future__ import annotations

from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.tree import Question


@frozen
class Provenance:
    """The question, the level of the intervals that are shown, and the plan as it was told when it was run.

    It stands for the plan of an answer that a ledger has kept. The estimates carry their own noise, so values and
    intervals need no plan.
    """

    question: Question
    level: Fraction
    text: str

    def __str__(self) -> str:
        return self.text
