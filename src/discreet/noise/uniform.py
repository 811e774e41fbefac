"""Uniform integers below any bound, by rejection sampling."""

from __future__ import annotations

from typing import overload

import numpy as np

from ..arithmetic.arrays import Integers
from ..arithmetic.rational import Number, whole
from ..errors import InvalidArgument
from ..frozen import frozen
from .bits import Bits, ByteWords, RandomWords, readable
from .block_draws import cached, integers

# Largest bound of an array: its values fit in int64.
_MAX_BOUND = 1 << 63


@frozen
class Uniform:
    """Uniform law: P(x) = 1/bound for x = 0 … bound − 1, bound ≤ 2^63.

    Law: tests/noise/test_trees.py::TestUniform
    """

    bound: int
    width: int = 64

    def sample(self, count: int, draw: RandomWords, /) -> Integers:
        """Take words modulo the bound; words from its largest multiple on are drawn again."""
        # Words from `limit` on would make small remainders more likely: they are drawn again.
        limit = (1 << self.width) // self.bound * self.bound
        words = np.array(draw.words(count, self.width), dtype=np.uint64)
        # `> limit - 1` instead of `>= limit`: a limit of 2^64 is no uint64.
        last = np.uint64(limit - 1)
        rejected = np.flatnonzero(words > last)
        while rejected.size:
            words[rejected] = draw.words(rejected.size, self.width)
            rejected = np.flatnonzero(words > last)
        words %= np.uint64(self.bound)
        return words.view(np.int64)


def wide(bound: int, draw: RandomWords) -> int:
    """Draw one uniform Python integer below any bound, by rejection.

    As many bits are drawn as bound − 1 has, so at least half of the proposals are accepted.

    >>> from discreet.noise.uniform import wide
    >>> from discreet.noise.bits import ByteWords
    >>> class Zeros:
    ...     def take(self, count):
    ...         return bytes(count)
    >>> wide(10**40, ByteWords(Zeros()))
    0
    """
    width = (bound - 1).bit_length()
    proposal = bound
    while proposal >= bound:
        proposal = draw.word(width)
    return proposal


@cached
def _law(bound: object) -> Uniform:
    return Uniform(whole(bound, "bound", least=1))


@overload
def uniform(bound: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def uniform(bound: Number, size: int, *, bits: Bits | None = None) -> Integers: ...
def uniform(bound: Number, size: int | None = None, *, bits: Bits | None = None) -> int | Integers:
    """Draw x from 0 … bound − 1, each with probability exactly 1/bound.

    Lemire (2019, §3): random words below the largest multiple of the bound that fits are taken
    modulo the bound; the other words are drawn again.

    >>> from discreet.noise import uniform
    >>> uniform(1), uniform(6, 4).max() < 6, uniform(10**30) < 10**30
    (0, np.True_, True)

    Guarantee: every value has probability exactly 1/bound.

    Refuses: InvalidArgument for a bound below 1, and for arrays with a bound above 2^63 (single
        draws have no limit), before any bit is drawn.

    Law: tests/noise/test_trees.py::TestUniform
    """
    law = _law(bound)
    if law.bound <= _MAX_BOUND:
        return integers(law, size, bits)
    if size is not None:
        raise InvalidArgument("bound must be at most 2**63 for arrays; draw single values instead")
    return wide(law.bound, ByteWords(readable(bits)))
