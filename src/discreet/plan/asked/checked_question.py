"""A question that was found sound, once: whoever holds one need not check it again."""

from __future__ import annotations

from ...frozen import frozen
from ...query.algebra.tree import Question
from ...query.bounds.check import require_sound
from ...query.bounds.keys import PublicValues


@frozen
class CheckedQuestion:
    """A sound question, with the values of public tables by which it was found so."""

    question: Question
    public_values: PublicValues | None = None
    rows_public: bool = False
    """Whether the store holds every record it was given, so that under "replace" its number of rows is public."""


def check_question(
    question: Question, public_values: PublicValues | None = None
) -> CheckedQuestion:
    """Return the question as a checked one.

    Refuses what has no bound or does not fit together; see `query.bounds.check`.
    """
    return CheckedQuestion(require_sound(question, public_values), public_values)
