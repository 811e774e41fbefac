"""Mean and covariance of rows from one noisy matrix of moments, and the directions that follow from them."""

from __future__ import annotations

import numpy as np

from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..task import Fitted, Task, Training
from ..training.budget import divide
from ..training.gram import Moments
from ..training.influence import Influence
from ..training.source import Source
from .moments import moments_of, moments_slice


@frozen
class Components:
    """Release the moments of rows without a label."""

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend all on the moments."""
        return Training(
            divide(spend, [moments_slice(task, influence)], influence.neighbours), influence
        )

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return the mean, and the directions with the variance along each, the largest first."""
        return principal(moments_of(task, training, source, bits=bits))


def principal(moments: Moments) -> Fitted:
    """Return the mean and the principal directions of noisy moments."""
    mean = moments.square[-1, :-1] / moments.count
    covariance = moments.square[:-1, :-1] / moments.count - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    return {
        "mean": mean,
        "variances": np.maximum(values[order], 0.0),
        "components": vectors[:, order].T,
    }
