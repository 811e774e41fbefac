"""Types that all models share: the learning task, the planned training and the trained arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from ..noise import Bits
from ..privacy.events import Event
from ..privacy.measures import Measure
from ..privacy.shown_price import shown_price
from .coding.design import ModelDesign
from .coding.label import Label
from .training.budget import Release, Slice, divide, events_of
from .training.influence import Influence
from .training.source import Source

Fitted = Mapping[str, Floats]
"""Trained arrays by name: post-processing of noisy sums, so that they may be shown and stored."""


@frozen
class Task:
    """Prediction of a label from a design; without a label, a description of the rows."""

    design: ModelDesign
    label: Label | None


@frozen
class Training:
    """Noise of every release of one fit, decided before any row is read."""

    releases: tuple[Release, ...]
    influence: Influence
    spend: Measure

    @classmethod
    def of(cls, spend: Measure, slices: Sequence[Slice], influence: Influence) -> Self:
        """Divide a budget among releases."""
        return cls(divide(spend, slices, influence.neighbours), influence, spend)

    def shown_price(self) -> Measure:
        """Return the price of the whole fit in the measure of the spend."""
        return shown_price(self.event, self.spend, self.spend)

    @property
    def event(self) -> Event:
        """The privacy event of the whole fit."""
        return events_of(self.releases)


class TrainingRecipe(Protocol):
    """Training procedure of one kind of model."""

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Return the noise of every release; refuses tasks that cannot be trained. Reads no row."""
        ...

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Learn from noisy sums of the rows."""
        ...
