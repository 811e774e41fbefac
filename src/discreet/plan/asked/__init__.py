"""Request to the planner: a checked question, its terms, and the options of its statistics."""

from .terms import QuestionOptions

__all__ = ["QuestionOptions"]
