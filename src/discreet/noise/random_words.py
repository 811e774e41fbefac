"""Uniform random words of a chosen width, as arrays and as Python integers."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import NoRandomness
from ..frozen import frozen
from .bits import Bits

Unsigned: TypeAlias = (
    NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64]
)


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

    >>> from discreet.noise.random_words import ByteWords
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
