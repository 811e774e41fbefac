"""Budget allocation among measured tables, for the least error of the tables that are asked.

The cells decompose into orthogonal components, one for each set of keys: its contrasts, the part of
the table by these keys that no smaller set determines (residuals: Xiao, Wang, Zhang, Wang, Kifer
2023; for nested levels the contrasts within each parent). Every table, asked or measured, is a sum
over the components of its subsets of keys. In component c

    λ_c = Σ_m gain_mc·q_m       precision, where measured table m has noise of variance 1/q_m
    error = Σ_c energy_c/λ_c    the mean squared error of the tables asked

and Σ q_m is the price of Gaussian noise, Σ √q_m that of Laplace noise. The optimum satisfies
q_m ∝ q_m·h_m, or √q_m ∝ q_m·h_m, h_m = Σ_c gain_mc·energy_c/λ_c²: a fixed point that damped
multiplication reaches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..frozen import frozen
from .workload import KeySet, Tables, cells_beyond

Floats = NDArray[np.float64]
_STEPS = 2000
# The error is computed every so many steps only: it costs as much as a step.
_CHECK_EVERY = 16
# Smaller shares are dropped: a table that is hardly measured only costs a release.
_MIN_SHARE = 1e-9
# Starts that measure mainly one table: at most so many are tried.
_STARTS = 8
# Tables, smallest first, that are tried as a second one, and the shares that they are given.
_SECOND_TABLES = 4
_SECOND_SHARES = 0.15, 0.3, 0.45


def cell_factor(sizes: Sequence[int], asked: KeySet, part: KeySet) -> float:
    """Return the variance in a cell of table `asked` that noise of variance 1 in `part` causes.

    `part` is a component; `sizes` has the number of values of each key.
    """
    return component_price(sizes, part) / cells_beyond(sizes, asked, part) ** 2


def component_price(sizes: Sequence[int], part: KeySet) -> float:
    """Return p_A = ∏(n − 1)/n: the price of noise of variance 1 in one component."""
    return math.prod((sizes[place] - 1) / sizes[place] for place in part)


def energies(workload: Tables) -> Floats:
    """Return the energy of every component: its sum of contributions to the mean squared error."""
    total = dict.fromkeys(workload.closure, 0.0)
    for asked, share in zip(workload.sets, workload.shares, strict=True):
        held = set(asked)
        for part in total:
            if held.issuperset(part):
                total[part] += share * cell_factor(workload.sizes, asked, part)
    return np.array(list(total.values()))


def table_gains(
    sizes: Sequence[int], measured: Sequence[KeySet], parts: Sequence[KeySet]
) -> Floats:
    """Return gain_mc: 1 over the number of cells added up; 0 if table m lacks a key of c."""
    gains = np.zeros((len(measured), len(parts)))
    for row, table in enumerate(measured):
        held = set(table)
        for column, part in enumerate(parts):
            if held.issuperset(part):
                gains[row, column] = 1 / cells_beyond(sizes, table, part)
    return gains


def nested(sizes: Sequence[int], shares: Sequence[float]) -> tuple[Floats, Floats]:
    """Return gains and energies of nested levels; level l has sizes[l] nodes, of equal families."""
    gains = level_ratios(sizes)
    weights = np.asarray(shares)[:, None]
    energy = (weights * gains**2).sum(axis=0) * fresh_parts(sizes)
    return gains, energy


def level_ratios(sizes: Sequence[float]) -> Floats:
    """Return n_l/n_d for l ≤ d, else 0: the part of a contrast of level l in a node of level d.

    A level knows only those above it.
    """
    counts = np.asarray(sizes, dtype=np.float64)
    return np.asarray(np.tril(counts[None, :] / counts[:, None]))


def fresh_parts(sizes: Sequence[float]) -> Floats:
    """Return by level the part of its contrasts that no level above determines: 1 − n_(l−1)/n_l."""
    counts = np.asarray(sizes, dtype=np.float64)
    return np.asarray(np.diff(counts, prepend=0.0) / counts)


@frozen
class Division:
    """Shares of the budget by measured table, and the mean squared error at a budget of 1.

    The budget is Σq = 1, or Σ√q = 1: a share is q, or √q.
    """

    shares: tuple[float, ...]
    error: float


def best_shares(gains: Floats, energy: Floats, *, laplace: bool) -> Division:
    """Return the best shares found; of Gaussian noise Σ q = 1, of Laplace noise Σ √q = 1.

    >>> import numpy as np
    >>> from discreet.workloads.budget_shares import best_shares
    >>> found = best_shares(np.eye(2), np.array([1.0, 8.0]), laplace=True)
    >>> [round(share, 6) for share in found.shares]
    [0.333333, 0.666667]
    """
    live = energy > 0
    live_gains = gains[:, live]
    live_energy = energy[live]
    count = len(gains)
    even = np.full(count, 1 / count)
    if not laplace:
        return _descend(live_gains, live_energy, even, 1)
    # The error is not convex in √q: the descent also starts near each table that knows all.
    knows_all = np.flatnonzero((live_gains > 0).all(axis=1))
    tables = np.eye(count)
    lone_tables = tables[knows_all[:_STARTS]]
    starts = [even, *(0.1 * even + 0.9 * lone_tables)]
    # A small second share never pays near a lone table, which is a local optimum, where a larger
    # one may: total and margins of many cells. One descent starts at the best pair of tables.
    pairs: list[Floats] = []
    for share in _SECOND_SHARES:
        for lone in lone_tables:
            pairs += list((1 - share) * lone + share * tables[:_SECOND_TABLES])
    if pairs:
        best = min(pairs, key=lambda weights: _error(live_gains, live_energy, weights, 2))
        starts.append(0.02 * even + 0.98 * best)
    divisions = [_descend(live_gains, live_energy, start, 2) for start in starts]
    return min(divisions, key=lambda division: division.error)


def _descend(gain: Floats, energy: Floats, weights: Floats, power: int) -> Division:
    """Iterate the fixed point from some weights until the error no longer falls."""
    before = math.inf
    for step in range(_STEPS):
        precision = weights**power @ gain
        pull = weights ** (power - 1) * (gain @ (energy / precision**2))
        # The root damps the multiplication: the undamped one may oscillate.
        weights = weights * pull ** (1 / (power + 1))
        weights /= weights.sum()
        if step % _CHECK_EVERY == _CHECK_EVERY - 1:
            error = _error(gain, energy, weights, power)
            if error > before * (1 - 1e-9):
                break
            before = error
    weights[weights < _MIN_SHARE] = 0
    weights /= weights.sum()
    return Division(tuple(weights.tolist()), _error(gain, energy, weights, power))


def _error(gain: Floats, energy: Floats, weights: Floats, power: int) -> float:
    return float((energy / (weights**power @ gain)).sum())
