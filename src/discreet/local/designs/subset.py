"""Subset selection: name k of the d options, the truth more often than others (Ye, Barg 2018; Wang et al. 2016).

A report is a row of ⌈d/8⌉ bytes, bit v of which says that option v is named.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import Facts, Flags, Integers

_CHUNK = 1 << 22  # options times reports unpacked at a time


def subset_facts(options: int, named: int) -> Facts:
    """Return the sizes: |Y| = C(d, k), w = C(d−1, k−1), λ = C(d−2, k−2).

    >>> from discreet.local.designs.subset import subset_facts
    >>> subset_facts(4, 2)
    Facts(member='subset', options=4, outputs=6, inside=3, shared=1, bits=4)
    """
    shared = comb(options - 2, named - 2) if named > 1 else 0
    return Facts(
        "subset", options, comb(options, named), comb(options - 1, named - 1), shared, options
    )


@frozen
class Subset:
    """S_v = the k-subsets with v in them."""

    facts: Facts
    named: int

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> NDArray[np.uint8]:
        """Draw a uniform subset of the d − 1 others, of k − 1 where v comes first, of k elsewhere.

        Floyd's algorithm (Bentley, Floyd 1987): for j = N − m … N − 1 take a uniform t ≤ j, or j itself if t is taken;
        what is taken is a uniform m-subset of N. For m = k − 1 it is the loop for m = k without its first round, so
        everyone goes through the same k rounds.
        """
        people, others = values.size, self.facts.options - 1
        rows = np.arange(people)
        taken = np.zeros((people, others + 1), dtype=np.bool_)
        for j in range(others - self.named, others):
            drawn = uniform(j + 1, people, bits=bits)
            at = np.where(taken[rows, drawn], j, drawn)
            taken[rows, at] |= ~inside if j == others - self.named else True
        return np.packbits(_put(taken, values, inside), axis=1, bitorder="little")

    def counts(self, reports: NDArray[Any], /) -> Integers:
        """Add up the columns of bits."""
        options = self.facts.options
        total = np.zeros(options, dtype=np.int64)
        step = max(1, _CHUNK // options)
        for start in range(0, len(reports), step):
            rows = np.unpackbits(
                reports[start : start + step], axis=1, count=options, bitorder="little"
            )
            total += rows.sum(axis=0, dtype=np.int64)
        return total

    def valid(self, reports: NDArray[Any], /) -> Flags:
        """Return which name exactly k options, and nothing beyond the last one."""
        if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != self.facts.width:
            raise InvalidArgument(
                f"reports must be rows of {self.facts.width} bytes, as `randomize` returns them"
            )
        spare = self.facts.options % 8
        clean = reports[:, -1] >> spare == 0 if spare else np.ones(len(reports), dtype=np.bool_)
        return np.asarray(
            clean & (np.bitwise_count(reports).sum(axis=1, dtype=np.int64) == self.named)
        )


def _put(taken: Flags, values: Integers, inside: Flags) -> Flags:
    """Shift the others up to make room for v, and name v where it is inside."""
    places = np.arange(taken.shape[1])
    others = places[None, :] - (places[None, :] > values[:, None])
    named = np.take_along_axis(taken, others, axis=1)
    named[np.arange(len(values)), values] = inside
    return named
