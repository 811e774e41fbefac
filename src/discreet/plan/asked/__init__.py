"""What is asked of a plan: a question that was checked, its terms, and the terms of each of its statistics."""

from __future__ import annotations

from .options import QuestionOptions

__all__ = ["QuestionOptions"]
