"""One least-squares estimate, from which all tables follow and add up to the last digit.

The estimate holds a noisy version r_A of every component A (a set of keys), in whole multiples of 2^-20. The table of a
set S is Σ_{A ⊆ S} P_A r_A spread evenly over the other keys, P_A = ⊗(I − 11ᵀ/n): in whole numbers

    ∏_S n · table_S = Σ_{A ⊆ S} ⊗_A (n·I − 11ᵀ) r_A

and summing over a key of S kills the components that hold it and multiplies the others by n: margins are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..frozen import frozen
from .budget_shares import Floats, one_cell
from .strategy_norms import Integers, largest, roomy
from .workload import KeySet

STEP = 2**20
"""Estimates are whole multiples of 1/STEP."""
_ROOM = 2**61


@frozen(eq=False)
class ExactTable:
    """A table of exact fractions with one denominator."""

    numerators: NDArray[np.int64] | NDArray[np.object_]
    denominator: int

    @property
    def values(self) -> Floats:
        """The table in floats, each rounded once."""
        if self.numerators.dtype == object:
            return np.array(
                [float(Fraction(int(n), self.denominator)) for n in self.numerators.flat]
            ).reshape(self.numerators.shape)
        return np.asarray(self.numerators / self.denominator, dtype=np.float64)

    def sum(self, axes: tuple[int, ...]) -> ExactTable:
        """Return the sums over some axes, exactly."""
        return ExactTable(np.asarray(self.numerators.sum(axis=axes)), self.denominator)

    def same(self, other: ExactTable) -> bool:
        """Return whether two tables hold the same numbers, to the last digit."""
        left, right = self.numerators.astype(object), other.numerators.astype(object)
        return bool(np.array_equal(left * other.denominator, right * self.denominator))


def to_steps(values: Floats) -> Integers:
    """Round an estimate to whole multiples of 1/STEP: after the noise, so nothing private hangs on it.

    They are Python's own integers where 64 bits do not hold them.
    """
    near = np.rint(np.asarray(values, dtype=np.float64) * STEP)
    if float(np.abs(near).max(initial=0.0)) < _ROOM:
        return np.asarray(near, dtype=np.int64)
    wide = np.array([int(value) for value in near.ravel().tolist()], dtype=object)
    return wide.reshape(near.shape)


def contrast(table: NDArray[np.int64]) -> NDArray[np.int64] | NDArray[np.object_]:
    """Apply n·I − 11ᵀ along every axis of a table of whole numbers.

    >>> import numpy as np
    >>> from discreet.workloads.estimate import contrast
    >>> contrast(np.array([[5, 1], [0, 0]])).tolist()
    [[4, -4], [-4, 4]]
    """
    found = (
        table.astype(object)
        if largest(table) * math.prod(2 * n for n in table.shape) >= _ROOM
        else table
    )
    for axis, size in enumerate(table.shape):
        found = found * size - found.sum(axis=axis, keepdims=True)
    return np.asarray(found)


def sum_to(tables: Mapping[KeySet, Integers], part: KeySet) -> Integers:
    """Return the exact table of a set of keys from a table that holds it; tables have one axis a key, in order."""
    source = min((s for s in tables if set(s).issuperset(part)), key=lambda s: tables[s].size)
    exact = roomy(tables[source])
    return np.asarray(exact.sum(axis=tuple(at for at, key in enumerate(source) if key not in part)))


def covers(sizes: Sequence[int], sets: Sequence[KeySet], most: int) -> tuple[KeySet, ...]:
    """Return few sets of keys that hold all that are asked: small tables are joined up to `most` cells.

    >>> from discreet.workloads.estimate import covers
    >>> covers((2, 3, 4, 1000), [(0, 1), (0, 2), (1, 2), (0, 3)], 1024)
    ((0, 3), (0, 1, 2))
    """
    left = {one for one in sets if not any(set(one) < set(other) for other in sets)}
    found = []
    while left:
        first = max(left, key=lambda one: (math.prod(sizes[place] for place in one), one))
        joined = set(first)
        while (more := _next(sizes, left, joined, most)) is not None:
            joined.add(more)
        found.append(tuple(sorted(joined)))
        left = {one for one in left if not joined.issuperset(one)}
    return tuple(found)


def _next(sizes: Sequence[int], left: set[KeySet], joined: set[int], most: int) -> int | None:
    """Return the key that brings the most sets into a joined table that stays small; None if none does."""
    room = most // math.prod(sizes[place] for place in joined)
    gains = {
        place: sum(1 for one in left if place in one and joined.issuperset(set(one) - {place}))
        for place in range(len(sizes))
        if place not in joined and sizes[place] <= room
    }
    best = max(gains, key=lambda place: (gains[place], -sizes[place]), default=None)
    return best if best is not None and gains[best] else None


@frozen(eq=False)
class ComponentEstimate:
    """Noisy components by their sets of keys, in multiples of 1/STEP, with the variance of each before projection."""

    sizes: tuple[int, ...]
    parts: Mapping[KeySet, Integers]
    variances: Mapping[KeySet, float]

    def table(self, asked: Sequence[int]) -> ExactTable:
        """Return the table of a set of keys; every table of one estimate adds up with every other."""
        keys = tuple(sorted(asked))
        shape = tuple(self.sizes[i] for i in keys)
        total: NDArray[np.object_] | NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        for part, noisy in self.parts.items():
            if set(keys).issuperset(part):
                spread = tuple(self.sizes[i] if i in part else 1 for i in keys)
                total = _add(total, contrast(noisy).reshape(spread))
        return ExactTable(total, STEP * math.prod(shape))

    def variance(self, asked: Sequence[int]) -> float:
        """Return the variance of one cell of a table; all its cells have the same."""
        keys = tuple(sorted(asked))
        held = [part for part in self.parts if set(keys).issuperset(part)]
        return math.fsum(self.variances[part] * one_cell(self.sizes, keys, part) for part in held)


def _add(
    total: NDArray[np.int64] | NDArray[np.object_], more: NDArray[np.int64] | NDArray[np.object_]
) -> NDArray[np.int64] | NDArray[np.object_]:
    if object not in (total.dtype, more.dtype) and largest(total) + largest(more) < _ROOM:
        return np.asarray(total + more)
    return np.asarray(total.astype(object) + more.astype(object))
