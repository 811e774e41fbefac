"""Decide exactly where a uniform real lies among thresholds known only by their bounds.

The real number U in [0, 1) is read bit by bit, as far as the decision needs. With B bits read it lies in
[W, W+1)·2^-B; a threshold t lies in [low, high]·2^-p. If (W+1)·2^-B ≤ low·2^-p then U < t; if W·2^-B ≥ high·2^-p then
U ≥ t; otherwise more bits are read and tighter bounds are computed. Each further bit halves the chance of needing
another one, so the loop ends with probability one, whatever the thresholds are (even exactly dyadic ones).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from .exp import Bounds
from .random_words import RandomWords

Thresholds: TypeAlias = Callable[[int], Iterable[Bounds]]

GUARD = 40
STEP = 64


def settle(
    word: int, width: int, thresholds: Thresholds, draw: RandomWords, *, step: int = STEP
) -> int:
    """Count the thresholds at or below U, whose first `width` bits are `word`.

    `thresholds(precision)` gives the bounds of t_0 ≤ t_1 ≤ … in units of 2^-precision, as many as can be told from 1.

    >>> from discreet.noise.exact_search import settle
    >>> settle(3, 4, lambda p: [(1 << p - 2, 1 << p - 2), (1 << p - 1, 1 << p - 1)], None)  # 3/16 < 1/4
    0
    """
    while True:
        precision = width + GUARD
        found = _place(word << GUARD, (word + 1) << GUARD, thresholds(precision))
        if found >= 0:
            return found
        word, width = (word << step) | draw.word(step), width + step


def _place(start: int, end: int, thresholds: Iterable[Bounds]) -> int:
    """Find the gap between thresholds that holds all of [start, end), or −1."""
    for index, (low, high) in enumerate(thresholds):
        if end <= low:
            return index
        if start < high:
            return -1
    return -1


def below(
    word: int, width: int, bounds: Callable[[int], Bounds], draw: RandomWords, *, step: int = STEP
) -> bool:
    """Decide U < t, where U begins with `word` and `bounds(precision)` encloses t.

    >>> from discreet.noise.exact_search import below
    >>> below(0, 1, lambda p: (1 << p - 1, 1 << p - 1), None), below(1, 1, lambda p: (1 << p - 1, 1 << p - 1), None)
    (True, False)
    """

    def two(precision: int) -> tuple[Bounds, Bounds]:
        return bounds(precision), (1 << precision, 1 << precision)

    return settle(word, width, two, draw, step=step) == 0
