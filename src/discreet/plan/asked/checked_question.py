"""Checked question: a question that was found sound once and need not be checked again."""

from __future__ import annotations

from ...frozen import field, frozen
from ...query.algebra.tree import Question
from ...query.bounds.check import require_sound
from ...query.bounds.keys import PublicValues
from ...query.bounds.missing_keys import marked_question


@frozen
class CheckedQuestion:
    """A sound question, with the values of public tables with which it was checked."""

    question: Question
    public_values: PublicValues | None = None
    rows_public: bool = False
    """Whether the store holds every record it was given.

    Under "replace" its number of rows is then public.
    """
    _marked: list[Question | None] = field(default_factory=list, compare=False, repr=False)

    @property
    def marked(self) -> Question | None:
        """The question by which all sets of keys are sums of one table (`marked_question`).

        It is worked out once: a hierarchy may list 200,000 places.
        """
        if not self._marked:
            # Two threads may both work it out; they find the same.
            self._marked.append(marked_question(self.question, self.public_values))
        return self._marked[0]


def check_question(
    question: Question, public_values: PublicValues | None = None
) -> CheckedQuestion:
    """Return the question as a checked one.

    Refuses: questions without a bound or whose parts do not fit together; see
    `query.bounds.check`.
    """
    return CheckedQuestion(require_sound(question, public_values), public_values)
