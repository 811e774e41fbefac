"""Answers: noisy tables with an interval for every statistic, made from exact totals and a plan."""

from __future__ import annotations

from .answer import Answer
from .ask import answer_question, run_plan
from .suggest import suggest_bounds

__all__ = ["Answer", "answer_question", "run_plan", "suggest_bounds"]
