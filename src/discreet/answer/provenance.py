"""Provenance of a stored answer: how it was made, where today's planner would not make that plan.

A stored answer is found by its question and terms alone. Its plan is made again only when somebody reads
it (lazy evaluation). If today's planner would plan the question differently, the text of the plan as it
was shown then takes the place of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from threading import Lock
from typing import Generic, TypeVar

from ..frozen import frozen
from ..plan.plan import Plan
from ..query.algebra.tree import Question

T = TypeVar("T")


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


class Late(Generic[T]):
    """Value that is made when it is first read, and kept.

    Guarantee: it is made once, and every reader gets the same object, in any thread.
    """

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[T] | None = None
        # Two threads may read an answer at once, and planning twice would give them two objects.
        self._lock = Lock()

    def read(self) -> T:
        """Return the value; make it if nobody has read it before."""
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]


class LatePlan(Late[Plan | Provenance]):
    """Plan of a stored answer, with what is known of it before it is made: question and level."""

    __slots__ = ("level", "question")

    def __init__(
        self, question: Question, level: Fraction, make: Callable[[], Plan | Provenance]
    ) -> None:
        super().__init__(make)
        self.question = question
        self.level = level
