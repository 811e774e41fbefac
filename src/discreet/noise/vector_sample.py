"""The vector loop: fill an array from a table, at a few nanoseconds each.

Every slot is proposed; a rejected slot is proposed again, all of them together, until none is left. Chunks keep the
scratch space in the cache and below the size of the output.
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
MARGIN = 2 * (
    EXPONENT_ERROR + DECAY_ERROR
)  # more than both and the rounding of a word to 53 bits together

_NONE = np.empty(0, dtype=np.intp)


def sample(law: Law, count: int, draw: RandomWords) -> Integers:
    """Draw `count` independent integers from a law; its table is kept."""
    out = np.empty(count, dtype=np.int64)
    fill(table(law), out, draw)
    return out


def fill(made: LawTable, out: Integers, draw: RandomWords) -> None:
    """Fill `out` with independent draws from the table's law."""
    rejected = _propose_all(made, out, draw)
    while rejected.size:
        again = np.empty(rejected.size, dtype=np.int64)
        failed = _propose_all(made, again, draw)
        out[rejected] = again
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
    tops = draw.words(out.size, made.widths.top)
    near = made.lookup.take(tops)
    np.copyto(out, near)
    cut = np.flatnonzero(near == CUT)
    if cut.size:
        out[cut] = made.refine(tops[cut], draw)
    shift = made.law.shift
    if not shift:
        return _NONE
    width = made.widths.tail(shift)
    tails = draw.words(out.size, width)
    kind = tails.dtype.type
    out <<= shift
    low = tails & kind((1 << shift) - 1)
    out |= low.view(np.int64) if low.itemsize == 8 else low
    doubtful = tails >= kind(made.quick << (width - made.widths.accept))
    doubtful[cut] = True
    slow = np.flatnonzero(doubtful)
    tops = tails[slow] >> kind(width - made.widths.accept)
    return slow[~_accept(made, out[slow], tops, draw)]


def _accept(made: LawTable, x: Integers, tops: Unsigned, draw: RandomWords) -> NDArray[np.bool_]:
    """Accept each x with its chance: U, which begins with the bits of `tops`, below the chance of x.

    The float estimate of the chance is off by less than `MARGIN`; whatever is nearer than that, or has no estimate, is
    settled exactly.
    """
    widths = made.widths
    rest = widths.word - widths.accept
    words = (tops.astype(np.uint64) << np.uint64(rest)) | draw.words(x.size, rest).astype(np.uint64)
    step = 0.5**widths.word
    exponents = made.law.exponents(x)
    unknown = np.isnan(exponents)
    exponents[unknown] = 0.0
    gap = decay(exponents) - words * step
    accepted: NDArray[np.bool_] = gap > 0
    for at in np.flatnonzero(unknown | ((gap <= MARGIN + step) & (gap >= -MARGIN))):
        chance = partial(made.law.chance, int(x[at]))
        accepted[at] = below(int(words[at]), widths.word, chance, draw, step=widths.step)
    return accepted
