"""Sums by class as one Gaussian vector: Σ x, Σ 1 and optionally Σ x² for each class.

A row is in one class only, so that it moves one block of the vector.
"""

from __future__ import annotations

import numpy as np

from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT
from ..coding.label import Classes
from ..task import Fitted, Task, Training
from ..training.believed import believed_counts
from ..training.budget import Slice
from ..training.influence import Influence
from ..training.source import Source


@frozen
class ClassSums:
    """Recipe that releases the sum of the rows of each class; `squares` adds squared numbers.

    Guarantee: a row moves one class only, by its own vector: ‖(x, 1)‖ ≤ UNIT·√(features + 1), and
        UNIT more for each squared number.
    Refuses: a target without listed classes, with `InvalidArgument`.
    Law: tests/learn/test_neighbours.py::TestSumsByClass
    """

    squares: bool = False

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend the whole budget on one vector."""
        label = _classes(task)
        extra = task.design.numbers if self.squares else 0
        size = len(label.values) * (task.design.width + extra)
        row = task.design.squared_norm + extra * UNIT**2
        return Training.of(spend, [Slice(influence.squared(row), size)], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return noisy sums in units of 1, a row for each class; the last column is its count."""
        exact = source.sums(task.design, _classes(task), squares=self.squares)
        release = training.releases[0]
        noisy = release.noisy(exact, bits)
        unit = UNIT * training.influence.unit
        width = task.design.width
        sums = noisy[:, :width] / unit
        deviation = float(release.noise.scale) / unit
        return {
            "sums": sums,
            "squares": noisy[:, width:] / unit,
            "counts": believed_counts(sums, deviation, task.design),
            "deviations": np.array([deviation]),
        }


def _classes(task: Task) -> Classes:
    if not isinstance(task.label, Classes):
        raise InvalidArgument("sums by class need a target with listed classes")
    return task.label
