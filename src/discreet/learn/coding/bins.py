"""Public bins of a number: one rule for every column, from its declared bounds alone, never from data.

Bins of equal width follow what is smooth. Near 0, or near the lower bound where 0 is outside, bins that double in width
follow what is skewed: amounts that are 0 for most and reach far for some. The union of both is taken: a row stands in
one bin however many there are, so more bins cost no privacy; each bin only holds fewer rows.
"""

from __future__ import annotations

from itertools import takewhile

FINEST = 13
"""Doubling bins begin at 1/4,096 of the range: finer ones would hold too few rows to matter."""

BINS = 32
"""Equal bins by default: on Adult 16 lose half a percent of accuracy, 64 gain nothing."""


def public_edges(low: int, high: int, bins: int = BINS) -> tuple[int, ...]:
    """Return the inner edges, as whole steps: equal ones, and doubling ones away from 0 or the lower bound.

    >>> from discreet.learn.coding.bins import public_edges
    >>> public_edges(0, 15), public_edges(0, 99, 4)
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), (1, 2, 4, 8, 16, 25, 32, 50, 64, 75))
    """
    width = high - low + 1
    equal = {low - (-width * place // bins) for place in range(1, bins)}
    origin = min(max(0, low), high)
    sizes = [1 << power for power in range(max(0, width.bit_length() - FINEST), width.bit_length())]
    doubling = {origin + size for size in takewhile(lambda size: origin + size <= high, sizes)}
    below = {origin - size + 1 for size in takewhile(lambda size: origin - size + 1 > low, sizes)}
    return tuple(sorted(edge for edge in equal | doubling | below if low < edge <= high))
