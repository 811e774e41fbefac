"""How much one unit can move what a strategy measures: exact whole norms of its columns.

Let x be the exact totals of the finest cells and A the whole matrix of one block. A unit moves x by δ, and

    add-remove   ‖Aδ‖ ≤ Σ_c |δ_c|·‖A_c‖ ≤ size·max_c ‖A_c‖, with size ≥ ‖δ‖₁, in every norm
    replace      δ is a difference of two such moves. Their rows pair up, v·A_a − w·A_b with 0 ≤ v, w ≤ 1 each, convex
                 in (v, w), so largest at a corner: size·max(‖A_a − A_b‖, ‖A_a‖). Where totals may fall and rise
                 (signed) only size·2·max ‖A_c‖ holds
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.neighbours import ADD_REMOVE, Neighbours

Integers = NDArray[np.int64]


@frozen
class StrategyNorms:
    """How one unit moves the exact totals of the finest cells: by at most `size` whole steps in all.

    `signed`: one unit may raise a total and another lower it, as sums of values on both sides of 0 do.
    """

    size: int = 1
    neighbours: Neighbours = ADD_REMOVE
    signed: bool = False


@frozen
class Block:
    """What one kind of noise of one scale is added to: `rows` whole numbers, and the norms of the columns behind them.

    `l1`, `square` (of l2) and `linf` are the largest of any column; `touched` how many rows one column reaches; `pair`
    the largest ‖A_a − A_b‖² of two columns. `mixed`: some entry is negative.
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
        """Return how much one unit moves the block.

        >>> from discreet.workloads.strategy_norms import Block, StrategyNorms
        >>> table = Block("table", rows=9, l1=1, square=1, linf=1, touched=1, pair=2)
        >>> table.sensitivity(StrategyNorms()).l1, table.sensitivity(StrategyNorms(3, "replace")).squared_l2
        (Fraction(1, 1), Fraction(18, 1))

        Refuses a change of nothing.
        """
        size, near = whole(change.size, "size", least=1), change.neighbours
        reach = self.touched * size
        if near == ADD_REMOVE:
            norms = (self.l1 * size, self.square * size**2, self.linf * size)
            return Sensitivity(*norms, near, max(min(reach, self.rows), self.touched))
        square = 4 * self.square if change.signed else max(self.pair, self.square)
        linf = min(2 * self.linf, math.isqrt(square)) if change.signed or self.mixed else self.linf
        norms = (2 * self.l1 * size, square * size**2, linf * size)
        return Sensitivity(*norms, near, max(min(2 * reach, self.rows), 4 * self.touched))


def largest(values: Integers | NDArray[np.object_]) -> int:
    """Return the largest size among whole numbers, as Python's own; 0 if there are none.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import largest
    >>> largest(np.array([3, -(2**63)]))
    9223372036854775808
    """
    return max(abs(int(values.min(initial=0))), abs(int(values.max(initial=0))))


def roomy(values: Integers) -> Integers:
    """Return whole numbers whose sum 64 bits hold, as Python's own where they might not.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import roomy
    >>> int(roomy(np.array([2**62, 2**62])).sum()) == 2**63
    True
    """
    wide = values.dtype == object or largest(values) * max(1, values.size) >= 2**61
    return values.astype(object) if wide else values


def block_of(name: str, matrix: Integers) -> Block:
    """Return the exact norms of a whole matrix.

    >>> import numpy as np
    >>> from discreet.workloads.strategy_norms import block_of
    >>> found = block_of("prefixes", np.tril(np.ones((3, 3), dtype=np.int64)))
    >>> found.l1, found.square, found.linf
    (3, 3, 1)

    Refuses a matrix whose norms leave 64 bits, and one of zeros.
    """
    size = np.abs(matrix)
    if not size.any() or int(size.max()) >= 2**20 or matrix.shape[0] >= 2**22:
        raise InvalidArgument(
            "a strategy is a whole matrix, not all zeros, of entries below 2**20 and 2**22 rows"
        )
    square = int((size**2).sum(axis=0).max())
    mixed = bool((matrix < 0).any())
    touched = int((size > 0).sum(axis=0).max())
    facts = int(size.sum(axis=0).max()), square, int(size.max()), touched
    return Block(name, matrix.shape[0], *facts, 4 * square if mixed else 2 * square, mixed)
