"""What is to be learned, what that costs, and what came of it: three frozen values that every model shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from numpy import float64
from numpy.typing import NDArray

from ..frozen import frozen
from ..noise import Bits
from ..privacy.events import Event
from ..privacy.measures import Measure
from .coding.design import ModelDesign
from .coding.label import Label
from .training.budget import Release, events_of
from .training.influence import Influence
from .training.source import Source

Floats = NDArray[float64]
Fitted = Mapping[str, Floats]
"""What was learned: arrays by name. It is made from noisy sums alone, so it may be shown and stored."""


@frozen
class Task:
    """Predict a label from a design; or, with no label, describe the rows."""

    design: ModelDesign
    label: Label | None


@frozen
class Training:
    """All the noise of one fit, decided before any row is read."""

    releases: tuple[Release, ...]
    influence: Influence

    @property
    def event(self) -> Event:
        """What the fit costs."""
        return events_of(self.releases)


class TrainingRecipe(Protocol):
    """How one kind of model is trained."""

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Decide all the noise; refuses what cannot be trained. No row is read."""
        ...

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Learn from noisy sums of the rows."""
        ...
