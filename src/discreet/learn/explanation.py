"""What a fit would do, cost and lose, said before anything is spent."""

from __future__ import annotations

import math
from typing import Self

from ..frozen import frozen
from ..privacy.events import Event
from ..show.table import text_table
from .task import Task, Training


@frozen
class TrainingExplanation:
    """A plan of training in words; `print` it.

    `signal` compares the rows with the noise: √n̂·… below 1 noise drowns what could be learned.
    """

    model: str
    columns: int
    rows: int
    event: Event
    releases: tuple[tuple[str, int, float], ...]
    signal: float

    @classmethod
    def of(cls, model: str, task: Task, training: Training, rows: int) -> Self:
        """Work out what a fit on so many rows would be."""
        names = ("second moments", "gradient steps") if len(training.releases) > 1 else ("sums",)
        shown = tuple(
            (name, release.times, float(release.noise.scale / release.noise.sensitivity))  # type: ignore[operator]
            for name, release in zip(names, training.releases, strict=True)
        )
        each = min(relative / math.sqrt(times) for _, times, relative in shown)
        signal = rows / (each * math.sqrt(task.design.width))
        return cls(model, task.design.width, rows, training.event, shown, signal)

    @property
    def worth(self) -> str:
        """A verdict in one sentence."""
        if self.signal < 1:
            return "noise drowns what these rows could teach: nothing is worth training; use more rows or a larger spend"
        if self.signal < 10:
            return "expect a clear loss against a model without noise; fewer columns or coarser bins would help"
        return "expect little loss against a model without noise"

    def __str__(self) -> str:
        lines = [(name, str(times), f"{relative:.3g}") for name, times, relative in self.releases]
        table = text_table([("released", "times", "noise / what one unit moves"), *lines])
        return (
            f"{self.model}: {self.columns} columns, about {self.rows:,} rows\n{table}\n"
            f"rows against noise: {self.signal:.3g}; {self.worth}"
        )
