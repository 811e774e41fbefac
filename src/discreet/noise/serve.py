"""Serve draws: arrays at once, single draws from blocks, so that one draw's time says nothing of its size.

Up to 1 024 draws come from a block of 4 096 that belongs to one thread and one law. A block is filled whether its
values are small or large, is dropped in a forked child, and is never pickled.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..rational import whole
from .bits import Bits, generation, readable, secure_bits
from .words import ByteWords, Words

__all__ = ["BLOCK", "FEW", "MOST", "Sampler", "blocks", "cached", "count_of", "integers", "serve"]

BLOCK = 4096
FEW = 1024
MOST = 1 << 33
_KEPT = 32

T = TypeVar("T")


class Sampler(Protocol):
    """A law with its parameters: equal samplers draw from the same law."""

    def sample(self, count: int, draw: Words, /) -> NDArray[np.generic]:
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

    >>> count_of(2**40)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: size must be at most 2**33 draws at a time; ask for several smaller arrays
    """
    count = whole(size, "size")
    if count > MOST:
        raise InvalidArgument("size must be at most 2**33 draws at a time; ask for several smaller arrays")
    return count


class _Block:
    __slots__ = ("generation", "used", "values")

    def __init__(self) -> None:
        self.values: NDArray[np.generic] = np.empty(0, dtype=np.int64)
        self.used = 0
        self.generation = -1


class _Blocks(threading.local):
    def __init__(self) -> None:
        self.kept: OrderedDict[Sampler, _Block] = OrderedDict()


blocks = _Blocks()


def integers(sampler: Sampler, size: int | None, bits: Bits | None) -> int | NDArray[np.int64]:
    """Serve integers (for the type checker's sake)."""
    return cast("int | NDArray[np.int64]", serve(sampler, size, bits))


def serve(sampler: Sampler, size: int | None, bits: Bits | None) -> object:
    """Draw one value (size None) or an array, from a block where few are asked for and the bits are the secure ones."""
    if size is None and bits is None:
        found: object = _take(sampler, 1).item()
        return found
    count = 1 if size is None else count_of(size)
    source = readable(bits)
    if bits is None and count <= FEW:
        return _take(sampler, count).copy()
    drawn = sampler.sample(count, ByteWords(source))
    return drawn.item() if size is None else drawn


def _take(sampler: Sampler, count: int) -> NDArray[np.generic]:
    """Take the next `count` ≤ FEW values of this thread's block for `sampler`; make a new block if it runs out."""
    kept = blocks.kept
    block = kept.get(sampler)
    if block is None:
        while len(kept) >= _KEPT:
            kept.popitem(last=False)
        block = kept.setdefault(sampler, _Block())
    if block.generation != generation() or block.used + count > block.values.size:
        block.values, block.used = sampler.sample(BLOCK, ByteWords(secure_bits())), 0
        block.generation = generation()
    start = block.used
    block.used = start + count
    return block.values[start : block.used]
