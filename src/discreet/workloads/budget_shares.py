"""The shares of a budget among tables that are measured, for the least error of tables that are asked.

The sums over keys decompose the cells into orthogonal components that every table, asked or measured, respects
(residuals: Xiao, Wang, Zhang, Wang, Kifer 2023; for nested levels the contrasts within each parent). In component c

    λ_c = Σ_m gain_mc·q_m       precision, where measured table m has noise of variance 1/q_m
    error = Σ_c energy_c/λ_c    the mean squared error of what is asked

and Σ q_m is what Gaussian noise costs, Σ √q_m what Laplace noise costs. The optimum satisfies q_m ∝ q_m·h_m, or
√q_m ∝ q_m·h_m, h_m = Σ_c gain_mc·energy_c/λ_c²: a fixed point that is reached by damped multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..frozen import frozen
from .workload import KeySet, Tables

Floats = NDArray[np.float64]
_STEPS = 2000
_NONE = 1e-9
_STARTS = 8


def one_cell(sizes: Sequence[int], asked: KeySet, part: KeySet) -> float:
    """Return how much variance noise of variance 1 in component `part` adds to one cell of the table `asked`."""
    kept = math.prod((sizes[i] - 1) / sizes[i] for i in part)
    return kept / math.prod(sizes[i] for i in asked if i not in part) ** 2


def energies(workload: Tables) -> Floats:
    """Return the energy of every component of the closure: Σ of what it adds to the mean squared error."""
    total = dict.fromkeys(workload.closure, 0.0)
    for asked, share in zip(workload.sets, workload.shares, strict=True):
        held = set(asked)
        for part in total:
            if held.issuperset(part):
                total[part] += share * one_cell(workload.sizes, asked, part)
    return np.array(list(total.values()))


def table_gains(
    sizes: Sequence[int], measured: Sequence[KeySet], parts: Sequence[KeySet]
) -> Floats:
    """Return gain_mc: a table summed to a component has its noise as often as cells were added; 0 if it cannot be."""
    found = np.zeros((len(measured), len(parts)))
    for row, table in enumerate(measured):
        held = set(table)
        for column, part in enumerate(parts):
            if held.issuperset(part):
                found[row, column] = 1 / math.prod(sizes[i] for i in table if i not in part)
    return found


def nested(sizes: Sequence[int], shares: Sequence[float]) -> tuple[Floats, Floats]:
    """Return gains and energies of nested levels of so many nodes, each node with equally many children."""
    counts = np.asarray(sizes, dtype=float)
    fresh = np.diff(counts, prepend=0.0) / counts
    ratio = counts[None, :] / counts[:, None]  # of level l to level k
    below = np.tril(np.ones((len(counts), len(counts))))
    return ratio * below, (np.asarray(shares)[:, None] * ratio**2 * below).sum(axis=0) * fresh


@frozen
class Division:
    """Shares of the budget by measured table, and the mean squared error at a budget of 1 (Σq = 1, or Σ√q = 1)."""

    shares: tuple[float, ...]
    error: float


def best_shares(gains: Floats, energy: Floats, *, laplace: bool) -> Division:
    """Return the shares of least error; of Gaussian noise Σ q = 1, of Laplace noise Σ √q = 1.

    >>> import numpy as np
    >>> from discreet.workloads.budget_shares import best_shares
    >>> [round(share, 6) for share in best_shares(np.eye(2), np.array([1.0, 8.0]), laplace=True).shares]
    [0.333333, 0.666667]
    """
    live = energy > 0
    even = np.full(len(gains), 1 / len(gains))
    knows_all = np.flatnonzero((gains[:, live] > 0).all(axis=1))[
        : _STARTS if laplace else 0
    ]  # √q has several valleys
    starts = [even, *(0.1 * even + 0.9 * np.eye(len(gains))[one] for one in knows_all)]
    found = [_descend(gains[:, live], energy[live], start, 2 if laplace else 1) for start in starts]
    return min(found, key=lambda division: division.error)


def _descend(gain: Floats, due: Floats, weights: Floats, power: int) -> Division:
    before = math.inf
    for step in range(_STEPS):
        precision = weights**power @ gain
        pull = weights ** (power - 1) * (gain @ (due / precision**2))
        weights = weights * pull ** (1 / (power + 1))
        weights /= weights.sum()
        if step % 16 == 15:
            error = float((due / (weights**power @ gain)).sum())
            if error > before * (1 - 1e-9):
                break
            before = error
    weights[weights < _NONE] = 0
    weights /= weights.sum()
    return Division(tuple(weights.tolist()), float((due / (weights**power @ gain)).sum()))
