"""Request to the planner: a checked question, its terms, and the options of its statistics."""

from __future__ import annotations

from .terms import QuestionOptions

__all__ = ["QuestionOptions"]
