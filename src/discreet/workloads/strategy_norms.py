"""Sensitivity of a strategy: exact whole norms of the columns of its matrix.

Let x be the exact totals of the finest cells and A the matrix of one block, of whole numbers. A
unit changes x by δ, and

    add-remove   ‖Aδ‖ ≤ Σ_c |δ_c|·‖A_c‖ ≤ size·max_c ‖A_c‖, with size ≥ ‖δ‖₁, in every norm
    replace      δ is a difference of two such changes. Their rows pair up, v·A_a − w·A_b with
                 0 ≤ v, w ≤ 1 each, convex in (v, w), so largest at a corner:
                 size·max(‖A_a − A_b‖, ‖A_a‖). Where totals may fall and rise (signed) only
                 size·2·max ‖A_c‖ holds
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.measures import ADD_REMOVE, Neighbours

Integers = NDArray[np.int64]
AnyIntegers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""Whole numbers of 64 bits, or Python's own where these might overflow."""

# Entries and rows below these bounds keep sums of squares of a column within 64 bits.
_MAX_ENTRY = 2**20
_MAX_ROWS = 2**22
MAX_SUM = 2**61
"""Sums below this bound cannot overflow 64 bits, with two bits to spare."""


@frozen
class StrategyNorms:
    """Largest change of the exact totals of the finest cells by one unit: `size` steps in all.

    `neighbours` is the neighbour relation. `signed`: one unit may raise a total and another lower
    it, as in sums of positive and negative values.
    """

    size: int = 1
    neighbours: Neighbours = ADD_REMOVE
    signed: bool = False


@frozen
class Block:
    """Rows that get noise of one scale: `rows` whole numbers, and the norms of their columns.

    `l1`, `square` (of l2) and `linf` are the largest of any column. `touched` is the number of rows
    that one column reaches, `pair` the largest ‖A_a − A_b‖² of two columns. `mixed`: some entry is
    negative.
    """

    name: str
    rows: int
    l1: int
    square: int
    linf: int
    touched: int
    pair: int
    mixed: bool = False

    def times(self, grid: int) -> Block:
        """Return the norms when every row is multiplied: the same numbers on a finer grid."""
        return replace(
            self,
            l1=self.l1 * grid,
            square=self.square * grid**2,
            linf=self.linf * grid,
            pair=self.pair * grid**2,
        )

    def sensitivity(self, change: StrategyNorms) -> Sensitivity:
        """Return the sensitivity of the block to one unit.

        >>> from discreet.workloads.strategy_norms import Block, StrategyNorms
        >>> table = Block("table", rows=9, l1=1, square=1, linf=1, touched=1, pair=2)
        >>> table.sensitivity(StrategyNorms()).l1
        Fraction(1, 1)
        >>> table.sensitivity(StrategyNorms(3, "replace")).squared_l2
        Fraction(18, 1)

        Guarantee: no unit changes the block by more, in any of the norms.

        Refuses: a change of nothing (InvalidArgument).

        Law: tests/workloads/test_strategies.py::TestSensitivity
        """
        size = whole(change.size, "size", least=1)
        touched = self.touched * size
        if change.neighbours == ADD_REMOVE:
            changed = max(min(touched, self.rows), self.touched)
            l1 = self.l1 * size
            squared_l2 = self.square * size**2
            return Sensitivity(l1, squared_l2, self.linf * size, ADD_REMOVE, changed)
        square = max(self.pair, self.square)
        if change.signed:
            # Two changes may point in opposite directions: twice the norm, four times its square.
            square = 4 * self.square
        linf = self.linf
        if change.signed or self.mixed:
            # No entry exceeds the l2 norm; `isqrt` rounds down, which whole entries allow.
            linf = min(2 * self.linf, math.isqrt(square))
        changed = max(min(2 * touched, self.rows), 4 * self.touched)
        l1 = 2 * self.l1 * size
        squared_l2 = square * size**2
        return Sensitivity(l1, squared_l2, linf * size, change.neighbours, changed)


def cell_block(name: str, rows: int) -> Block:
    """Return the norms of a table as it is: a unit lies in one of its cells."""
    # Under replace a unit may leave one cell and enter another, if there is another.
    pair = 2 if rows > 1 else 1
    return Block(name, rows, 1, 1, 1, 1, pair)


def largest(values: AnyIntegers) -> int:
    """Return the largest absolute value of whole numbers, as a Python integer; 0 if there are none.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import largest
    >>> largest(np.array([3, -(2**63)]))
    9223372036854775808
    """
    # Not `np.abs`: the size of −2^63 does not fit into 64 bits.
    lowest = int(values.min(initial=0))
    highest = int(values.max(initial=0))
    return max(abs(lowest), abs(highest))


def widened(values: Integers) -> Integers:
    """Return whole numbers whose sum cannot overflow: Python integers where 64 bits might not do.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import widened
    >>> int(widened(np.array([2**62, 2**62])).sum()) == 2**63
    True
    """
    if fits_64_bits(values, max(1, values.size)):
        return values
    return values.astype(object)


def fits_64_bits(values: AnyIntegers, factor: int) -> bool:
    """Return whether whole numbers times `factor`, or sums of `factor` of them, fit 64 bits."""
    return values.dtype != object and largest(values) * factor < MAX_SUM


def block_of(name: str, matrix: Integers) -> Block:
    """Return the exact norms of a whole matrix.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import block_of
    >>> found = block_of("prefixes", np.tril(np.ones((3, 3), dtype=np.int64)))
    >>> found.l1, found.square, found.linf
    (3, 3, 1)

    Refuses: entries of 2^20 or more, 2^22 or more rows, and a matrix of zeros (InvalidArgument).
    """
    size = np.abs(matrix)
    rows = matrix.shape[0]
    if not size.any() or int(size.max()) >= _MAX_ENTRY or rows >= _MAX_ROWS:
        raise InvalidArgument(
            "a strategy is a whole matrix, not all zeros, of entries below 2**20 and 2**22 rows"
        )
    l1 = int(size.sum(axis=0).max())
    square = int((size**2).sum(axis=0).max())
    linf = int(size.max())
    touched = int((size > 0).sum(axis=0).max())
    mixed = bool((matrix < 0).any())
    # ‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩, and ⟨a, b⟩ ≥ 0 unless some entry is negative.
    pair = 4 * square if mixed else 2 * square
    return Block(name, rows, l1, square, linf, touched, pair, mixed)
