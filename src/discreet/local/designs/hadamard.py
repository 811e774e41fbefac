"""Hadamard response: sets are rows of Sylvester's matrix (Acharya, Sun, Zhang 2019).

Any two sets share half of their outputs.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import AnyArray, Flags
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import DesignSizes, Integers, read_numbers


def hadamard_facts(options: int) -> DesignSizes:
    """Return the sizes: |Y| = K = 2^⌈log₂(d+1)⌉, w = K/2, λ = K/4.

    >>> from discreet.local.designs.hadamard import hadamard_facts
    >>> hadamard_facts(3)
    DesignSizes(member='hadamard', options=3, outputs=4, inside=2, shared=1, bits=2)
    """
    # Row 0 of the matrix is all ones and no option's, hence d + 1 rows.
    bits = max(2, options.bit_length())
    outputs = 1 << bits
    return DesignSizes("hadamard", options, outputs, outputs // 2, outputs // 4, bits)


@frozen
class Hadamard:
    """Design with S_v = {y : y and v + 1 have an even number of binary ones in common}."""

    facts: DesignSizes

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Draw all bits of y but one, where v + 1 has a one; set that bit to the parity wanted."""
        row = values + 1
        lowest = row & -row
        drawn = uniform(self.facts.inside, values.size, bits=bits)
        # The drawn bits from `lowest` on move up by one, which frees the bit at `lowest`.
        above = (drawn & -lowest) << 1
        below = drawn & (lowest - 1)
        spread = above | below
        odd = has_odd_ones(spread & row)
        return np.where(odd == inside, spread | lowest, spread)

    def counts(self, reports: AnyArray, /) -> Integers:
        """Return (n + Σ_y N_y (−1)^⟨y, v+1⟩)/2 by one fast Walsh–Hadamard transform of integers."""
        histogram = np.bincount(reports, minlength=self.facts.outputs).astype(np.int64)
        signs = walsh(histogram)[1 : self.facts.options + 1]
        return (reports.size + signs) // 2

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports are outputs."""
        return read_numbers(reports, self.facts.outputs)


def walsh(numbers: AnyArray) -> AnyArray:
    """Return Σ_y a_y (−1)^⟨x, y⟩ for every x, along the last axis of a power of two.

    The fast Walsh–Hadamard transform. Pairs never reach beyond a row: its length is a multiple of
    theirs.

    >>> import numpy as np
    >>> from discreet.local.designs.hadamard import walsh
    >>> walsh(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    transformed = numbers.copy()
    half = 1
    while half < numbers.shape[-1]:
        pairs = transformed.reshape(-1, 2, half)
        first = pairs[:, 0]
        second = pairs[:, 1]
        transformed = np.stack([first + second, first - second], axis=1)
        half *= 2
    return transformed.reshape(numbers.shape)


def has_odd_ones(numbers: Integers) -> Flags:
    """Return which numbers have an odd number of binary ones.

    >>> import numpy as np
    >>> from discreet.local.designs.hadamard import has_odd_ones
    >>> has_odd_ones(np.array([3, 4])).tolist()
    [False, True]
    """
    return (np.bitwise_count(numbers) & 1).astype(np.bool_)
