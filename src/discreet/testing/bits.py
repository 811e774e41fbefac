"""Bits chosen by a test. Only they, and audits by playback, fix the randomness of a mechanism.

Nothing here is secure. A mechanism that draws from these bits protects nobody.
"""

from __future__ import annotations

from hashlib import shake_128

from ..errors import NoRandomness


class ScriptedBits:
    """Give the bytes of a script, in order, and fail when it ends.

    >>> from discreet.testing.bits import ScriptedBits
    >>> bits = ScriptedBits(b"abc")
    >>> bits.take(2), bits.left
    (b'ab', 1)
    >>> bits.take(2)
    Traceback (most recent call last):
    ...
    discreet.errors.NoRandomness: the script has ended
    """

    def __init__(self, script: bytes) -> None:
        self._script = script
        self._used = 0

    @property
    def left(self) -> int:
        """The number of bytes that the script still holds."""
        return len(self._script) - self._used

    def take(self, count: int, /) -> bytes:
        """Return the next `count` bytes of the script."""
        if count > self.left:
            raise NoRandomness("the script has ended")
        start = self._used
        self._used += count
        return self._script[start : self._used]


class HashedBits:
    """Give a reproducible stream, SHAKE-128 of a seed and a counter, and log all bytes given.

    >>> from discreet.testing.bits import HashedBits
    >>> HashedBits(b"seed").take(4) == HashedBits(b"seed").take(4)
    True
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self.log: list[bytes] = []

    def take(self, count: int, /) -> bytes:
        """Return `count` bytes that depend on the seed and on the number of earlier calls."""
        # The counter makes each call draw other bytes, whatever the counts.
        data = shake_128(self._seed + b"/%d" % len(self.log)).digest(count)
        self.log.append(data)
        return data


class UntouchedBits:
    """Fail the test if any bit is drawn: refusals must come before.

    >>> from discreet.testing.bits import UntouchedBits
    >>> UntouchedBits().take(1)
    Traceback (most recent call last):
    ...
    AssertionError: a bit was drawn
    """

    def take(self, count: int, /) -> bytes:
        """Refuse."""
        raise AssertionError("a bit was drawn" if count else "no bits were asked for")


class FailingBits:
    """Give some bytes, then fail like a broken device.

    >>> from discreet.testing.bits import FailingBits
    >>> FailingBits(after=1).take(2)
    Traceback (most recent call last):
    ...
    discreet.errors.NoRandomness: the source failed
    """

    def __init__(self, after: int = 0) -> None:
        self._left = after

    def take(self, count: int, /) -> bytes:
        """Return bytes of value 0 until the source fails."""
        self._left -= count
        if self._left < 0:
            raise NoRandomness("the source failed")
        return bytes(count)


class ShortBits:
    r"""Give one byte less than asked for.

    >>> from discreet.testing.bits import ShortBits
    >>> ShortBits().take(3)
    b'\x00\x00'
    """

    def take(self, count: int, /) -> bytes:
        """Return one byte too few."""
        return bytes(count - 1)
