"""What a question wants released under one share, each thing once, and which of them make a statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.bounds.keys import PublicValues
from ..query.bounds.rows import columns_of
from .model import Model, model_of
from .release import Choice, Total, Want
from .wants import wants_of

__all__ = ["Layout", "Use", "layout_of"]


@dataclass(frozen=True, slots=True)
class Use:
    """A statistic by its name, the places of what it is made from, and how noise on these moves it."""

    name: str
    places: tuple[int, ...]
    model: Model


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything wanted, each once however many statistics share it, and the statistics made from that."""

    share: Share
    wants: tuple[Want, ...]
    uses: tuple[Use, ...]

    def unit(self, place: int) -> float:
        """Give what one step of a total is worth."""
        want = self.wants[place]
        return float(want.unit) if isinstance(want, Total) else 1.0

    def length(self, place: int, *, laplace: bool) -> float:
        """Give what one unit can change, Δ1 or Δ2, in steps; of a choice, 1."""
        want = self.wants[place]
        if isinstance(want, Choice):
            return 1.0
        return float(want.sensitivity.l1) if laplace else math.sqrt(want.sensitivity.squared_l2)

    def force(self, place: int, *, laplace: bool) -> float:
        """Give what one unit can change in the unit of the total: noise is this over its ε, or over √(2ρ)."""
        return self.length(place, laplace=laplace) * self.unit(place)


def layout_of(question: Question, share: Share, keys: int | None, public_values: PublicValues | None) -> Layout:
    """List what a question wants under a share; the same total of two statistics is one.

    Refuses what has no bound under this share.
    """
    columns, places, wants = columns_of(question.rows), dict[object, int](), list[Want]()
    uses: list[Use] = []
    for name, statistic in question.statistics:
        found: list[int] = []
        for number, want in enumerate(wants_of(statistic, question, share, keys, public_values)):
            # a choice belongs to its statistic alone, and a thousand cells take long to compare
            mark = (statistic, number) if isinstance(want, Choice) else want
            if mark not in places:
                places[mark] = len(wants)
                wants.append(want)
            found.append(places[mark])
        uses.append(Use(name, tuple(found), model_of(statistic, columns)))
    return Layout(share, tuple(wants), tuple(uses))
