"""Totals of a tally in arrays, where the last key has too many values to be listed.

A quantile may count a hundred thousand cells. A dictionary of so many cells takes longer to make
than the store takes to count them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from ..domains.domain import Values

NULL = -(1 << 63)
"""The number in an array that stands for NULL: no cell has it."""
Array: TypeAlias = Any
"""A one-dimensional array of 64-bit integers."""
Arrays: TypeAlias = tuple[Array, Array]
"""Values of the last key, in order and each once, and their totals."""


class OpenTotals(Mapping[Values, tuple[int, ...]]):
    """Totals of one term: for the values of all keys but the last, two arrays by the last key.

    The arrays hold the whole numbers of the last key and their totals. Read as a mapping, it has
    for the values of all keys a tuple of one total.

    >>> import numpy as np
    >>> from discreet.query.algebra.open_totals import OpenTotals
    >>> dict(OpenTotals({("a",): (np.array([3, 7]), np.array([10, 20]))}))
    {('a', 3): (10,), ('a', 7): (20,)}
    """

    def __init__(self, arrays: Mapping[Values, Arrays]) -> None:
        self.arrays = arrays

    @cached_property
    def _totals(self) -> dict[Values, tuple[int, ...]]:
        totals: dict[Values, tuple[int, ...]] = {}
        for key, (numbers, sums) in self.arrays.items():
            for number, total in zip(numbers.tolist(), sums.tolist(), strict=True):
                totals[*key, None if number == NULL else number] = (total,)
        return totals

    def __getitem__(self, key: Values) -> tuple[int, ...]:
        return self._totals[key]

    def __iter__(self) -> Iterator[Values]:
        return iter(self._totals)

    def __len__(self) -> int:
        return len(self._totals)

    def __repr__(self) -> str:
        return repr(self._totals)
