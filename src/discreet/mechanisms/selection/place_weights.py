"""What a place counts by itself where MIN or MAX is chosen: the less the further out it lies, so that loose bounds do
little harm.

All places beyond the outermost row M are as good as each other, up to the public bound B. If each number counted alike,
one of them would be chosen most of the time, anywhere from M to B: off by B/√3. Let a number x count x^−a. Then what
those beyond M add to the mean square error is ∫(x − M)²x^−a over ∫x^−a, from M to B: about M·B for a = 2, and about M²
however far out B lies for a = 4, the least whole number for which it stays finite. That has a price: numbers below M
count for more, 2^a times for each halving, which a·ln 2 rows outweigh at ε = 1. Where B is tight and the outermost rows
lie far apart, a = 4 loses up to a half by that. So a is 2 over the first doublings below the bound, about two, where it
may well be tight, and 4 over the next ones; six in all, and none on grids of less than 256 steps, whose bounds cannot
be loose by much. docs/decisions/0040 has the exact laws beside those of gaps that count by their lengths (a = 0).

It is a fixed public number for every place, the same whatever the data, so it changes no price. In sixteenths i of a
doubling it is ⌊2^(12+4a)/(16 + i)^a⌋ times 2^a for each doubling nearer, times the number of steps in a cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from ...frozen import frozen
from .score_runs import Piece

MOST_DOUBLINGS = 6
_GENTLE, _STEEP = 2, 4
_SMALL = 7
"""Grids of less than 2^(7 + 1) steps are left alone."""


@frozen
class PlaceWeights:
    """What every place counts, if a cell of `bound` is the last one; cells double in width after every `size` of them.

    Cells are counted from 0, both ways; of less than two `size` each is one step. A cell has `parts` places. Places
    differ over so many `doublings` below the bound; 0: they all count alike.

    >>> from discreet.mechanisms.selection.place_weights import PlaceWeights
    >>> from discreet.mechanisms.selection.score_runs import Piece
    >>> [(part.start, part.length, part.each) for part in PlaceWeights(9, 16, 1).cut(Piece(-2, 12, 0))]
    [(-2, 6, 16384), (4, 1, 16384), (5, 1, 10484), (6, 1, 7280), (7, 1, 5348), (8, 1, 4096), (9, 1, 3236)]
    >>> list(PlaceWeights(0, 0).cut(Piece(-3, 30, 0)))
    [Piece(start=-3, length=30, depth=0, each=1)]
    """

    bound: int
    size: int
    doublings: int = 0
    parts: int = 1

    @classmethod
    def beyond(cls, bound: int, size: int, parts: int = 1) -> PlaceWeights:
        """Return what places count below a bound: all alike where there is none, or the grid is small."""
        if not bound or not size:
            return ALIKE
        doublings = min(MOST_DOUBLINGS, _rung(abs(bound), size)[0] - _SMALL)
        return cls(bound, size, doublings, parts) if doublings > 0 else ALIKE

    @property
    def spread(self) -> float:
        """How many e-folds more one place counts than another, at most."""
        return _spread(self.bound, self.size, self.doublings)

    def cut(self, piece: Piece) -> Iterator[Piece]:
        """Cut a piece where its places begin to count less or more."""
        start, stop = piece.start, piece.start + piece.length
        while start < stop:
            cell = start // self.parts
            end = min(stop, self._turn(cell) * self.parts) if self.doublings else stop
            yield Piece(
                start, end - start, piece.depth, self._each(abs(cell)) if self.doublings else 1
            )
            start = end

    def _inner(self) -> int:
        """Return the first cell from which on places differ."""
        low = _rung(abs(self.bound), self.size)[0] - self.doublings
        wide = self.size.bit_length() - 1
        return 1 << low if low <= wide else (low - wide + 1) * self.size

    def _turn(self, cell: int) -> int:
        """Return the first cell from here on that may count otherwise."""
        inner = self._inner()
        if -inner < cell < inner:
            return inner
        power, steps = _split(abs(cell), self.size)
        unit, part = 1 << steps.bit_length() - 1, _rung(abs(cell), self.size)[1] + 16
        if cell < 0:
            return 1 - max(power * self.size - (-part * unit // 16), inner)
        return power * self.size - (-(part + 1) * unit // 16)

    def _each(self, cell: int) -> int:
        if cell < self._inner():
            return self._most()
        bound = _rung(abs(self.bound), self.size)
        here, part = min(bound, _rung(cell, self.size))
        nearer = bound[0] - here
        power = _GENTLE if nearer < self._gentle() else _STEEP
        below = math.prod([16 + part] * power)
        return (1 << 12 + 4 * power) // below << self._folds(nearer)

    def _most(self) -> int:
        return 1 << 12 + self._folds(self.doublings)

    def _gentle(self) -> int:
        """Return over how many doublings places differ little: one and a half to two and a half below the bound."""
        return 2 + (_rung(abs(self.bound), self.size)[1] < 8)

    def _folds(self, nearer: int) -> int:
        """Return how often cells count twice as much where a doubling begins that is so many nearer than the bound."""
        last = _rung(abs(self.bound), self.size)[0]
        gentle = min(nearer, self._gentle() - 1)
        narrower = self._widths(last) - self._widths(last - nearer)
        return _GENTLE * gentle + _STEEP * (nearer - gentle) - narrower

    def _widths(self, doubling: int) -> int:
        """Return how often cells were doubled in width up to a doubling of their numbers."""
        return max(0, doubling - (self.size.bit_length() - 1))


@lru_cache(maxsize=256)  # asked for by every plan of a question
def _spread(bound: int, size: int, doublings: int) -> float:
    found = [
        piece.each
        for piece in PlaceWeights(bound, size, doublings).cut(Piece(0, abs(bound) + 1, 0))
    ]
    return math.log(max(found) / min(found))


def _split(cell: int, size: int) -> tuple[int, int]:
    """Return how often a cell is doubled, and its number among cells that were not."""
    power = max(0, cell // size - 1)
    return power, cell - power * size


def _rung(cell: int, size: int) -> tuple[int, int]:
    """Return the doubling that a cell above 0 lies in, and the sixteenth of it."""
    power, steps = _split(cell, size)
    whole = steps.bit_length() - 1
    return power + whole, (steps * 16 >> whole) - 16


ALIKE = PlaceWeights(0, 0)
"""All places count the same."""
