"""Public histogram learned by multiplicative weights: an estimate of the private one.

Made from private answers only, so every question about it is post-processing.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats
from ...errors import InvalidArgument
from ...frozen import frozen

MAX_PEOPLE = (1 << 53) - 1
"""Counts, true or believed, stay below 2^53: there floats are whole, and differences are exact."""
# Queries are turned into floats so many rows at a time, to bound the memory.
_BLOCK = 1024


@frozen(eq=False)
class Hypothesis:
    """Histogram made from private answers only; asking it costs no privacy (post-processing).

    >>> import numpy as np
    >>> from discreet.mechanisms.adaptive.hypothesis import Hypothesis
    >>> Hypothesis(np.array([1.0, 2.0, 3.0])).answers(np.array([[1, 0, 1]])).tolist()
    [4.0]
    """

    weights: Floats

    def answers(self, queries: AnyArray) -> Floats:
        """Answer counting queries, one row of zeros and ones each."""
        return counts_of(read_queries(queries, self.weights.size), self.weights)


def read_queries(queries: object, domain: int) -> AnyArray:
    """Read counting queries: a k × domain array of zeros and ones (one query may be a single row).

    >>> from discreet.mechanisms.adaptive.hypothesis import read_queries
    >>> read_queries([1, 0], 2).shape
    (1, 2)

    Refuses: arrays of another shape, and entries other than 0 and 1 (InvalidArgument).
    """
    array = np.atleast_2d(np.asarray(queries))
    if array.ndim != 2 or array.shape[1] != domain or array.dtype.kind not in "biuf":
        raise InvalidArgument(f"queries must be rows of {domain} zeros and ones")
    # Booleans are zeros and ones by their type.
    if array.dtype.kind != "b" and not _all_zero_or_one(array):
        raise InvalidArgument(
            "a counting query asks for each cell 1 (counted) or 0 (not); scale or split other queries"
        )
    return array


def _all_zero_or_one(array: AnyArray) -> bool:
    for start in range(0, len(array), _BLOCK):
        block = array[start : start + _BLOCK]
        if not ((block == 0) | (block == 1)).all():
            return False
    return True


def read_histogram(histogram: object, domain: int) -> Floats:
    """Read the private histogram: whole counts, exact as floats.

    Refuses: another shape, other numbers, negative counts, a sum of 2^53 or more (InvalidArgument);
    the message carries no count.
    """
    array = np.asarray(histogram)
    if array.shape != (domain,) or array.dtype.kind not in "iu":
        raise InvalidArgument(f"the histogram must be an array of {domain} whole counts")
    # Summed as Python integers: a sum of int64 may overflow.
    if array.size and (array.min() < 0 or sum(map(int, array.tolist())) > MAX_PEOPLE):
        raise InvalidArgument(
            "the counts of the histogram must be at least 0 and sum to less than 2**53"
        )
    return array.astype(np.float64)


def counts_of(queries: AnyArray, histogram: Floats) -> Floats:
    """Count: one dot product per query; exact where the histogram is whole."""
    counts = np.empty(len(queries))
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK].astype(np.float64)
        counts[start : start + _BLOCK] = block @ histogram
    return counts


def updated(weights: Floats, query: AnyArray, measured: float, total: float) -> Floats:
    """Multiply the cells that a query counts by exp((measured − believed)/2n); keep the total n.

    Let a be the true, h the believed and m the measured answer, all within 0 … n. The relative
    entropy between the truth and the belief falls by at least ((a − h)² − (m − a)²)/4n²
    (Hardt, Ligett, McSherry 2012, with e^z ≤ 1 + z + z²).

    Law: tests/mechanisms/test_weights.py::TestLearning
    """
    believed = float(query.astype(np.float64) @ weights)
    rate = (measured - believed) / (2 * total)
    moved: Floats = weights * np.exp(query * rate)
    kept: Floats = moved * (total / moved.sum())
    return kept
