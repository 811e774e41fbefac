"""Subset selection: name k of the d options, the truth more often than others.

See Ye, Barg 2018 and Wang et al. 2016. A report is a row of ⌈d/8⌉ bytes, bit v of which says that
option v is named.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.arrays import AnyArray, Flags
from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import DesignSizes, Integers

# Options times reports that are unpacked at a time: a bound on memory.
_CHUNK = 1 << 22


def subset_facts(options: int, named: int) -> DesignSizes:
    """Return the sizes for d options, of which a report names k.

    They are |Y| = C(d, k), w = C(d−1, k−1), λ = C(d−2, k−2).

    >>> from discreet.local.designs.subset import subset_facts
    >>> subset_facts(4, 2)
    DesignSizes(member='subset', options=4, outputs=6, inside=3, shared=1, bits=4)
    """
    outputs = comb(options, named)
    inside = comb(options - 1, named - 1)
    shared = 0
    if named > 1:
        shared = comb(options - 2, named - 2)
    return DesignSizes("subset", options, outputs, inside, shared, options)


@frozen
class Subset:
    """Design with S_v = the k-subsets that contain v."""

    facts: DesignSizes
    named: int

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> NDArray[np.uint8]:
        """Draw a uniform subset of the d − 1 others: of k − 1 where v is named, else of k.

        Floyd's algorithm (Bentley, Floyd 1987): for j = N − m … N − 1 take a uniform t ≤ j, or j
        itself if t is taken. The result is a uniform m-subset of N. For m = k − 1 it is the loop
        for m = k without its first round, so everyone goes through the same k rounds.
        """
        people = values.size
        others = self.facts.options - 1
        rows = np.arange(people)
        taken = np.zeros((people, others + 1), dtype=np.bool_)
        first_round = others - self.named
        for j in range(first_round, others):
            drawn = uniform(j + 1, people, bits=bits)
            chosen = np.where(taken[rows, drawn], j, drawn)
            # The first round counts only where v is not named: k others are needed there.
            taken[rows, chosen] |= ~inside if j == first_round else True
        return np.packbits(_insert(taken, values, inside), axis=1, bitorder="little")

    def counts(self, reports: AnyArray, /) -> Integers:
        """Add up the columns of bits."""
        options = self.facts.options
        total = np.zeros(options, dtype=np.int64)
        step = max(1, _CHUNK // options)
        for start in range(0, len(reports), step):
            chunk = reports[start : start + step]
            rows = np.unpackbits(chunk, axis=1, count=options, bitorder="little")
            total += rows.sum(axis=0, dtype=np.int64)
        return total

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports name exactly k options, and nothing beyond the last one."""
        if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != self.facts.width:
            raise InvalidArgument(
                f"reports must be rows of {self.facts.width} bytes, as `randomize` returns them"
            )
        named = np.bitwise_count(reports).sum(axis=1, dtype=np.int64)
        valid = np.asarray(named == self.named)
        # Bits of the last byte that stand for no option must be 0.
        used_bits = self.facts.options % 8
        if used_bits:
            valid &= reports[:, -1] >> used_bits == 0
        return valid


def _insert(taken: Flags, values: Integers, inside: Flags) -> Flags:
    """Shift the options from v on by one, and name v where it is inside."""
    options = np.arange(taken.shape[1])[None, :]
    others = options - (options > values[:, None])
    named = np.take_along_axis(taken, others, axis=1)
    named[np.arange(len(values)), values] = inside
    return named
