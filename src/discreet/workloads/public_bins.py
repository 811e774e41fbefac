"""Public bins of a number (histogram bin edges): a function of its declared bounds, never of data.

Two kinds of bins are joined:

    equal       as wide as each other; they follow distributions that are smooth
    doubling    twice as wide as the one before, away from 0, or from the lower bound if 0 is
                outside; they follow skewed amounts, 0 for most rows and large for some

A row lies in one bin however many there are. More bins therefore cost no privacy; each bin only
holds fewer rows.
"""

from __future__ import annotations

FINEST = 13
"""Doubling bins begin at 1/4,096 of the range: finer ones would hold too few rows to matter."""

BINS = 32
"""Equal bins by default: on Adult 16 lose half a percent of accuracy, 64 gain nothing."""


def equal_edges(low: int, high: int, bins: int) -> list[int]:
    """Return the inner edges of `bins` bins of equal width, in whole steps.

    There are fewer edges where the bounds are fewer than `bins` steps apart.

    >>> from discreet.workloads.public_bins import equal_edges
    >>> equal_edges(0, 99, 4), equal_edges(0, 1, 4)
    ([25, 50, 75], [1])
    """
    width = high - low + 1
    # `-(-a // b)` is a/b rounded up: an edge is the first step of the bin above it.
    edges = {low - (-width * place // bins) for place in range(1, bins)}
    return sorted(edge for edge in edges if edge <= high)


def public_edges(low: int, high: int, bins: int = BINS) -> tuple[int, ...]:
    """Return the inner edges of equal and of doubling bins, in whole steps.

    >>> from discreet.workloads.public_bins import public_edges
    >>> public_edges(0, 15), public_edges(0, 99, 4)
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), (1, 2, 4, 8, 16, 25, 32, 50, 64, 75))
    """
    edges = set(equal_edges(low, high, bins))
    origin = min(max(0, low), high)
    digits = (high - low + 1).bit_length()
    for power in range(max(0, digits - FINEST), digits):
        size = 1 << power
        edges |= {origin + size, origin - size + 1}
    return tuple(sorted(edge for edge in edges if low < edge <= high))
