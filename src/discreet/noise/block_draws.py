"""Draws in blocks, against a timing side channel: the time of one draw hardly depends on its size.

A request of up to 1,024 draws is served from a block of 4,096 values, which was drawn ahead for one
thread and one law. Filling a block takes the time of all its values, whichever of them is served
next. A larger array, and a draw from a given source of bits, is drawn directly. A block is dropped
in a forked child and is never pickled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from .bits import Bits, ByteWords, RandomWords, generation, readable, secure_bits

BLOCK = 4096
# Up to this many draws are served from a block.
FEW = 1024
# Most draws of one call.
MOST = 1 << 33
# Most blocks that one thread keeps.
_MAX_BLOCKS = 32

T = TypeVar("T")


class Sampler(Protocol):
    """Law with its parameters; equal samplers draw from the same law."""

    def sample(self, count: int, draw: RandomWords, /) -> NDArray[np.generic]:
        """Draw `count` independent values."""
        ...

    def __hash__(self) -> int: ...


def cached(read: Callable[[object], T]) -> Callable[[object], T]:
    """Return `read` with a cache of its last 256 results, by parameter.

    1, 1.0 and True have entries of their own. A parameter that cannot be hashed is not cached.
    """
    kept = lru_cache(maxsize=256, typed=True)(read)

    def reader(value: object) -> T:
        try:
            hash(value)
        except TypeError:
            return read(value)
        return kept(value)

    return reader


def count_of(size: object) -> int:
    """Return the number of draws of a call, after a check.

    >>> from discreet.noise.block_draws import count_of
    >>> count_of(2**40)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: size must be at most 2**33 draws at a time; ...

    Refuses: InvalidArgument for a size below 0 or above 2^33.
    """
    count = whole(size, "size")
    if count > MOST:
        raise InvalidArgument(
            "size must be at most 2**33 draws at a time; ask for several smaller arrays"
        )
    return count


class _Block:
    """Values of one law, drawn ahead, each served at most once."""

    __slots__ = ("generation", "sampler", "singles", "used", "values")

    def __init__(self, sampler: Sampler) -> None:
        # Kept alive, so that no other sampler gets its id, the key of the block.
        self.sampler = sampler
        self.values: NDArray[np.generic] = np.empty(0, dtype=np.int64)
        # The values as Python objects, all made at once: small ints are made faster.
        self.singles: list[object] = []
        self.used = 0
        # No fork generation is −1: the first use fills the block.
        self.generation = -1

    def reserve(self, count: int) -> int:
        """Mark the next `count` ≤ FEW values as used and return the index of the first.

        A block with too few values left, or from before a fork, is drawn anew first.
        """
        # A block from before a fork would be served by the parent and by the child.
        if self.generation != generation() or self.used + count > self.values.size:
            self.values = self.sampler.sample(BLOCK, ByteWords(secure_bits()))
            self.used = 0
            self.singles = []
            self.generation = generation()
        start = self.used
        self.used = start + count
        return start


class _Blocks(threading.local):
    """Blocks of one thread, the least recently used first.

    A block is taken out while it is used. A signal handler that draws meanwhile finds none and
    makes its own, so no value is ever served twice.
    """

    def __init__(self) -> None:
        self.kept: dict[int, _Block] = {}

    def borrow(self, sampler: Sampler) -> _Block:
        """Take out the block of a sampler, or make one."""
        return self.kept.pop(id(sampler), None) or _Block(sampler)

    def give_back(self, block: _Block) -> None:
        """Put a block back as the most recently used; drop the oldest of too many."""
        self.kept[id(block.sampler)] = block
        if len(self.kept) > _MAX_BLOCKS:
            oldest = next(iter(self.kept))
            del self.kept[oldest]


blocks = _Blocks()


def integers(sampler: Sampler, size: int | None, bits: Bits | None) -> int | NDArray[np.int64]:
    """Draw integers: `serve` with the type of integer laws."""
    return cast("int | NDArray[np.int64]", serve(sampler, size, bits))


def serve(sampler: Sampler, size: int | None, bits: Bits | None) -> object:
    """Draw one value (size None) or an array of `size` values.

    Up to 1,024 draws from the secure bits come from a block. More draws, or draws from a given
    source of bits, are made directly.

    Refuses: InvalidArgument for a bad size or source, before any bit is drawn.

    Law: tests/noise/test_bits.py::TestBlocks
    Law: tests/noise/test_bits.py::TestFork
    """
    # Everything is checked before the first bit is drawn.
    count = 1 if size is None else count_of(size)
    source = readable(bits)
    if bits is None and count <= FEW:
        return _from_block(sampler, None if size is None else count)
    drawn = sampler.sample(count, ByteWords(source))
    return drawn.item() if size is None else drawn


def _from_block(sampler: Sampler, count: int | None) -> object:
    """Serve one value (`count` None) or an array from this thread's block of the law."""
    block = blocks.borrow(sampler)
    start = block.reserve(1 if count is None else count)
    drawn: object
    if count is None:
        # All at once: making one small Python int takes less time than making a large one.
        block.singles = block.singles or block.values.tolist()
        drawn = block.singles[start]
    else:
        drawn = block.values[start : start + count].copy()
    # Given back only now, after its position moved on: an interruption loses values, repeats none.
    blocks.give_back(block)
    return drawn
