"""Block sums: the most that one person can have been charged, over all blocks they may count in.

A block is a calendar period of a date column, such as a week. Every charge e has an amount a_e and
an interval of blocks. A person counts in a set T of blocks: `stays` blocks in a row, or any `most`
blocks. The ledger admits a charge while

    max over allowed T of  Σ {a_e : the interval of e meets T}  ≤  budget.

**Why sound, add-remove.** D and D' differ in all rows of one person. Given the transcript so far,
an answer whose interval holds no counted row of that person has the same law under D and D': it
costs the person nothing. Any other answer costs at most a_e. Data may react to answers, so T may
be known only at the end. But on every path the person's blocks are within some allowed T, and what
the person was charged is at most the sum above, which the ledger has kept within the budget at
every step. So the budget is a bound on every path for amounts that add up whatever came before: ε,
ρ, Rényi divergences, μ², and δ. It is no proof for `residue`, whose amounts depend on the order.
`Admission.parallel` is this statement: on a path, a step without a row of the person is `elsewhere`.

**Why sound, replace.** One person leaves and another comes, so T ∪ T' counts. Events on blocks are
counted twice, as those of `parts`: with C on all blocks and P(T) on T, C + 2·P(T) ≤ B and
C + 2·P(T') ≤ B give C + P(T ∪ T') ≤ C + P(T) + P(T') ≤ B.

**How it is found.** For `stays`, T is a window that begins at t; a charge on [i, j] counts for the
t from i − stays + 1 to j, so the largest sum is found in one sweep over these ends. For `most`, a
block of T can be moved to the right as far as the first end of a charge that it meets, and still
meets all the charges it met. So T is chosen from the ends, by the recurrence

    f(j, p) = max over i < j of  f(i, p − 1) + Σ {a_e : i < first(e) ≤ j ≤ last(e)}.

Law: tests/ledger/test_block_sums.py::TestTheLargestSumOfAnyPerson,
tests/ledger/test_block_sums.py::TestADataSetThatReacts
Proved: proofs/Admission.v::parallel
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Literal, TypeAlias

import numpy as np

from ..data.blocks import Interval

Reach: TypeAlias = tuple[Literal["stays", "most"], int]
"""Blocks that one person may count in: ("stays", n) is n in a row, ("most", n) any n."""
Charged: TypeAlias = tuple[Interval, Fraction]
"""Amount that was charged on an interval of blocks."""
_MAX_INT64 = 2**62


def largest_sum(charged: Sequence[Charged], reach: Reach, within: Interval) -> Fraction:
    """Return the largest sum of charges that may concern one person.

    Only people who count in some block of the interval `within` are looked at.

    >>> from fractions import Fraction
    >>> from discreet.ledger.block_sums import largest_sum
    >>> charged = [((1, 1), Fraction(1)), ((2, 2), Fraction(2)), ((9, 9), Fraction(4))]
    >>> [int(largest_sum(charged, ("stays", 2), (n, n))) for n in (1, 2, 9)]
    [3, 3, 4]
    >>> int(largest_sum(charged, ("most", 2), (1, 1)))
    5
    """
    how, blocks = reach
    present = [(interval, amount) for interval, amount in charged if amount]
    if not present:
        return Fraction()
    if how == "stays":
        return _largest_in_a_row(present, blocks, within)
    return _largest_of_any(present, blocks, within)


def _largest_in_a_row(charged: Sequence[Charged], stays: int, within: Interval) -> Fraction:
    """Return the largest sum of charges that meet a window of `stays` blocks in a row.

    Only windows that meet the interval `within` are looked at.
    """
    first_start = within[0] - stays + 1
    last_start = within[1]
    changes: dict[float, Fraction] = defaultdict(Fraction)
    for (first, last), amount in charged:
        # Windows that begin from here to `last` meet the charge; earlier ones are not asked for.
        start = max(first - stays + 1, first_start)
        if start <= min(last, last_start):
            changes[start] += amount
            changes[last + 1] -= amount
    largest = total = Fraction()
    for start in sorted(changes):
        if start > last_start:
            break
        total += changes[start]
        largest = max(largest, total)
    return largest


def _largest_of_any(charged: Sequence[Charged], most: int, within: Interval) -> Fraction:
    """Return the largest sum of charges that meet a set of `most` blocks, one in `within`."""
    unit = lcm(*(amount.denominator for _, amount in charged))
    weights = [(interval, int(amount * unit)) for interval, amount in charged]
    # A charge on `within` that is worth more than all others: the best set is sure to meet it.
    sure = 1 + sum(weight for _, weight in weights)
    weights.append((within, sure))
    ends = sorted({last for (_, last), _ in weights})
    # Exact integers: of 64 bits where all sums fit, else of Python.
    exact = np.int64 if 2 * sure < _MAX_INT64 else object
    # Row 0 is the empty set, which is before all blocks; row j + 1 is about sets that end at ends[j].
    # Column p is about sets of p blocks. A set of fewer blocks is not worth more than a larger one.
    most = min(most, len(ends))
    best = np.zeros((len(ends) + 1, most + 1), dtype=exact)
    for place in range(len(ends)):
        gained = _gained(weights, ends, place, exact)
        before = best[: place + 1, :-1] + gained[:, np.newaxis]
        best[place + 1, 1:] = before.max(axis=0)
    return Fraction(int(best[:, most].max()) - sure, unit)


def _gained(
    weights: Sequence[tuple[Interval, int]], ends: Sequence[float], place: int, exact: type
) -> np.ndarray:
    """Return the weight that block ends[place] adds to a set of blocks, by the set's last block.

    Entry 0 is for the empty set, entry i + 1 for sets whose last block is ends[i].
    """
    gains: np.ndarray = np.zeros(place + 1, dtype=exact)
    end = ends[place]
    for (first, last), weight in weights:
        if not first <= end <= last:
            continue
        # Sets that end before `first` do not meet this charge yet; the empty set meets nothing.
        gains[bisect_left(ends, first, 0, place)] += weight
    # A charge is gained by all sets that end before it: sums from the right.
    return np.cumsum(gains[::-1])[::-1]
