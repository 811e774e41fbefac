"""Explanation of a planned fit: its releases, privacy cost and expected loss, before any charge."""

from __future__ import annotations

import math
from typing import Self

from ..frozen import frozen
from ..privacy.events import Event
from ..privacy.measures import Measure, decimal_text
from ..show.table import text_table
from .task import Task, Training


@frozen
class TrainingExplanation:
    """Plan of a training in readable form; `print` it.

    `signal` is the signal-to-noise ratio n/(z·√d). Here d is the number of coded columns, and z the
    least σ/(Δ·√times) of the releases. Below 1 the noise exceeds what could be learned.
    """

    model: str
    columns: int
    rows: int
    event: Event
    releases: tuple[tuple[str, int, float], ...]
    signal: float
    price: Measure

    @classmethod
    def of(cls, model: str, task: Task, training: Training, rows: int) -> Self:
        """Return the explanation of a fit on so many rows."""
        names: tuple[str, ...] = ("sums",)
        if len(training.releases) > 1:
            names = ("second moments", "gradient steps")
        releases = []
        for name, release in zip(names, training.releases, strict=True):
            relative = release.noise.scale / release.noise.sensitivity  # type: ignore[operator]
            releases.append((name, release.times, float(relative)))
        # Averaging `times` independent draws divides the deviation by √times.
        averaged = min(relative / math.sqrt(times) for _, times, relative in releases)
        width = task.design.width
        signal = rows / (averaged * math.sqrt(width))
        price = training.shown_price()
        return cls(model, width, rows, training.event, tuple(releases), signal, price)

    @property
    def worth(self) -> str:
        """A verdict in one sentence."""
        if self.signal < 1:
            return (
                "noise drowns what these rows could teach: nothing is worth training; "
                "use more rows or a larger spend"
            )
        if self.signal < 10:
            return (
                "expect a clear loss against a model without noise; "
                "fewer columns or coarser bins would help"
            )
        return "expect little loss against a model without noise"

    def __str__(self) -> str:
        header = ("released", "times", "noise / what one unit moves")
        lines = [(name, str(times), f"{relative:.3g}") for name, times, relative in self.releases]
        table = text_table([header, *lines])
        return (
            f"{self.model}: {self.columns} columns, about {self.rows:,} rows\n{table}\n"
            f"rows against noise: {self.signal:.3g}; {self.worth}\n"
            f"costs {decimal_text(self.price)}"
        )
