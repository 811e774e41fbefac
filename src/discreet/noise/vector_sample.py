"""Vectorised sampling loop: fill an array from a table, at a few nanoseconds each.

Every slot is proposed. Rejected slots are proposed again, all of them together, until none is left.
Chunks keep the scratch space in the cache and below the size of the output.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from .exact_search import below
from .exp import DECAY_ERROR, decay
from .law import EXPONENT_ERROR, Integers, Law
from .random_words import RandomWords, Unsigned
from .table import CUT, LawTable, table

CHUNK = 1 << 16
# More than both errors and the rounding of a word to 53 bits together.
MARGIN = 2 * (EXPONENT_ERROR + DECAY_ERROR)

_NONE = np.empty(0, dtype=np.intp)


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
