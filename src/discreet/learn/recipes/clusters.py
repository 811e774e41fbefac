"""Private k-means by noisy Lloyd rounds (DP-Lloyd; Su, Cao, Li, Bertino, Jin 2016).

Each round assigns rows to the nearest centre and moves each centre to the noisy mean of its rows.
A row moves the sum and the count of one cluster, released as one Gaussian vector. The first centres
lie along the principal directions of a noisy covariance: no row is ever a centre.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT
from ..coding.rows import CodedRows, Whole64
from ..task import Fitted, Floats, Task, Training
from ..training.budget import Slice
from ..training.influence import Influence
from ..training.source import Source, sums_by_class
from .components import principal
from .moments import moments_of, moments_slice

_START = Fraction(1, 5)
"""Share of μ² for the moments from which the first centres follow."""
_FINE = 1 << 10
"""Grid of the centres in `nearest`, whose distances are integers."""


@frozen
class Clusters:
    """Find `clusters` centres in `rounds` noisy rounds."""

    clusters: int
    rounds: int = 6

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Divide the budget between the start and the rounds."""
        start = moments_slice(task, influence, _START)
        size = self.clusters * task.design.width
        squared = influence.squared(task.design.squared_norm)
        rounds = Slice(squared, size, self.rounds, 1 - _START)
        return Training.of(spend, [start, rounds], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return the centres and the noisy number of rows of each."""
        moments = moments_of(task, training, source, bits=bits)
        centres = self._start(principal(moments))
        rows, _ = source.rows(task.design, None)
        release = training.releases[1]
        unit = UNIT * training.influence.unit
        counts = np.ones(self.clusters)
        for _ in range(self.rounds):
            assigned = nearest(rows, centres)
            exact = sums_by_class(rows, assigned, self.clusters, squares=False)
            noisy = release.noisy(exact, bits) / unit
            counts = np.maximum(noisy[:, -1], 0.0)
            # A cluster of fewer rows than noise keeps its centre.
            enough = counts > float(release.noise.scale) / unit
            divisors = np.maximum(counts, 1.0)[:, None]
            # Declared bounds hold every mean, so that clipping only removes noise.
            means = np.clip(noisy[:, :-1] / divisors, -1.0, 1.0)
            centres = np.where(enough[:, None], means, centres)
        return {"centres": centres, "counts": counts}

    def _start(self, found: Fitted) -> Floats:
        """Return centres in pairs at ± one deviation along each principal direction in turn."""
        spreads = np.sqrt(found["variances"])
        directions = found["components"]
        centres = []
        for index in range(self.clusters):
            axis = (index // 2) % len(directions)
            sign = 1 - 2 * (index % 2)
            # After both ends of all directions the next centres lie one deviation further out.
            reach = 1.0 + index // (2 * len(directions))
            centres.append(found["mean"] + sign * reach * spreads[axis] * directions[axis])
        return np.asarray(np.clip(np.array(centres), -1.0, 1.0))


def nearest(rows: CodedRows, centres: Floats) -> Whole64:
    """Return the index of the nearest centre of each row, computed in integers."""
    # Integers, since the last bit of a float product may depend on the other rows.
    fine = np.rint(centres * _FINE).astype(np.int64)
    constant = np.zeros(len(fine), dtype=np.int64)
    vectors = np.column_stack([fine, constant])
    own = UNIT * (fine**2).sum(axis=1) // _FINE
    # The nearest centre c has the largest 2·x·c − ‖c‖², as ‖x‖² is the same for all.
    closeness = []
    for vector, square in zip(vectors, own, strict=True):
        closeness.append(2 * rows.margins(np.ascontiguousarray(vector)) - square)
    return np.asarray(np.stack(closeness, axis=1).argmax(axis=1))
