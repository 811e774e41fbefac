"""Public hash functions, the same on every device: keyed BLAKE2b to 64 bits, then multiply-shift.

A value's fingerprint is keyed BLAKE2b to 64 bits (RFC 7693). Row j of a sketch maps it to the cell
(a·high + b·low + c mod 2^64) >> (64 − l). The same keyed hash draws a, b, c for the row. Two values
meet in a cell with probability 2^-l (Dietzfelbinger 1996; Thorup 2015, §3.3: strongly universal on
pairs of 32-bit words for l ≤ 33). Privacy does not depend on a hash; the errors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen

Words64 = NDArray[np.uint64]

# Halves of a 64-bit fingerprint: the shift of the high one, and the mask of the low one.
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
# Longest key of BLAKE2b, in bytes.
_MAX_KEY_BYTES = 64


def fingerprint(value: str, key: str) -> int:
    """Return the 64-bit fingerprint of a text under a public key.

    >>> from discreet.local.deployments.hashing import fingerprint
    >>> hex(fingerprint("firefox", "metric 1"))
    '0xd65fbd9ad9fce576'

    Refuses: `InvalidArgument` for anything but text, and for text that UTF-8 cannot write. The
    message carries no value.
    Law: `tests/local/test_sketches.py::TestHashes`
    """
    try:
        data = _text(value).encode()
    except UnicodeEncodeError:
        raise InvalidArgument("a value must be text that UTF-8 can write") from None
    digest = blake2b(data, digest_size=8, key=key.encode()).digest()
    return int.from_bytes(digest, "little")


def fingerprints(values: Sequence[str] | NDArray[np.str_], key: str) -> Words64:
    """Return the fingerprints of many texts; each different text is hashed once."""
    if not isinstance(values, list | tuple | np.ndarray):
        raise InvalidArgument(
            f"values must be text, or a list of texts, got {type(values).__name__}"
        )
    # An array without a length holds one value.
    listed = np.ravel(values).tolist() if isinstance(values, np.ndarray) else list(values)
    # All are checked before any is hashed: an unhashable value would fail in the dictionary.
    different = dict.fromkeys(map(_text, listed))
    known = {value: fingerprint(value, key) for value in different}
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
    >>> prints = fingerprints(["firefox", "firefox"], "metric 1")
    >>> RowHashes(2, 16, "metric 1").place(np.array([0, 1]), prints).tolist()
    [8, 8]

    Law: `tests/local/test_sketches.py::TestHashes`
    """

    rows: int
    width: int
    key: str

    def place(self, row: Integers, prints: Words64) -> Integers:
        """Return the cell of each fingerprint in its row; `row` and `prints` are broadcast."""
        a, b, c = _coefficients(self.rows, self.key)
        high = prints >> _HALF
        low = prints & _LOW
        # Sums and products wrap modulo 2^64, as the hash wants.
        mixed = a[row] * high + b[row] * low + c[row]
        # width = 2^l has l + 1 bits, and the l highest bits of the sum are kept.
        shift = np.uint64(65 - self.width.bit_length())
        highest_bits = mixed >> shift
        cells: Integers = highest_bits.astype(np.int64)
        return cells


@lru_cache(maxsize=8)
def _coefficients(rows: int, key: str) -> tuple[Words64, Words64, Words64]:
    """Return a, b, c of every row: 24 bytes of the keyed hash of the row's number."""
    public_key = key.encode()
    digests = []
    for row in range(rows):
        digest = blake2b(row.to_bytes(4, "little"), digest_size=24, key=public_key).digest()
        digests.append(digest)
    numbers = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    # Each column is copied, since the rows look their coefficients up by fancy indexing.
    columns = np.ascontiguousarray(numbers.reshape(rows, 3).T)
    return columns[0], columns[1], columns[2]


def read_width(value: object, name: str, *, least: int = 2, most: int = 1 << 20) -> int:
    """Read a number of cells: a power of two.

    >>> from discreet.local.deployments.hashing import read_width
    >>> read_width(1024, "width")
    1024

    Refuses: `InvalidArgument` for other numbers.
    """
    width = whole(value, name, least=least, most=most)
    # A power of two has one bit, which the subtraction clears.
    if width & (width - 1):
        raise InvalidArgument(
            f"{name} must be a power of two, such as {1 << (width.bit_length() - 1)}, got {width}"
        )
    return width


def read_key(key: object) -> str:
    """Read the public key of a metric's hashes: 1 to 64 bytes of text, best unique per metric."""
    if not isinstance(key, str) or not key.isprintable() or not _fits_key(key):
        raise InvalidArgument(
            "key must be text of 1 to 64 bytes, best the name of the metric; it is public"
        )
    return key


def _fits_key(key: str) -> bool:
    """Return whether BLAKE2b takes the key."""
    return 1 <= len(key.encode(errors="replace")) <= _MAX_KEY_BYTES
