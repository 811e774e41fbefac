"""Models of sums by class: one Gaussian vector of Σ x, Σ 1 and perhaps Σ x² for each class. A row is in one class."""

from __future__ import annotations

import numpy as np

from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT, Numeric
from ..coding.label import Classes
from ..task import Fitted, Task, Training
from ..training.budget import Slice, divide
from ..training.influence import Influence
from ..training.source import Source


@frozen
class ClassSums:
    """Release, for each class, the sum of its rows; `squares` adds those of squared numbers.

    A row moves one class only, by its own vector: ‖(x, 1)‖ ≤ UNIT·√(features + 1), plus UNIT for each squared number.
    """

    squares: bool = False

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend all on one vector."""
        label = _classes(task)
        extra = self._extra(task)
        size = len(label.values) * (task.design.width + extra)
        row = task.design.squared_norm + extra * UNIT**2
        return Training(
            divide(spend, [Slice(influence.squared(row), size)], influence.neighbours), influence
        )

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return noisy sums in units of 1, a row for each class; the constant's column counts it."""
        exact = source.sums(task.design, _classes(task), squares=self.squares)
        release = training.releases[0]
        noisy = np.asarray(
            release.noise.release(exact.ravel(), bits=bits), dtype=np.float64
        ).reshape(exact.shape)
        unit = UNIT * training.influence.unit
        width = task.design.width
        return {
            "sums": noisy[:, :width] / unit,
            "squares": noisy[:, width:] / unit,
            "deviations": np.array([float(release.noise.scale) / unit]),
        }

    def _extra(self, task: Task) -> int:
        return (
            sum(isinstance(feature, Numeric) for feature in task.design.features)
            if self.squares
            else 0
        )


def _classes(task: Task) -> Classes:
    if not isinstance(task.label, Classes):
        raise InvalidArgument("sums by class need a target with listed classes")
    return task.label
