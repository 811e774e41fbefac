"""Least-squares estimate from which all tables are computed; their sums agree to the last digit.

The estimate holds a noisy version r_A of every component A (the contrasts over a set of keys, see
`budget_shares`), in whole multiples of 2^-20. The table of a set S is Σ_{A ⊆ S} P_A r_A spread
evenly over the other keys, P_A = ⊗(I − 11ᵀ/n). In whole numbers

    ∏_S n · table_S = Σ_{A ⊆ S} ⊗_A (n·I − 11ᵀ) r_A

Summing over a key of S removes the components that contain it and multiplies the others by n:
margins are exact. All of this is post-processing of released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..arithmetic.arrays import AnyArray, Floats, Integers
from ..frozen import frozen
from .budget_shares import cell_factor
from .strategy_norms import MAX_SUM, AnyIntegers, fits_64_bits, largest, widened
from .workload import KeySet, axes_beyond, cells_of, maximal_sets, shape_of, spread_shape

STEP = 2**20
"""Estimates are whole multiples of 1/STEP."""


@frozen(eq=False)
class ExactTable:
    """A table of exact fractions with one denominator."""

    numerators: AnyIntegers
    denominator: int

    @property
    def values(self) -> Floats:
        """The table in floats, each rounded once."""
        if self.numerators.dtype != object:
            return np.asarray(self.numerators / self.denominator, dtype=np.float64)
        # Python integers may exceed floats: each fraction is formed exactly before it is rounded.
        rounded = []
        for numerator in self.numerators.flat:
            rounded.append(float(Fraction(int(numerator), self.denominator)))
        return np.array(rounded).reshape(self.numerators.shape)

    def sum(self, axes: tuple[int, ...]) -> ExactTable:
        """Return the sums over some axes, exactly."""
        return ExactTable(np.asarray(self.numerators.sum(axis=axes)), self.denominator)

    def same(self, other: ExactTable) -> bool:
        """Return whether two tables hold the same numbers, to the last digit."""
        # Python integers: products of two 64-bit numbers do not fit into 64 bits.
        left = self.numerators.astype(object) * other.denominator
        right = other.numerators.astype(object) * self.denominator
        return bool(np.array_equal(left, right))


def to_steps(values: Floats) -> Integers:
    """Round an estimate to whole multiples of 1/STEP; Python integers where 64 bits may overflow.

    Rounding happens after the noise was added, so that privacy does not depend on it.
    """
    rounded = np.rint(np.asarray(values, dtype=np.float64) * STEP)
    if float(np.abs(rounded).max(initial=0.0)) < MAX_SUM:
        return np.asarray(rounded, dtype=np.int64)
    wide = np.array(list(map(int, rounded.ravel().tolist())), dtype=object)
    return wide.reshape(rounded.shape)


def contrast(table: Integers) -> AnyIntegers:
    """Apply n·I − 11ᵀ along every axis of a table of whole numbers.

    >>> import numpy as np
    >>> from discreet.workloads.estimate import contrast
    >>> contrast(np.array([[5, 1], [0, 0]])).tolist()
    [[4, -4], [-4, 4]]
    """
    found: AnyArray = table
    # Along an axis of n values a number grows by at most 2n: beyond 64 bits use Python integers.
    growth = 2**table.ndim * table.size
    if not fits_64_bits(table, growth):
        found = table.astype(object)
    for axis, size in enumerate(table.shape):
        found = found * size - found.sum(axis=axis, keepdims=True)
    return np.asarray(found)


def sum_to(tables: Mapping[KeySet, Integers], part: KeySet) -> Integers:
    """Return the exact table of a set of keys from the smallest table that has all of them.

    Tables have one axis for each key, in order.
    """
    sources = [keys for keys in tables if set(keys).issuperset(part)]
    source = min(sources, key=lambda keys: tables[keys].size)
    return np.asarray(widened(tables[source]).sum(axis=axes_beyond(source, part)))


def covers(sizes: Sequence[int], sets: Sequence[KeySet], most: int) -> tuple[KeySet, ...]:
    """Return a few sets of keys; each asked set lies within one of them.

    Small tables are joined up to `most` cells.

    >>> from discreet.workloads.estimate import covers
    >>> covers((2, 3, 4, 1000), [(0, 1), (0, 2), (1, 2), (0, 3)], 1024)
    ((0, 3), (0, 1, 2))
    """
    left = set(maximal_sets(sets))
    covering: list[KeySet] = []
    while left:
        first = max(left, key=lambda keys: (cells_of(sizes, keys), keys))
        joined = set(first)
        added = _next_key(sizes, left, joined, most)
        while added is not None:
            joined.add(added)
            added = _next_key(sizes, left, joined, most)
        covering.append(tuple(sorted(joined)))
        left = {keys for keys in left if not joined.issuperset(keys)}
    return tuple(covering)


def _next_key(
    sizes: Sequence[int], left: set[KeySet], joined: set[int], max_cells: int
) -> int | None:
    """Return the key that completes the most sets in a joined table; None if none does.

    Of equals the key with the fewest values is taken, then the first.
    """
    max_size = max_cells // cells_of(sizes, joined)
    best: int | None = None
    best_rank = (0, 0)
    for place, size in enumerate(sizes):
        if place in joined or size > max_size:
            continue
        completed = 0
        for keys in left:
            if place in keys and joined.issuperset(set(keys) - {place}):
                completed += 1
        rank = (completed, -size)
        if completed and (best is None or rank > best_rank):
            best = place
            best_rank = rank
    return best


def cell_variance(sizes: Sequence[int], asked: KeySet, variances: Mapping[KeySet, float]) -> float:
    """Return the variance of one cell of a table from the variances of all components."""
    held = set(asked)
    terms: list[float] = []
    for part, variance in variances.items():
        if held.issuperset(part):
            terms.append(variance * cell_factor(sizes, asked, part))
    return math.fsum(terms)


@frozen(eq=False)
class ComponentEstimate:
    """Noisy components by their sets of keys, in multiples of 1/STEP, and their variances.

    A variance is that of one number of the component before its projection.

    Guarantee: every table of one estimate adds up with every other, to the last digit.

    Law: tests/workloads/test_strategies.py::TestEstimates
    """

    sizes: tuple[int, ...]
    parts: Mapping[KeySet, Integers]
    variances: Mapping[KeySet, float]

    def table(self, asked: Sequence[int]) -> ExactTable:
        """Return the table of a set of keys."""
        keys = tuple(sorted(asked))
        shape = shape_of(self.sizes, keys)
        total: AnyIntegers = np.zeros(shape, dtype=np.int64)
        for part, noisy in self.parts.items():
            if set(keys).issuperset(part):
                spread = spread_shape(self.sizes, keys, part)
                total = _add(total, contrast(noisy).reshape(spread))
        return ExactTable(total, STEP * math.prod(shape))

    def variance(self, asked: Sequence[int]) -> float:
        """Return the variance of one cell of a table; all its cells have the same."""
        keys = tuple(sorted(asked))
        known = {part: self.variances[part] for part in self.parts}
        return cell_variance(self.sizes, keys, known)


def _add(total: AnyIntegers, more: AnyIntegers) -> AnyIntegers:
    # Sums that may overflow 64 bits are formed with Python integers.
    if object not in (total.dtype, more.dtype) and largest(total) + largest(more) < MAX_SUM:
        return np.asarray(total + more)
    return np.asarray(total.astype(object) + more.astype(object))
