"""Certified tables: from a word to a cell, by look-up, then by search, then exactly.

The cell of U is the number of thresholds t_j ≤ U. F_j = ⌊2^64·t_j⌋ is bounded by integers `low` ≤ F_j ≤ `high` ≤ low+1
(nearly always equal). A 64-bit word W settles the cell unless low_j ≤ W ≤ high_j for some j: then `settle` reads on.
The first 16 bits alone settle it unless some F_j begins with them: those words are marked CUT in the look-up table.
The list ends at the first F_j = 2^64 − 1: the endless rest of the cells lies behind that one word; `settle` finds it.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..frozen import frozen
from .exact_search import GUARD, STEP, settle
from .law import Integers, Law, cell, thresholds
from .random_words import RandomWords, Unsigned

CUT = -32768
_NEAR_TAIL = 10  # cells beyond all but 2^-10 of the mass take the careful path: the quick bound need not hold there


@frozen
class Widths:
    """How many bits each step reads; tests shrink them until every bit string can be tried."""

    top: int = 16
    word: int = 64
    accept: int = 16
    step: int = STEP

    def tail(self, shift: int) -> int:
        """Find the width of the word that holds the low bits and the first bits of the acceptance."""
        need = self.accept + shift
        if self.accept < 16:
            return need
        return 32 if need <= 32 else 64


WIDE = Widths()


@frozen(eq=False)
class LawTable:
    """All that is needed to draw from a law, certified once."""

    law: Law
    widths: Widths
    lookup: NDArray[np.int16]  # cell by the first bits of the word, or CUT
    low: NDArray[np.uint64]  # bounds of F_j
    high: NDArray[np.uint64]
    cells: Integers  # cell by index
    quick: int  # an acceptance word below this accepts at once, in every cell of `lookup` (shift > 0 only)

    def refine(self, tops: Unsigned, draw: RandomWords) -> Integers:
        """Find the cells of words that the look-up left open, reading the rest of each word."""
        rest = self.widths.word - self.widths.top
        words = (tops.astype(np.uint64) << np.uint64(rest)) | draw.words(tops.size, rest).astype(
            np.uint64
        )
        index = self.low.searchsorted(words, side="right")
        found = self.cells.take(index, mode="clip")
        for at in np.flatnonzero((index > 0) & (self.high.take(index - 1, mode="clip") >= words)):
            found[at] = self._exact(int(words[at]), draw)
        return found

    def _exact(self, word: int, draw: RandomWords) -> int:
        law, widths = self.law, self.widths
        found = cell(
            settle(word, widths.word, partial(thresholds, law), draw, step=widths.step), law.sides
        )
        return held(found, law.shift)


def held(h: int, shift: int) -> int:
    """Return h, if all integers of the cell h fit in 64 bits.

    A parameter in range leaves less than 2^-11000 of the mass outside; such a draw is refused, never wrapped. The
    refusal depends on the noise alone.

    >>> from discreet.noise.table import held
    >>> held(5, 3)
    5
    >>> held(2**60, 3)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the noise drawn does not fit in 64 bits (chance below 2^-11000); ask again
    """
    if not -(1 << 63) <= h << shift < 1 << 63:
        raise InvalidArgument(
            "the noise drawn does not fit in 64 bits (chance below 2^-11000); ask again"
        )
    return h


def build(law: Law, widths: Widths = WIDE) -> LawTable:
    """Certify the table of a law."""
    low, high = (np.array(bounds, np.uint64) for bounds in _floors(law, widths.word))
    order = np.arange(low.size + 1)
    cells = (order >> 1) ^ -(order & 1) if law.sides == 2 else order
    lookup = _lookup(widths, low, high, cells)
    quick = 1 << widths.accept
    if law.shift:
        quick, near = _quick(law, widths, low)
        lookup[int(low[near - 1]) >> (widths.word - widths.top) :] = CUT
    return LawTable(law, widths, lookup, low, high, cells, quick)


def _floors(law: Law, width: int) -> tuple[list[int], list[int]]:
    """Bound F_j = ⌊2^width·t_j⌋ up to the first that is all ones, with the precision that makes the bounds meet."""
    precision, last = width, (1 << width) - 1
    while True:
        precision += GUARD
        low, high, wide = list[int](), list[int](), False
        spare = precision - width
        for a, b in thresholds(law, precision):
            below, above = a >> spare, b >> spare
            if below >= last:
                low.append(last)
                high.append(last)
                break
            above = above if above < last else last
            low.append(below)
            high.append(above)
            wide |= above - below > 1
        if not wide and low and low[-1] == last:
            return low, high


def _lookup(widths: Widths, low: Unsigned, high: Unsigned, cells: Integers) -> NDArray[np.int16]:
    """Spread the cells over all first words; mark those that a threshold cuts."""
    below, above = (
        (bounds >> np.uint64(widths.word - widths.top)).astype(np.int64) for bounds in (low, high)
    )
    lookup = np.repeat(cells.astype(np.int16), np.diff(below, prepend=0, append=1 << widths.top))
    lookup[below] = lookup[above] = CUT
    return lookup


def _quick(law: Law, widths: Widths, low: Unsigned) -> tuple[int, int]:
    """Bound the acceptance from below over the near cells; say how many cells are near.

    By log-concavity the least acceptance of the cells up to |h| is that of the far end of the last cell on each side.
    """
    far = (1 << widths.word) - (1 << max(0, widths.word - _NEAR_TAIL))
    near = max(1, int(np.count_nonzero(low < far)))
    last = [cell(max(0, near - 1 - side), law.sides) for side in range(law.sides)]
    ends = [(h + 1 << law.shift) - 1 if h >= 0 else h << law.shift for h in last]
    return min(law.chance(x, widths.accept + GUARD)[0] for x in ends) >> GUARD, near


table = lru_cache(maxsize=32)(build)
