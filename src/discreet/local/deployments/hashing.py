"""Public hash functions, the same on every device: keyed BLAKE2b to 64 bits, then multiply-shift.

A value's fingerprint is keyed BLAKE2b to 64 bits (RFC 7693). Row j of a sketch places it by (a·high + b·low + c mod
2^64) >> (64 − l), a, b, c drawn for the row by the same keyed hash: two values meet in a cell with probability 2^-l
(Dietzfelbinger 1996; Thorup 2015, §3.3: strongly universal on pairs of 32-bit words for l ≤ 33). No promise of privacy
rests on a hash; the errors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen

Words64 = NDArray[np.uint64]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_LONGEST_KEY = 64


def fingerprint(value: str, key: str) -> int:
    """Return the 64-bit fingerprint of a text under a public key.

    >>> from discreet.local.deployments.hashing import fingerprint
    >>> hex(fingerprint("firefox", "metric 1"))
    '0xd65fbd9ad9fce576'

    Refuses what is no text, and text that UTF-8 cannot write; the message carries no value.
    """
    if not isinstance(value, str):
        raise InvalidArgument(f"a value must be text, got {type(value).__name__}")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument("a value must be text that UTF-8 can write") from None
    return int.from_bytes(blake2b(data, digest_size=8, key=key.encode()).digest(), "little")


def fingerprints(values: Sequence[str] | NDArray[np.str_], key: str) -> Words64:
    """Return the fingerprints of many texts, each different one hashed once."""
    if not isinstance(values, list | tuple | np.ndarray):
        raise InvalidArgument(
            f"values must be text, or a list of texts, got {type(values).__name__}"
        )
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    known = {value: fingerprint(value, key) for value in dict.fromkeys(map(_text, listed))}
    return np.array([known[value] for value in listed], dtype=np.uint64)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"a value must be text, got {type(value).__name__}")
    return value


@frozen
class RowHashes:
    """`rows` hash functions from fingerprints to `width` cells, a power of two.

    >>> import numpy as np
    >>> from discreet.local.deployments.hashing import RowHashes, fingerprints
    >>> RowHashes(2, 16, "metric 1").place(np.array([0, 1]), fingerprints(["firefox", "firefox"], "metric 1")).tolist()
    [8, 8]
    """

    rows: int
    width: int
    key: str

    def place(self, row: NDArray[np.int64], prints: Words64) -> NDArray[np.int64]:
        """Return the cell of each fingerprint in the row beside it; the two are broadcast."""
        a, b, c = (column[row] for column in _coefficients(self.rows, self.key))
        mixed = a * (prints >> _HALF) + b * (prints & _LOW) + c
        cells: NDArray[np.int64] = (mixed >> np.uint64(65 - self.width.bit_length())).astype(
            np.int64
        )
        return cells


@lru_cache(maxsize=8)
def _coefficients(rows: int, key: str) -> tuple[Words64, Words64, Words64]:
    secret = key.encode()
    drawn = b"".join(
        blake2b(j.to_bytes(4, "little"), digest_size=24, key=secret).digest() for j in range(rows)
    )
    table = np.frombuffer(drawn, dtype="<u8").reshape(rows, 3)
    a, b, c = (np.ascontiguousarray(table[:, column]).astype(np.uint64) for column in range(3))
    return a, b, c


def read_width(value: object, name: str, *, least: int = 2, most: int = 1 << 20) -> int:
    """Read a number of cells: a power of two.

    >>> from discreet.local.deployments.hashing import read_width
    >>> read_width(1024, "width")
    1024

    Refuses other numbers.
    """
    width = whole(value, name, least=least, most=most)
    if width & (width - 1):
        raise InvalidArgument(
            f"{name} must be a power of two, such as {1 << (width.bit_length() - 1)}, got {width}"
        )
    return width


def read_key(key: object) -> str:
    """Read the public key of a metric's hashes: 1 to 64 bytes of text, best one of its own for each metric."""
    if (
        not isinstance(key, str)
        or not 1 <= len(key.encode(errors="replace")) <= _LONGEST_KEY
        or not key.isprintable()
    ):
        raise InvalidArgument(
            "key must be text of 1 to 64 bytes, best the name of the metric; it is public"
        )
    return key
