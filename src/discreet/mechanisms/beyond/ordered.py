"""Bounded values in order on a public lattice, and local sensitivity between two ranks.

Values are clamped to public bounds and rounded to one of 2^32 + 1 lattice points between them, each
by itself: neighbouring data stay neighbouring. From here on everything is a whole number.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import Number, check_from_0_to_1, rational
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..laws.error_bound import parameter_repr

PLACES = 1 << 32
"""The number of lattice steps between the public bounds."""


@frozen(init=False)
class Range:
    """Public bounds on every value, and the lattice between them.

    >>> from discreet.mechanisms.beyond.ordered import Range
    >>> Range(0, 1).sorted([0.5, 2.0, -1.0]).tolist(), Range(0, 1).value(1 << 31)
    ([0, 2147483648, 4294967296], 0.5)

    Refuses: bounds out of order, or too close or too far apart for floats (InvalidArgument).
    Law: tests/mechanisms/test_ordered.py::TestRange
    """

    low: Fraction
    high: Fraction

    __repr__ = parameter_repr

    def __init__(self, low: Number, high: Number) -> None:
        bottom = rational(low, "low")
        top = rational(high, "high")
        fill(self, low=bottom, high=top)
        # As floats, because values are scaled by their difference as a float.
        width = float(top) - float(bottom)
        if not 0 < width < math.inf:
            raise InvalidArgument(
                "low must be below high, both as floats: they are public bounds on every value"
            )

    def sorted(self, values: object) -> Integers:
        """Clamp, round and sort values.

        Refuses: NaN, and anything but a list of numbers (InvalidArgument), without showing a value.
        """
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "iuf" or bool(np.isnan(array).any()):
            raise InvalidArgument("values must be a list of numbers without NaN")
        low = float(self.low)
        high = float(self.high)
        clamped = np.clip(array.astype(np.float64), low, high)
        fractions = (clamped - low) / (high - low)
        # Clamped again: the division may round to just outside 0 … 1.
        points = np.rint(np.clip(fractions, 0.0, 1.0) * PLACES)
        return np.sort(points.astype(np.int64))

    def value(self, place: int | Fraction) -> float:
        """Return the value at a lattice point, rounded once."""
        fraction = Fraction(place) / PLACES
        width = self.high - self.low
        return float(self.low + width * fraction)


def read_quantile(quantile: Number) -> Fraction:
    """Read which quantile is asked for: a number from 0 to 1.

    >>> from discreet.mechanisms.beyond.ordered import read_quantile
    >>> read_quantile(0.5)
    Fraction(1, 2)
    """
    exact = rational(quantile, "quantile")
    check_from_0_to_1(exact, "quantile", "; the median is 1/2")
    return exact


def ranks(quantile: Fraction, n: int) -> tuple[int, int]:
    """Return (a, b): the quantile has rank b = ⌈qn⌉, at least 1, above the first a values.

    >>> from discreet.mechanisms.beyond.ordered import ranks
    >>> from fractions import Fraction
    >>> ranks(Fraction(1, 2), 5), ranks(Fraction(0), 5)
    ((2, 3), (0, 1))
    """
    # −(−x // y) rounds up, exactly.
    rounded_up = -((-quantile.numerator * n) // quantile.denominator)
    rank = max(1, rounded_up)
    return rank - 1, rank


def span(ordered: Integers, a: int, b: int, k: int) -> int:
    """Return the local sensitivity at distance k, A_k = max over t of x_(b+t) − x_(a+t−k).

    t = 0 … k+1, with the bounds beyond both ends of the data. f = x_(a+1) + … + x_b. Replace one
    value by a larger one: then x_i ≤ x'_i ≤ x_(i+1) for all i. So |f − f'| is at most
    x_(b+1) − x_(a+1), a term of A_0 of x, and at most x'_b − x'_a, a term of A_0 of x'; and
    x_j − x_i is at most x'_j − x'_(i−1), so that A_k(x) ≤ A_(k+1)(x'), and the same the other way
    round. (For b = a + 1: Nissim, Raskhodnikova, Smith 2007, §3.1.)

    >>> import numpy as np
    >>> from discreet.mechanisms.beyond.ordered import span
    >>> span(np.array([10, 20, 40]), 1, 2, 0)
    20

    Law: tests/mechanisms/test_ordered.py::TestSpan
    """
    upper = _values_at_ranks(ordered, b, k + 2)
    lower = _values_at_ranks(ordered, a - k, k + 2)
    return int((upper - lower).max())


def small_spans(ordered: Integers, a: int, b: int, bound: int, most: int) -> int:
    """Return how many of A_0 … A_(most−1) are at most a bound; they grow with k (see `span`).

    Guarantee: the same number of array operations of the same lengths, whatever the values are, so
    that the work does not tell the result.

    >>> import numpy as np
    >>> from discreet.mechanisms.beyond.ordered import small_spans
    >>> small_spans(np.array([10, 20, 40]), 1, 2, 25, 3)
    1

    Law: tests/mechanisms/test_ordered.py::TestSpan
    """
    upper = _values_at_ranks(ordered, b, most + 1)
    places = np.arange(most + 1)
    found = 0
    # Binary search from the highest bit of the result down, always all bits.
    for bit in reversed(range(most.bit_length())):
        wanted = found + (1 << bit)
        k = min(wanted, most) - 1
        # Of the terms t = 0 … most, those up to k + 1 belong to A_k.
        lower = _values_at_ranks(ordered, a - k, most + 1)
        terms = np.where(places <= k + 1, upper - lower, 0)
        if wanted <= most and int(terms.max()) <= bound:
            found = wanted
    return found


def outer_spans(ordered: Integers, a: int, b: int, count: int) -> Integers:
    """Bound A_0, A_1 … A_(count−1) from above by the outermost pair of each: x_(b+k+1) − x_(a−k).

    >>> import numpy as np
    >>> from discreet.mechanisms.beyond.ordered import outer_spans
    >>> outer_spans(np.array([10, 20, 40]), 1, 2, 2).tolist()
    [30, 4294967296]
    """
    upper = _values_at_ranks(ordered, b + 1, count)
    lower = _values_at_ranks(ordered, a - count + 1, count)
    return upper - lower[::-1]


def _values_at_ranks(ordered: Integers, first: int, count: int) -> Integers:
    """Read `count` ranks from `first` on; below rank 1 lies the lower bound, above n the upper."""
    end = first + count
    below = min(count, max(0, 1 - first))
    above = min(count, max(0, end - 1 - ordered.size))
    low = np.zeros(below, dtype=np.int64)
    high = np.full(above, PLACES)
    # Rank 1 is index 0; `end` is the first rank that is not read.
    inside = ordered[max(first, 1) - 1 : max(end, 1) - 1]
    return np.concatenate([low, inside, high])
