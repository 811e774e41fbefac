"""Clusters by noisy rounds: rows go to the nearest centre, and each centre to the noisy mean of its rows.

DP-Lloyd (Su, Cao, Li, Bertino, Jin 2016): in a round a row moves one cluster's sum and count, as one Gaussian vector.
The first centres lie along the principal directions of a noisy covariance: no row is ever a centre.
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
from ..training.budget import Slice, divide
from ..training.influence import Influence
from ..training.source import Source, sums_by_class
from .components import principal
from .moments import moments_of, moments_slice

_START = Fraction(1, 5)
_FINE = 1 << 10


@frozen
class Clusters:
    """Find `clusters` centres in `rounds` noisy rounds."""

    clusters: int
    rounds: int = 6

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Divide the budget between the start and the rounds."""
        first = moments_slice(task, influence)
        size = self.clusters * task.design.width
        rounds = Slice(influence.squared(task.design.squared_norm), size, self.rounds, 1 - _START)
        start = Slice(first.squared, first.dimension, 1, _START)
        return Training(divide(spend, [start, rounds], influence.neighbours), influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return the centres and the noisy number of rows of each."""
        centres = self._start(principal(moments_of(task, training, source, bits=bits)))
        rows, _ = source.rows(task.design, None)
        release, unit = training.releases[1].noise, UNIT * training.influence.unit
        counts = np.ones(self.clusters)
        for _ in range(self.rounds):
            exact = sums_by_class(rows, nearest(rows, centres), self.clusters, squares=False)
            noisy = (
                np.asarray(release.release(exact.ravel(), bits=bits), dtype=np.float64).reshape(
                    exact.shape
                )
                / unit
            )
            counts = np.maximum(noisy[:, -1], 0.0)
            enough = (
                counts > float(release.scale) / unit
            )  # fewer rows than noise: the centre stays where it was
            means = np.clip(noisy[:, :-1] / np.maximum(counts, 1.0)[:, None], -1.0, 1.0)
            centres = np.where(enough[:, None], means, centres)
        return {"centres": centres, "counts": counts}

    def _start(self, found: Fitted) -> Floats:
        """Place the centres along the first directions, turning from one to the next, a deviation away."""
        spreads, directions = np.sqrt(found["variances"]), found["components"]
        places = []
        for place in range(self.clusters):
            axis, sign = (place // 2) % len(directions), 1 - 2 * (place % 2)
            reach = 1.0 + place // (2 * len(directions))
            places.append(found["mean"] + sign * reach * spreads[axis] * directions[axis])
        return np.asarray(np.clip(np.array(places), -1.0, 1.0))


def nearest(rows: CodedRows, centres: Floats) -> Whole64:
    """Return which centre is nearest to each row, in whole numbers, so that no row's company decides."""
    fine = np.rint(centres * _FINE).astype(np.int64)
    wide = np.column_stack([fine, np.zeros(len(fine), dtype=np.int64)])
    own = UNIT * (fine**2).sum(axis=1) // _FINE
    distances = np.stack(
        [2 * rows.margins(np.ascontiguousarray(c)) - o for c, o in zip(wide, own, strict=True)],
        axis=1,
    )
    return np.asarray(distances.argmax(axis=1))
