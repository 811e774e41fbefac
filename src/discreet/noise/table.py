"""Certified tables for inversion sampling: a random word chooses a cell of a law (`law`).

A uniform U in [0, 1) chooses the cell whose index is the number of thresholds t_j ≤ U; t_j is the
probability of the first j + 1 cells. F_j = ⌊2^64·t_j⌋ is bounded by integers `low` ≤ F_j ≤ `high` ≤
low+1 (nearly always equal).

1. The first 16 bits alone settle the cell unless some F_j begins with them: those words are marked
   CUT in the look-up table.
2. A 64-bit word W settles the cell unless low_j ≤ W ≤ high_j for some j.
3. Otherwise `settle` reads more bits of U and computes tighter bounds until the cell is certain.

The list ends at the first F_j = 2^64 − 1: the infinitely many other cells lie behind that one word,
and `settle` finds them.

`sample` fills an array from a table in a vectorised loop, at a few nanoseconds per value. Every
element gets a proposal. All rejected elements get new proposals together, until none is left.
Chunks keep the scratch space in the cache and below the size of the output.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.arrays import Integers
from ..errors import InvalidArgument
from ..frozen import frozen
from .bits import RandomWords, Unsigned
from .exact_search import GUARD, STEP, below, settle
from .exp import DECAY_ERROR, decay
from .law import EXPONENT_ERROR, Law, cell, thresholds

# Mark of a first word that a threshold cuts; no cell of a look-up has this number.
CUT = -32768
# Cells beyond all but 2^-10 of the mass take the careful path: the quick bound need not hold there.
_TAIL_BITS = 10
CHUNK = 1 << 16
# More than both errors and the rounding of a word to 53 bits together.
MARGIN = 2 * (EXPONENT_ERROR + DECAY_ERROR)
_NONE = np.empty(0, dtype=np.intp)


@frozen
class Widths:
    """Number of bits that each step reads; tests shrink them to try every bit string."""

    top: int = 16
    word: int = 64
    accept: int = 16
    step: int = STEP

    def tail(self, shift: int) -> int:
        """Return the width of the word with the low bits and the first bits of the acceptance."""
        needed = self.accept + shift
        # Narrow widths are for tests; otherwise whole machine words are read.
        if self.accept < 16:
            return needed
        return 32 if needed <= 32 else 64


WIDE = Widths()


@frozen(eq=False)
class LawTable:
    """Certified table of a law.

    | field | meaning |
    |---|---|
    | `lookup` | cell by the first bits of the word, or CUT |
    | `low`, `high` | bounds of F_j |
    | `cells` | cell by index |
    | `quick` | an acceptance word below this accepts in every cell of `lookup` (shift > 0 only) |

    Law: tests/noise/test_tables.py::TestThresholds
    Law: tests/noise/test_tables.py::TestAcceptance
    """

    law: Law
    widths: Widths
    lookup: NDArray[np.int16]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    cells: Integers
    quick: int

    def refine(self, tops: Unsigned, draw: RandomWords) -> Integers:
        """Find the cells of words that the look-up left open, with the other bits of each word."""
        more_bits = self.widths.word - self.widths.top
        first_bits = tops.astype(np.uint64) << np.uint64(more_bits)
        words = first_bits | draw.words(tops.size, more_bits).astype(np.uint64)
        index = self.low.searchsorted(words, side="right")
        refined = self.cells.take(index, mode="clip")
        # low_j ≤ W ≤ high_j: 64 bits do not settle the cell.
        previous_high = self.high.take(index - 1, mode="clip")
        is_open = (index > 0) & (previous_high >= words)
        for at in np.flatnonzero(is_open):
            refined[at] = self._exact_cell(int(words[at]), draw)
        return refined

    def _exact_cell(self, word: int, draw: RandomWords) -> int:
        law = self.law
        widths = self.widths
        index = settle(word, widths.word, partial(thresholds, law), draw, step=widths.step)
        return held(cell(index, law.sides), law.shift)


def held(h: int, shift: int) -> int:
    """Return the cell h if all its integers fit in 64 bits; refuse it otherwise.

    A parameter in range leaves less than 2^-11000 of the mass outside. Such a draw is refused,
    never wrapped; the refusal depends on the noise alone.

    >>> from discreet.noise.table import held
    >>> held(5, 3)
    5
    >>> held(2**60, 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: the noise drawn does not fit in 64 bits ...; ask again

    Refuses: InvalidArgument for a cell outside.

    Law: tests/noise/test_tables.py::test_a_draw_beyond_64_bits_is_refused_not_wrapped
    """
    if not -(1 << 63) <= h << shift < 1 << 63:
        raise InvalidArgument(
            "the noise drawn does not fit in 64 bits (chance below 2^-11000); ask again"
        )
    return h


def build(law: Law, widths: Widths = WIDE) -> LawTable:
    """Compute the table of a law, with proven bounds of every threshold."""
    low_floors, high_floors = _floors(law, widths.word)
    low = np.array(low_floors, np.uint64)
    high = np.array(high_floors, np.uint64)
    # The cells in the order of their thresholds; `law.cell`, for arrays.
    order = np.arange(low.size + 1)
    cells = (order >> 1) ^ -(order & 1) if law.sides == 2 else order
    lookup = _lookup(widths, low, high, cells)
    quick = 1 << widths.accept
    if law.shift:
        quick, near = _quick(law, widths, low)
        # The first words of the tail are cut too, so that the quick bound holds for all others.
        first_tail_word = int(low[near - 1]) >> (widths.word - widths.top)
        lookup[first_tail_word:] = CUT
    return LawTable(law, widths, lookup, low, high, cells, quick)


def _floors(law: Law, width: int) -> tuple[list[int], list[int]]:
    """Bound F_j = ⌊2^width·t_j⌋ up to the first that is all ones.

    The precision is raised until the bounds of each differ by at most one.
    """
    precision = width
    last = (1 << width) - 1
    while True:
        precision += GUARD
        low = list[int]()
        high = list[int]()
        is_wide = False
        spare = precision - width
        for a, b in thresholds(law, precision):
            below = a >> spare
            above = b >> spare
            if below >= last:
                low.append(last)
                high.append(last)
                break
            above = above if above < last else last
            low.append(below)
            high.append(above)
            is_wide |= above - below > 1
        # The list is complete only if the all-ones threshold was reached.
        if not is_wide and low and low[-1] == last:
            return low, high


def _lookup(widths: Widths, low: Unsigned, high: Unsigned, cells: Integers) -> NDArray[np.int16]:
    """Return the look-up table: the cell of every first word, or CUT where a threshold cuts it."""
    more_bits = np.uint64(widths.word - widths.top)
    below = (low >> more_bits).astype(np.int64)
    above = (high >> more_bits).astype(np.int64)
    words_per_cell = np.diff(below, prepend=0, append=1 << widths.top)
    lookup = np.repeat(cells.astype(np.int16), words_per_cell)
    # A first word that some F_j begins with is not settled by itself.
    lookup[below] = CUT
    lookup[above] = CUT
    return lookup


def _quick(law: Law, widths: Widths, low: Unsigned) -> tuple[int, int]:
    """Bound the acceptance from below over the near cells; return it and the number of near cells.

    By log-concavity the least acceptance of the cells up to |h| is that of the far end of the last
    cell on each side.
    """
    tail_start = (1 << widths.word) - (1 << max(0, widths.word - _TAIL_BITS))
    near = max(1, int(np.count_nonzero(low < tail_start)))
    least = 1 << (widths.accept + GUARD)
    for side in range(law.sides):
        h = cell(max(0, near - 1 - side), law.sides)
        # The integer of the cell that is farthest from 0.
        far_end = (h + 1 << law.shift) - 1 if h >= 0 else h << law.shift
        lower_bound, _ = law.chance(far_end, widths.accept + GUARD)
        least = min(least, lower_bound)
    # Rounded down: a word below it accepts for certain.
    return least >> GUARD, near


table = lru_cache(maxsize=32)(build)


def sample(law: Law, count: int, draw: RandomWords) -> Integers:
    """Draw `count` independent integers from a law; its table is cached."""
    out = np.empty(count, dtype=np.int64)
    fill(table(law), out, draw)
    return out


def fill(made: LawTable, out: Integers, draw: RandomWords) -> None:
    """Fill `out` with independent draws from the table's law.

    Guarantee: every integer of `out` has exactly the law, independently.

    Law: tests/noise/test_trees.py::TestLaws
    Law: tests/noise/test_replay.py::test_replay
    """
    rejected = _propose_all(made, out, draw)
    while rejected.size:
        proposals = np.empty(rejected.size, dtype=np.int64)
        failed = _propose_all(made, proposals, draw)
        # Rejected proposals are written too, and overwritten in the next round.
        out[rejected] = proposals
        rejected = rejected[failed]


def _propose_all(made: LawTable, out: Integers, draw: RandomWords) -> NDArray[np.intp]:
    """Propose every slot once, chunk by chunk; return the slots that were rejected."""
    rejected = [_NONE]
    for start in range(0, out.size, CHUNK):
        failed = _propose(made, out[start : start + CHUNK], draw)
        if failed.size:
            rejected.append(failed + start)
    return np.concatenate(rejected)


def _propose(made: LawTable, out: Integers, draw: RandomWords) -> NDArray[np.intp]:
    """Propose every slot of one chunk; return the slots that were rejected."""
    # The first bits settle nearly all cells by look-up.
    tops = draw.words(out.size, made.widths.top)
    cells = made.lookup.take(tops)
    np.copyto(out, cells)
    cut = np.flatnonzero(cells == CUT)
    if cut.size:
        out[cut] = made.refine(tops[cut], draw)
    shift = made.law.shift
    # Every integer has its own cell: nothing is left to accept.
    if not shift:
        return _NONE
    width = made.widths.tail(shift)
    tails = draw.words(out.size, width)
    # One word holds both the low bits of x and the first bits of the acceptance.
    unsigned = tails.dtype.type
    out <<= shift
    low = tails & unsigned((1 << shift) - 1)
    out |= low.view(np.int64) if low.itemsize == 8 else low
    other_bits = width - made.widths.accept
    doubtful = tails >= unsigned(made.quick << other_bits)
    # The quick bound holds for the cells of the look-up only.
    doubtful[cut] = True
    slow = np.flatnonzero(doubtful)
    accept_tops = tails[slow] >> unsigned(other_bits)
    return slow[~_accept(made, out[slow], accept_tops, draw)]


def _accept(made: LawTable, x: Integers, tops: Unsigned, draw: RandomWords) -> NDArray[np.bool_]:
    """Accept each x with its chance: U, which begins with the bits of `tops`, is below the chance.

    The float estimate of the chance is off by less than `MARGIN`. A word nearer than that, or
    without an estimate, is decided exactly.
    """
    widths = made.widths
    more_bits = widths.word - widths.accept
    first_bits = tops.astype(np.uint64) << np.uint64(more_bits)
    words = first_bits | draw.words(x.size, more_bits).astype(np.uint64)
    step = 0.5**widths.word
    exponents = made.law.exponents(x)
    unknown = np.isnan(exponents)
    exponents[unknown] = 0.0
    gap = decay(exponents) - words * step
    accepted: NDArray[np.bool_] = gap > 0
    # U lies in [word, word + 1)·step, hence the step on the upper side.
    is_near = (gap <= MARGIN + step) & (gap >= -MARGIN)
    for at in np.flatnonzero(unknown | is_near):
        chance = partial(made.law.chance, int(x[at]))
        word = int(words[at])
        accepted[at] = below(word, widths.word, chance, draw, step=widths.step)
    return accepted
