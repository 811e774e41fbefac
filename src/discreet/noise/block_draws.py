"""Serve draws: arrays at once, single draws from blocks, so that one draw's time says nothing of its size.

Up to 1 024 draws come from a block of 4 096 that belongs to one thread and one law. A block is filled whether its
values are small or large, is dropped in a forked child, and is never pickled.
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
from .bits import Bits, generation, readable, secure_bits
from .random_words import ByteWords, RandomWords

BLOCK = 4096
FEW = 1024
MOST = 1 << 33
_KEPT = 32

T = TypeVar("T")


class Sampler(Protocol):
    """A law with its parameters: equal samplers draw from the same law."""

    def sample(self, count: int, draw: RandomWords, /) -> NDArray[np.generic]:
        """Draw `count` independent values."""
        ...

    def __hash__(self) -> int: ...


def cached(read: Callable[[object], T]) -> Callable[[object], T]:
    """Remember what a parameter was read as; 1, 1.0 and True are told apart, what cannot be hashed is read anew."""
    kept = lru_cache(maxsize=256, typed=True)(read)

    def reader(value: object) -> T:
        try:
            hash(value)
        except TypeError:
            return read(value)
        return kept(value)

    return reader


def count_of(size: object) -> int:
    """Read how many draws are asked for.

    >>> from discreet.noise.block_draws import count_of
    >>> count_of(2**40)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: size must be at most 2**33 draws at a time; ask for several smaller arrays
    """
    count = whole(size, "size")
    if count > MOST:
        raise InvalidArgument(
            "size must be at most 2**33 draws at a time; ask for several smaller arrays"
        )
    return count


class _Block:
    __slots__ = ("generation", "sampler", "singles", "used", "values")

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler  # kept alive, so that its id stays its own
        self.values: NDArray[np.generic] = np.empty(0, dtype=np.int64)
        self.singles: list[
            object
        ] = []  # the values as Python objects, all made at once: small ints are made faster
        self.used = 0
        self.generation = -1

    def reserve(self, count: int) -> int:
        """Use up the next `count` ≤ FEW values and say where they begin; fill the block anew if it runs out."""
        if self.generation != generation() or self.used + count > self.values.size:
            self.values, self.used = self.sampler.sample(BLOCK, ByteWords(secure_bits())), 0
            self.singles, self.generation = [], generation()
        start = self.used
        self.used = start + count
        return start


class _Blocks(threading.local):
    """The blocks of one thread, the least recently used first.

    A block is taken out while it is used: a signal handler that draws meanwhile finds none and makes its own, so no
    value is ever served twice.
    """

    def __init__(self) -> None:
        self.kept: dict[int, _Block] = {}

    def borrow(self, sampler: Sampler) -> _Block:
        """Take out the block of a sampler, or make one."""
        return self.kept.pop(id(sampler), None) or _Block(sampler)

    def give_back(self, block: _Block) -> None:
        """Put a block back; forget the oldest of too many."""
        self.kept[id(block.sampler)] = block
        if len(self.kept) > _KEPT:
            del self.kept[next(iter(self.kept))]


blocks = _Blocks()


def integers(sampler: Sampler, size: int | None, bits: Bits | None) -> int | NDArray[np.int64]:
    """Serve integers (for the type checker's sake)."""
    return cast("int | NDArray[np.int64]", serve(sampler, size, bits))


def serve(sampler: Sampler, size: int | None, bits: Bits | None) -> object:
    """Draw one value (size None) or an array, from a block where few are asked for and the bits are the secure ones."""
    count = 1 if size is None else count_of(size)
    source = readable(bits)
    if bits is None and count <= FEW:
        return _few(sampler, None if size is None else count)
    drawn = sampler.sample(count, ByteWords(source))
    return drawn.item() if size is None else drawn


def _few(sampler: Sampler, count: int | None) -> object:
    block = blocks.borrow(sampler)
    start = block.reserve(1 if count is None else count)
    found: object
    if count is None:
        block.singles = block.singles or block.values.tolist()
        found = block.singles[start]
    else:
        found = block.values[start : start + count].copy()
    blocks.give_back(block)
    return found
