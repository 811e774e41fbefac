"""Public weights for private MIN and MAX: candidates nearer to the declared bound weigh less.

So loose declared bounds cost little accuracy. The weights do not depend on data, so they change no
privacy price.

All places beyond the outermost row M have the same score, up to the public bound B. If each number
weighed the same, one of them would be chosen most of the time, anywhere from M to B: an error of
B/√3. Let a number x weigh x^−a. Then the places beyond M add ∫(x − M)²x^−a over ∫x^−a, from M to
B, to the mean square error: about M·B for a = 2, and about M² however far out B lies for a = 4, the
least whole number for which it stays finite.

That has a price: numbers below M weigh more, 2^a times for each halving, which a·ln 2 rows outweigh
at ε = 1. Where B is tight and the outermost rows lie far apart, a = 4 loses up to a half by that.

| doublings below the bound | a | reason |
|---|---|---|
| the first, about two | 2 | there the bound may well be tight |
| the next, six in all | 4 | there it is loose |
| grids of less than 256 steps | 0 | their bounds cannot be loose by much |

docs/decisions/0040 has the exact laws beside those of gaps that weigh by their lengths (a = 0).

In sixteenths i of a doubling the weight is ⌊2^(12+4a)/(16 + i)^a⌋ times 2^a for each doubling
nearer, times the number of steps in a cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from ...frozen import frozen
from .score_runs import Piece

MAX_DOUBLINGS = 6
"""Doublings below the bound over which weights differ."""
_GENTLE = 2
_STEEP = 4
_SMALL_GRID = 7
"""Grids of less than 2^(7 + 1) steps get equal weights."""
_SIXTEENTHS = 16
_WEIGHT_BITS = 12
"""The weight at the bound is about 2^12, so that whole numbers are fine enough."""


@frozen
class PlaceWeights:
    """Public weights of all places up to the last cell `bound`.

    Cells are counted from 0, both ways, and double in width after every `size` of them; below two
    `size` each cell is one step. A cell has `parts` places. Weights differ over so many
    `doublings` below the bound; with 0 they are all equal.

    >>> from discreet.mechanisms.selection.place_weights import PlaceWeights
    >>> from discreet.mechanisms.selection.score_runs import Piece
    >>> [(part.start, part.length, part.each) for part in PlaceWeights(9, 16, 1).cut(Piece(-2, 12, 0))]
    [(-2, 6, 16384), (4, 1, 16384), (5, 1, 10484), (6, 1, 7280), (7, 1, 5348), (8, 1, 4096), (9, 1, 3236)]
    >>> list(PlaceWeights(0, 0).cut(Piece(-3, 30, 0)))
    [Piece(start=-3, length=30, depth=0, each=1)]

    Guarantee: the weights depend on public numbers only, so they change no price.
    Law: tests/mechanisms/test_place_weights.py::TestFar,
    tests/mechanisms/test_split_quantiles.py::TestThePrice
    """

    bound: int
    size: int
    doublings: int = 0
    parts: int = 1

    @classmethod
    def beyond(cls, bound: int, size: int, parts: int = 1) -> PlaceWeights:
        """Return the weights of places below a bound; equal ones on small grids or without one."""
        if not bound or not size:
            return EQUAL_WEIGHTS
        last_doubling, _ = _doubling_of(abs(bound), size)
        doublings = min(MAX_DOUBLINGS, last_doubling - _SMALL_GRID)
        if doublings <= 0:
            return EQUAL_WEIGHTS
        return cls(bound, size, doublings, parts)

    @property
    def spread(self) -> float:
        """The logarithm of the largest weight over the least."""
        return _spread(self.bound, self.size, self.doublings)

    def cut(self, piece: Piece) -> Iterator[Piece]:
        """Cut a piece into pieces of equal weight."""
        start = piece.start
        stop = piece.start + piece.length
        while start < stop:
            # With equal weights the piece stays as it is.
            end = stop
            weight = 1
            if self.doublings:
                cell = start // self.parts
                end = min(stop, self._next_change(cell) * self.parts)
                weight = self._weight(abs(cell))
            yield Piece(start, end - start, piece.depth, weight)
            start = end

    @property
    def _bound_doubling(self) -> tuple[int, int]:
        """The doubling that the bound lies in, and the sixteenth of it."""
        return _doubling_of(abs(self.bound), self.size)

    def _first_differing(self) -> int:
        """Return the first cell from which on weights differ."""
        last_doubling, _ = self._bound_doubling
        doubling = last_doubling - self.doublings
        width_bits = self.size.bit_length() - 1
        if doubling <= width_bits:
            return 1 << doubling
        return (doubling - width_bits + 1) * self.size

    def _next_change(self, cell: int) -> int:
        """Return the first cell from here on that may have another weight."""
        inner = self._first_differing()
        if -inner < cell < inner:
            return inner
        power, steps = _narrow_cell(abs(cell), self.size)
        unit = 1 << steps.bit_length() - 1
        _, sixteenth = _doubling_of(abs(cell), self.size)
        part = sixteenth + _SIXTEENTHS
        base = power * self.size
        # −(−a // 16) rounds up: the first cell at or beyond the end of the sixteenth.
        if cell < 0:
            edge = base - (-part * unit // _SIXTEENTHS)
            return 1 - max(edge, inner)
        return base - (-(part + 1) * unit // _SIXTEENTHS)

    def _weight(self, cell: int) -> int:
        """Return the weight of a place of a cell at distance `cell` from 0."""
        if cell < self._first_differing():
            return 1 << _WEIGHT_BITS + self._log_growth(self.doublings)
        bound = self._bound_doubling
        doubling, sixteenth = min(bound, _doubling_of(cell, self.size))
        nearer = bound[0] - doubling
        power = _GENTLE if nearer < self._gentle_doublings() else _STEEP
        falling = math.prod([_SIXTEENTHS + sixteenth] * power)
        within_doubling = (1 << _WEIGHT_BITS + 4 * power) // falling
        return within_doubling << self._log_growth(nearer)

    def _gentle_doublings(self) -> int:
        """Return the number of doublings with a = 2: one and a half to two and a half."""
        _, sixteenth = self._bound_doubling
        return 2 + (sixteenth < 8)

    def _log_growth(self, nearer: int) -> int:
        """Return log2 of the growth of weights over `nearer` doublings below that of the bound."""
        last_doubling, _ = self._bound_doubling
        gentle = min(nearer, self._gentle_doublings() - 1)
        steep = nearer - gentle
        # A cell is so many times narrower there, and so has fewer steps to weigh.
        narrower = self._log_width(last_doubling) - self._log_width(last_doubling - nearer)
        return _GENTLE * gentle + _STEEP * steep - narrower

    def _log_width(self, doubling: int) -> int:
        """Return log2 of the width of the cells in a doubling."""
        return max(0, doubling - (self.size.bit_length() - 1))


# Every plan of a question asks for the spread of the same few bounds.
@lru_cache(maxsize=256)
def _spread(bound: int, size: int, doublings: int) -> float:
    everything = Piece(0, abs(bound) + 1, 0)
    pieces = PlaceWeights(bound, size, doublings).cut(everything)
    weights = [piece.each for piece in pieces]
    return math.log(max(weights) / min(weights))


def _narrow_cell(cell: int, size: int) -> tuple[int, int]:
    """Return how often a cell is doubled in width, and its number among cells that are not."""
    power = max(0, cell // size - 1)
    return power, cell - power * size


def _doubling_of(cell: int, size: int) -> tuple[int, int]:
    """Return the doubling that a cell above 0 lies in, and the sixteenth of it."""
    power, steps = _narrow_cell(cell, size)
    log_steps = steps.bit_length() - 1
    sixteenth = (steps * _SIXTEENTHS >> log_steps) - _SIXTEENTHS
    return power + log_steps, sixteenth


EQUAL_WEIGHTS = PlaceWeights(0, 0)
"""Equal weights of all places."""
