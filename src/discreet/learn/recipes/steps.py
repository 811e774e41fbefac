"""Noisy gradient descent (DP-GD): moments first, for a start and a preconditioner, then steps."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT
from ..coding.label import Amount, Classes
from ..coding.rows import Whole64
from ..task import Fitted, Floats, Task, Training
from ..training.budget import Slice
from ..training.influence import Influence
from ..training.residual import FULL, ONE, logistic, pinball, softmax
from ..training.ridge import solve
from ..training.source import Source, label_matrix
from ..training.steps import Residual, descend, whiten, whole_clip
from .moments import moments_of, moments_slice, within

CLIPS = (0.001, 100.0)
"""Least and largest clipping norm of a gradient, in units of √d."""
RATES = (1e-6, 1e6)
"""Least and largest learning rate."""

MAX_STEPS = 10_000
_START = Fraction(1, 5)
"""Share of μ² for the moments: on Adult a tenth to a third makes no visible difference."""


@frozen
class Descent:
    """Logistic regression (two classes or several) or quantile regression by noisy whitened steps.

    `steps`, `clip` (in units of √d) and `rate` are public.
    Half or twice of each loses little.
    """

    steps: int = 60
    clip: float = 0.3
    rate: float = 4.0
    at: float | None = None

    def __post_init__(self) -> None:
        whole(self.steps, "steps", least=1, most=MAX_STEPS)
        within(self.clip, "clip", CLIPS)
        within(self.rate, "rate", RATES)

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Divide the budget between the moments and the steps."""
        start = moments_slice(task, influence, _START)
        clipped = whole_clip(influence.unit)
        size = task.design.width * _columns(task)
        steps = Slice(influence.squared(clipped**2), size, self.steps, 1 - _START)
        return Training.of(spend, [start, steps], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return coefficients, one column for each class, and the deviation of their noise."""
        moments = moments_of(task, training, source, bits=bits)
        weight = training.influence.unit
        whitened = whiten(moments, task.design.squared_norm, self.clip, whole_clip(weight))
        rows, found = source.rows(task.design, task.label)
        labels, residual, slope = self._loss(task, found)
        start = slope * solve(moments, 0.3)
        coefficients = descend(
            rows,
            labels,
            start,
            whitened,
            residual,
            training.releases[1],
            weight=weight,
            rate=self.rate,
            bits=bits,
        )
        scale = whitened.unit * moments.count
        return {
            "coefficients": coefficients,
            "deviations": self._deviations(training, whitened.floats, scale),
            "count": np.array([moments.count]),
        }

    def _loss(self, task: Task, found: Whole64) -> tuple[Whole64, Residual, float]:
        """Return labels, residual function, and the factor from least squares to a start."""
        match task.label:
            case Amount():
                at = 0.5 if self.at is None else self.at
                labels = (found * (ONE // UNIT))[:, None]
                return labels, partial(pinball, at=at, width=1 / 32), 1.0
            case Classes(values=values) if len(values) == 2:
                return found[:, None], logistic, 2.0
            case Classes():
                return label_matrix(task.label, found, 1), softmax, 4.0
            case _:
                raise InvalidArgument(
                    "a model that is trained in steps predicts something; give its target"
                )

    def _deviations(self, training: Training, matrix: Floats, scale: float) -> Floats:
        """Return the deviation that the noise of the steps leaves in each coefficient.

        Around the minimum a step is w ← (1 − rate·h)w + rate·noise/n, with a curvature h of at most
        ¼ in this space. The mean of m steps then has the noise's deviation/(h·√m).
        """
        noise = training.releases[1].noise
        each = float(noise.scale) / (scale * UNIT * FULL * training.influence.unit)
        spread = each / (0.25 * np.sqrt(max(1, self.steps // 2)))
        row_norms = np.sqrt((matrix**2).sum(axis=1))
        return np.asarray(row_norms * spread)[:, None]


def _columns(task: Task) -> int:
    label = task.label
    # Two classes need one score, the log-odds of the second.
    if isinstance(label, Classes) and len(label.values) > 2:
        return len(label.values)
    return 1
