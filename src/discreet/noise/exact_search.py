"""Exact search of a uniform real among thresholds that are known only by bounds (lazy comparison).

The real number U in [0, 1) is read bit by bit, as far as the decision needs. With B bits read it
lies in [W, W+1)·2^-B; a threshold t lies in [low, high]·2^-p.

- If (W+1)·2^-B ≤ low·2^-p then U < t.
- If W·2^-B ≥ high·2^-p then U ≥ t.
- Otherwise more bits are read and tighter bounds are computed.

Each further bit halves the chance of needing another one, so the loop ends with probability one,
whatever the thresholds are (even exactly dyadic ones).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from .bits import RandomWords
from .exp import Bounds

Thresholds: TypeAlias = Callable[[int], Iterable[Bounds]]

# Bits by which bounds are more precise than the bits read: they leave 2^-40 of cases undecided.
GUARD = 40
# Bits that are read at once when a case is undecided.
STEP = 64


def settle(
    word: int, width: int, thresholds: Thresholds, draw: RandomWords, *, step: int = STEP
) -> int:
    """Count the thresholds at or below U, whose first `width` bits are `word`.

    `thresholds(precision)` gives the bounds of t_0 ≤ t_1 ≤ … in units of 2^-precision, as many as
    are distinguishable from 1.

    >>> from discreet.noise.exact_search import settle
    >>> def quarter_and_half(precision):
    ...     quarter, half = 1 << precision - 2, 1 << precision - 1
    ...     return [(quarter, quarter), (half, half)]
    >>> settle(3, 4, quarter_and_half, None)  # 3/16 < 1/4
    0

    Guarantee: the result is the exact count for the real number U.

    Law: tests/noise/test_tables.py::TestThresholds
    Proved: proofs/Samplers.v::lazy_comparison
    """
    while True:
        precision = width + GUARD
        index = gap_of(word << GUARD, (word + 1) << GUARD, thresholds(precision))
        if index >= 0:
            return index
        word = (word << step) | draw.word(step)
        width += step


def gap_of(start: int, end: int, thresholds: Iterable[Bounds]) -> int:
    """Return the index of the gap between thresholds that holds all of [start, end), or −1."""
    for index, (low, high) in enumerate(thresholds):
        # U < end ≤ low ≤ t. If not, U ≥ t is certain only from start ≥ high on.
        if end <= low:
            return index
        if start < high:
            return -1
    return -1


def below(
    word: int, width: int, bounds: Callable[[int], Bounds], draw: RandomWords, *, step: int = STEP
) -> bool:
    """Decide U < t: `word` is the first `width` bits of U, and `bounds(precision)` encloses t.

    >>> from discreet.noise.exact_search import below
    >>> def half(precision):
    ...     return 1 << precision - 1, 1 << precision - 1
    >>> below(0, 1, half, None), below(1, 1, half, None)
    (True, False)
    """

    def threshold_and_one(precision: int) -> tuple[Bounds, Bounds]:
        one = 1 << precision
        return bounds(precision), (one, one)

    return settle(word, width, threshold_and_one, draw, step=step) == 0
