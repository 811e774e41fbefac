"""Provenance of a stored answer whose question today's planner would plan differently."""

from __future__ import annotations

from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.tree import Question


@frozen
class Provenance:
    """Question, confidence level and the plan as text, as it was shown when the answer was made.

    It takes the place of the plan in a stored answer. The estimates carry their own noise, so values and
    confidence intervals need no plan.
    """

    question: Question
    level: Fraction
    text: str

    def __str__(self) -> str:
        return self.text
