"""Secure random bits in blocks, and uniform random words: the only source of randomness.

A source of bits is an object with `take(count)`, which returns that many random bytes. The default
is OpenSSL's generator (`ssl.RAND_bytes`: seeded by the operating system, reseeded after a fork,
faster than `os.urandom`). Requests of up to 1,024 bytes are served from a block of 4,096 that
belongs to one thread, is dropped in a forked child and is never pickled.

Samplers read uniform words of a chosen width, as arrays or as Python integers (`RandomWords`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument, NoRandomness
from ..frozen import frozen

Unsigned: TypeAlias = (
    NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64]
)
_BLOCK = 4096

_generation = 0


def generation() -> int:
    """Return how many forks led to this process.

    Bits that were drawn under another number belong to a parent process too, and must not be used.
    """
    return _generation


def _forked() -> None:
    global _generation  # noqa: PLW0603 - a fork is a fact about the whole process
    _generation += 1


if hasattr(os, "register_at_fork"):  # pragma: no branch - absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


@runtime_checkable
class Bits(Protocol):
    """Give exactly `count` uniform, independent bytes, or raise `NoRandomness`."""

    def take(self, count: int, /) -> bytes:
        """Return `count` fresh bytes."""
        ...


class _Spare(threading.local):
    """Unused bytes of one thread's block, as (generation, bytes, number of bytes used).

    The block is taken out of the list while it is used. A signal handler that draws meanwhile finds
    none and fetches its own, so no byte is served twice.
    """

    def __init__(self) -> None:
        self.rests: list[tuple[int, bytes, int]] = []


class SecureBits:
    """Draw bytes from OpenSSL's generator, safe in threads, after a fork and after pickling.

    >>> from discreet.noise import SecureBits
    >>> len(SecureBits().take(5))
    5

    A source that fails or falls short gives `NoRandomness` and no output. Pickling gives a fresh source, no state.
    """

    __slots__ = ("_spare",)

    def __init__(self) -> None:
        self._spare = _Spare()

    def take(self, count: int, /) -> bytes:
        """Return exactly `count` fresh bytes."""
        if count > _BLOCK // 4:
            return _fetch(count)
        rests = self._spare.rests
        made, data, used = rests.pop() if rests else (-1, b"", 0)
        if made != _generation or used + count > len(data):
            made, data, used = _generation, _fetch(_BLOCK), 0
        rests[:] = [(made, data, used + count)]
        return data[used : used + count]

    def __reduce__(self) -> tuple[type[SecureBits], tuple[()]]:
        return SecureBits, ()


def _fetch(count: int) -> bytes:
    """Return fresh bytes of OpenSSL; `ssl` is imported here, since it is slow to import."""
    try:
        data: bytes = import_module("ssl").RAND_bytes(count)
    except (ImportError, OSError, ValueError, MemoryError) as failure:  # ssl.SSLError is an OSError
        raise NoRandomness("the source of secure bits failed; nothing was drawn") from failure
    if len(data) != count:
        raise NoRandomness("the source of secure bits fell short; nothing was drawn")
    return data


_SECURE = SecureBits()


def secure_bits() -> SecureBits:
    """Return the process-wide default source.

    >>> from discreet.noise import secure_bits
    >>> secure_bits() is secure_bits()
    True
    """
    return _SECURE


class CheckedBits:
    """Draw secure bytes, and call `checkpoint` before each `take`: it can stop a long run.

    >>> from discreet.noise import CheckedBits
    >>> seen = []
    >>> len(CheckedBits(lambda: seen.append("checked")).take(5)), seen
    (5, ['checked'])

    Guarantee: the bytes come from the process-wide secure source alone. The checkpoint can raise,
    and then no byte is drawn; what it returns is ignored, so it cannot supply or alter a byte.
    """

    __slots__ = ("_checkpoint",)

    def __init__(self, checkpoint: Callable[[], object]) -> None:
        self._checkpoint = checkpoint

    def take(self, count: int, /) -> bytes:
        """Return exactly `count` fresh bytes; raises what the checkpoint raises."""
        self._checkpoint()
        return _SECURE.take(count)


def readable(bits: object) -> Bits:
    """Return a source of bits after a check of its type; None gives the secure default.

    >>> from discreet.noise import secure_bits
    >>> from discreet.noise.bits import readable
    >>> readable(None) is secure_bits()
    True

    Refuses: InvalidArgument for an object without a method `take`.
    """
    if bits is None:
        return _SECURE
    if not isinstance(bits, Bits) or isinstance(bits, type):
        raise InvalidArgument(
            f"bits must have a method take(count) -> bytes, got {type(bits).__name__}; leave it out"
        )
    return bits


class RandomWords(Protocol):
    """Source of independent uniform words.

    The samplers see nothing else, so a test may script every word.
    """

    def words(self, count: int, width: int, /) -> Unsigned:
        """Return `count` words of `width` ≤ 64 bits each."""
        ...

    def word(self, width: int, /) -> int:
        """Return one word of any width as a Python integer."""
        ...


@frozen
class ByteWords:
    """Read words from bytes, little end first.

    >>> from discreet.noise.bits import ByteWords
    >>> class Ones:
    ...     def take(self, count):
    ...         return bytes([255]) * count
    >>> ByteWords(Ones()).words(2, 12).tolist(), ByteWords(Ones()).word(70) == 2**70 - 1
    ([4095, 4095], True)

    Refuses: NoRandomness for a source that falls short.

    Law: tests/noise/test_bits.py::TestWords
    """

    bits: Bits

    def words(self, count: int, width: int, /) -> Unsigned:
        """Return `count` words of `width` ≤ 64 bits each, in the narrowest unsigned type."""
        bytes_needed = (width + 7) // 8
        # The next power of two: 1, 2, 4 or 8 bytes.
        size = 1 << max(0, bytes_needed - 1).bit_length()
        data = self._take(count * size)
        full: Unsigned = np.frombuffer(data, dtype=f"<u{size}")
        if width == 8 * size:
            return full
        # The low bits of a uniform word are uniform themselves.
        return full & full.dtype.type((1 << width) - 1)

    def word(self, width: int, /) -> int:
        """Return one word of any width as a Python integer."""
        data = self._take((width + 7) // 8)
        return int.from_bytes(data, "little") & ((1 << width) - 1)

    def _take(self, count: int) -> bytes:
        data = self.bits.take(count)
        if len(data) != count:
            raise NoRandomness("the source of bits fell short; nothing was drawn")
        return data
