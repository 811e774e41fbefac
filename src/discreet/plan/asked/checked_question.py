"""Checked question: a question that was found sound once and need not be checked again."""

from __future__ import annotations

from ...frozen import frozen
from ...query.algebra.tree import Question
from ...query.bounds.check import require_sound
from ...query.bounds.keys import PublicValues


@frozen
class CheckedQuestion:
    """A sound question, with the values of public tables with which it was checked."""

    question: Question
    public_values: PublicValues | None = None
    rows_public: bool = False
    """Whether the store holds every record it was given.

    Under "replace" its number of rows is then public.
    """


def check_question(
    question: Question, public_values: PublicValues | None = None
) -> CheckedQuestion:
    """Return the question as a checked one.

    Refuses: questions without a bound or whose parts do not fit together; see
    `query.bounds.check`.
    """
    return CheckedQuestion(require_sound(question, public_values), public_values)
