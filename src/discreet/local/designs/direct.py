"""k-ary randomized response: each option is its own set (Warner 1965; Kairouz et al. 2016).

A device sends its option, or one of the d − 1 others, each equally likely.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import AnyArray, Flags
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import DesignSizes, Integers, read_numbers


def direct_facts(options: int) -> DesignSizes:
    """Return the sizes: |Y| = d, w = 1, λ = 0.

    >>> from discreet.local.designs.direct import direct_facts
    >>> direct_facts(10)
    DesignSizes(member='direct', options=10, outputs=10, inside=1, shared=0, bits=4)
    """
    return DesignSizes("direct", options, options, 1, 0, (options - 1).bit_length())


@frozen
class Direct:
    """Design of k-ary randomized response: S_v = {v}."""

    facts: DesignSizes

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Return v itself, or one of the d − 1 others."""
        drawn = uniform(self.facts.outputs - 1, values.size, bits=bits)
        # Numbers from v on are shifted by one, so that v itself is never among the others.
        others = drawn + (drawn >= values)
        return np.where(inside, values, others)

    def counts(self, reports: AnyArray, /) -> Integers:
        """Count each output."""
        return np.bincount(reports, minlength=self.facts.options).astype(np.int64)

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports are options."""
        return read_numbers(reports, self.facts.outputs)
