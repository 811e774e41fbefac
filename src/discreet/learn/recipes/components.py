"""Principal component analysis from one noisy matrix of second moments (Analyze Gauss).

The whole budget goes to that release; the mean, the directions and their variances follow from it.
"""

from __future__ import annotations

import numpy as np

from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..task import Fitted, Task, Training
from ..training.gram import Moments
from ..training.influence import Influence
from ..training.source import Source
from .moments import moments_of, moments_slice


@frozen
class Components:
    """Release the moments of rows without a label."""

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend the whole budget on the moments."""
        return Training.of(spend, [moments_slice(task, influence)], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return the mean, and the directions by falling variance."""
        moments = moments_of(task, training, source, bits=bits)
        return principal(moments)


def principal(moments: Moments) -> Fitted:
    """Return the mean and the principal directions of noisy moments."""
    mean = moments.square[-1, :-1] / moments.count
    covariance = moments.square[:-1, :-1] / moments.count - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    # Noise may make an eigenvalue negative; a variance is not.
    variances = np.maximum(values[order], 0.0)
    return {
        "mean": mean,
        "variances": variances,
        "components": vectors[:, order].T,
    }
