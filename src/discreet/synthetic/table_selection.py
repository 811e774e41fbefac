"""Selection of the tables to measure, and budget allocation among them by expected error; data-independent.

Measured are contrasts ("residuals") of the total, of single columns and of pairs (`workloads.residual`). Of a budget
Σ p_A/σ_A² = μ² each gets √(p_A·energy_A), the optimum for tables weighed alike; the energies of single columns count
ten times, since all pairs are started from them, that of the total a hundred times, since all tables add up to it.

A pair that is not measured is made as if its columns were independent. What that loses is a fact about the data, so it
is not looked at: a constant stands for it. What noise leaves of a pair after `denoise` follows x = σ(√m + √n)/rows,
the noise's largest singular value, as x^¾, and is no more than the noise itself. Of the pairs, by growing √m + √n, as
many are taken as make the mean of these expectations least. Constants were fitted on Adult; see benchmarks/synthetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..frozen import frozen
from ..workloads.budget_shares import cell_factor
from ..workloads.strategy_noise import shares_of
from .request import KeySet, SyntheticRequest

EXTRA = {0: 100.0, 1: 10.0}
"""What the energies of the total and of single columns count; those of pairs count once."""
LOSS = 0.08
"""Total variation that independence is supposed to lose in a pair: 0.07 on Adult, where constants were fitted."""
POWER = 0.75
NOISE = 0.4
"""E|noise|/2 of a normal law of deviation 1, as total variation counts it."""
FLAT = 0.1
"""… of a single column, of which the projection leaves a quarter."""
_STEPS = 12


@frozen
class BudgetShares:
    """The sets that are measured, the part of the budget of each, and the total variation expected of a pair."""

    sets: tuple[KeySet, ...]
    shares: tuple[Fraction, ...]
    expected: float


def closure_of(sizes: Sequence[int], sets: Sequence[KeySet]) -> tuple[KeySet, ...]:
    """Return the total, the columns and the pairs to measure; columns of one cell tell nothing.

    >>> from discreet.synthetic.table_selection import closure_of
    >>> closure_of((2, 1, 3), [(0, 1), (0, 2)])
    ((), (0,), (2,), (0, 2))
    """
    live = {tuple(place for place in one if sizes[place] > 1) for one in sets}
    singles = {(place,) for one in live for place in one}
    return tuple(sorted(live | singles | {()}, key=lambda one: (len(one), one)))


def choose_sets(request: SyntheticRequest, square: float) -> BudgetShares:
    """Return what to measure at the budget μ² = `square`: all that was said by name, else the pairs of least error."""
    sizes = request.sizes
    singles: list[KeySet] = [one for one in request.sets if len(one) == 1]
    pairs: list[KeySet] = [one for one in request.sets if len(one) == 2]
    if request.given or not pairs:
        return _shared(request, square, singles + pairs)
    pairs.sort(key=lambda one: (sum(math.sqrt(sizes[place]) for place in one), one))
    steps = sorted({round(len(pairs) * step / _STEPS) for step in range(_STEPS + 1)}, reverse=True)
    tried = [_shared(request, square, singles + pairs[:count]) for count in steps]
    return min(tried, key=lambda one: one.expected)


def _shared(request: SyntheticRequest, square: float, sets: Sequence[KeySet]) -> BudgetShares:
    measured = closure_of(request.sizes, sets)
    roots = [math.sqrt(_price(request.sizes, part) * _energy(request, part)) for part in measured]
    total = math.fsum(roots)
    # σ² of a component in units of the totals, at its share of μ²
    sigmas = {
        part: request.change.size * math.sqrt(_price(request.sizes, part) * total / (root * square))
        for part, root in zip(measured, roots, strict=True)
    }
    return BudgetShares(measured, shares_of(roots), _expected(request, sigmas))


def _price(sizes: Sequence[int], part: KeySet) -> float:
    return math.prod((sizes[place] - 1) / sizes[place] for place in part)


def _energy(request: SyntheticRequest, part: KeySet) -> float:
    """Return how much variance 1 in a component adds to the tables that are asked, each weighed alike."""
    largest: list[KeySet] = [one for one in request.sets if len(one) == 2] or list(request.sets)
    held: list[KeySet] = [one for one in largest if set(one).issuperset(part)] or [part]
    return math.fsum(cell_factor(request.sizes, one, part) for one in held) * EXTRA.get(
        len(part), 1.0
    )


def _expected(request: SyntheticRequest, sigmas: dict[KeySet, float]) -> float:
    """Return the mean total variation expected of the pairs, or of single columns where no pairs are asked."""
    sizes, rows = request.sizes, request.size
    flat = [
        min(0.5, FLAT * sigmas.get((place,), 0.0) * size / rows) for place, size in enumerate(sizes)
    ]
    pairs = [one for one in request.sets if len(one) == 2]
    if not pairs:
        return math.fsum(flat) / len(flat)
    found = [
        _pair(sizes[a], sizes[b], sigmas[a, b] / rows)
        if (a, b) in sigmas
        else LOSS + flat[a] + flat[b]
        for a, b in pairs
    ]
    return math.fsum(min(1.0, one) for one in found) / len(found)


def _pair(rows: int, columns: int, noise: float) -> float:
    """Return the total variation expected of a pair, `noise` a part of all rows on each cell."""
    return min(
        NOISE * rows * columns * noise,
        math.pow(noise * (math.sqrt(rows) + math.sqrt(columns)), POWER),
    )
