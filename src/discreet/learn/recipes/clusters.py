"""Private k-means: a start from a noisy grid, then noisy Lloyd rounds.

Noisy moments give the two directions in which rows differ most. A noisy histogram over a grid in
that plane shows where rows lie, and k-means of its cells gives the first centres: no row is ever a
centre. Each round then assigns rows to the nearest centre and moves each centre to the noisy mean of
its rows (DP-Lloyd; Su, Cao, Li, Bertino, Jin 2016). A row moves one cell of the grid, and the sum
and the count of one cluster, released as one Gaussian vector.

Guarantee: moments, grid and rounds are one sequence of events, fixed before a row is read.
Law: tests/learn/test_clusters.py::TestARowMovesOneCell
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT
from ..coding.rows import CodedRows, Exact, Whole64
from ..task import Fitted, Task, Training
from ..training.budget import Slice
from ..training.influence import Influence
from ..training.source import Source, sums_by_class
from .components import principal
from .moments import moments_of, moments_slice

_SHARES = (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
"""Shares of the budget, as μ² of Gaussian DP, for the moments, the grid and the rounds."""
_FINE = 1 << 10
"""Grid of the centres in `nearest`, whose distances are integers."""
GRID = 16
"""Cells of the grid along each of its two directions."""
_REACH = 2.5
"""Deviations from the mean to the border of the grid; rows beyond count in its border cells."""
_STARTS = 8
"""Public random starts of k-means among the cells of the grid."""


@frozen
class Clusters:
    """Find `clusters` centres in `rounds` noisy rounds."""

    clusters: int
    rounds: int = 6

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Divide the budget between the moments, the grid and the rounds."""
        start = moments_slice(task, influence, _SHARES[0])
        grid = Slice(influence.squared(UNIT**2), GRID**2, 1, _SHARES[1])
        size = self.clusters * task.design.width
        squared = influence.squared(task.design.squared_norm)
        rounds = Slice(squared, size, self.rounds, _SHARES[2])
        return Training.of(spend, [start, grid, rounds], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return the centres and the noisy number of rows of each."""
        moments = moments_of(task, training, source, bits=bits)
        rows, _ = source.rows(task.design, None)
        unit = UNIT * training.influence.unit
        plane = plane_of(principal(moments))
        grid = training.releases[1]
        cells = grid.noisy(cells_of(rows, plane), bits) / unit
        centres = plane.centres(cells, float(grid.noise.scale) / unit, self.clusters)
        release = training.releases[2]
        noise = float(release.noise.scale) / unit
        kept = []
        for step in range(self.rounds):
            assigned = nearest(rows, centres)
            exact = sums_by_class(rows, assigned, self.clusters, squares=False)
            noisy = release.noisy(exact, bits) / unit
            # The first half finds the groups; the mean of the second half has less noise.
            if step >= self.rounds // 2:
                kept.append(noisy)
            centres = _moved(centres, noisy, noise)
        averaged = np.mean(kept, axis=0)
        centres = _moved(centres, averaged, noise / math.sqrt(len(kept)))
        counts = np.maximum(averaged[:, -1], 0.0)
        return {"centres": centres, "counts": counts}


def _moved(centres: Floats, sums: Floats, noise: float) -> Floats:
    """Return the means of noisy sums and counts; a cluster of fewer rows than noise stays."""
    enough = sums[:, -1:] > noise
    divisors = np.maximum(sums[:, -1:], 1.0)
    # Declared bounds hold every mean, so that clipping only removes noise.
    means = np.clip(sums[:, :-1] / divisors, -1.0, 1.0)
    return np.where(enough, means, centres)


@frozen(eq=False)
class Plane:
    """Grid in the plane of the two directions in which rows differ most."""

    mean: Floats
    directions: Floats
    spreads: Floats

    def centres(self, cells: Floats, noise: float, clusters: int) -> Floats:
        """Return k-means centres by the noisy counts of the grid's cells: post-processing.

        `noise` is the deviation of each count. The random starts are public.
        """
        # A count below twice its noise is taken for empty.
        weights = np.where(cells > 2 * noise, cells, 0.0)
        if np.count_nonzero(weights) < clusters:
            weights = np.maximum(cells, 0.0) + 1e-9
        middles = (np.arange(GRID) + 0.5) / GRID * 2 - 1
        across = [_REACH * spread * middles for spread in self.spreads]
        points = np.stack(np.meshgrid(*across, indexing="ij"), axis=-1).reshape(GRID**2, -1)
        best = min((_lloyd(points, weights, clusters, seed) for seed in range(_STARTS)), key=_loss)
        return np.asarray(np.clip(self.mean + best[0] @ self.directions, -1.0, 1.0))


def plane_of(found: Fitted) -> Plane:
    """Return the plane of noisy principal directions; of a single column, that column twice."""
    places = [0, min(1, len(found["variances"]) - 1)]
    spreads = np.sqrt(np.maximum(found["variances"][places], 1e-6))
    return Plane(found["mean"], found["components"][places], spreads)


def cells_of(rows: CodedRows, plane: Plane) -> Exact:
    """Return the exact number of rows in each cell, times UNIT; a row lies in one cell."""
    places = np.zeros(len(rows), dtype=np.int64)
    for direction, spread in zip(plane.directions, plane.spreads, strict=True):
        # Integers, since the last bit of a float product may depend on the other rows.
        vector = np.append(np.rint(direction * _FINE), 0).astype(np.int64)
        middle = round(float(plane.mean @ direction) * UNIT * _FINE)
        width = max(1, round(2 * _REACH * spread * UNIT * _FINE / GRID))
        steps = (rows.margins(vector) - middle) // width + GRID // 2
        places = places * GRID + np.clip(steps, 0, GRID - 1)
    nothing = np.empty((len(rows), 0))
    cells = CodedRows(nothing, places[:, None], rows.weights, GRID**2)
    return cells.push(np.ones(len(rows), dtype=np.int64))


def _lloyd(points: Floats, weights: Floats, clusters: int, seed: int) -> tuple[Floats, float]:
    """Return k-means of weighted points from a public start (k-means++), and its loss."""
    draws = np.random.default_rng(seed)
    chosen = [points[draws.choice(len(points), p=weights / weights.sum())]]
    for _ in range(clusters - 1):
        apart = weights * _squares(points, np.array(chosen)).min(axis=1) + 1e-12
        chosen.append(points[draws.choice(len(points), p=apart / apart.sum())])
    centres = np.array(chosen)
    for _ in range(20):
        nearest_one = _squares(points, centres).argmin(axis=1)
        totals = np.bincount(nearest_one, weights, clusters)
        for axis in range(points.shape[1]):
            sums = np.bincount(nearest_one, weights * points[:, axis], clusters)
            centres[:, axis] = np.where(
                totals > 0, sums / np.maximum(totals, 1e-12), centres[:, axis]
            )
    return centres, float(weights @ _squares(points, centres).min(axis=1))


def _loss(found: tuple[Floats, float]) -> float:
    return found[1]


def _squares(points: Floats, centres: Floats) -> Floats:
    return np.asarray(((points[:, None] - centres) ** 2).sum(axis=2))


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
