"""Words as numbers: text is the first bytes of its UTF-8, filled up with zeros."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ..designs.design import read_array


def read_words(values: object, bits: int) -> NDArray[np.int64]:
    """Read words as numbers of `bits` bits.

    >>> from discreet.local.search.spelling import read_words, text_of
    >>> read_words(["hi", "ho"], 16).tolist(), text_of(26729, 16)
    ([26729, 26735], 'hi')

    Refuses what is neither text nor a whole number, and numbers of more bits; the message carries none.
    """
    array = np.atleast_1d(read_array(values))
    mixed = (
        isinstance(values, list | tuple) and len({isinstance(value, str) for value in values}) > 1
    )
    if array.dtype.kind not in "iuU" or mixed:
        raise InvalidArgument("a word must be text or a whole number")
    if array.dtype.kind in "iu":
        if array.size and (array.min() < 0 or array.max() >= 1 << bits):
            raise InvalidArgument(f"a word must be a whole number below 2^{bits}")
        return array.astype(np.int64)
    unique, places = np.unique(array, return_inverse=True)
    return np.array([_number(str(word), bits) for word in unique], dtype=np.int64)[places]


def _number(word: str, bits: int) -> int:
    size = -(-bits // 8)
    try:
        data = word.encode()[:size].ljust(size, b"\0")
    except UnicodeEncodeError:
        raise InvalidArgument("a word must be text that UTF-8 can write") from None
    return int.from_bytes(data, "big") >> (8 * size - bits)


def text_of(number: int, bits: int) -> str:
    """Return the text of a number; numbers that are no text are shown in hexadecimal."""
    size = -(-bits // 8)
    data = (number << (8 * size - bits)).to_bytes(size, "big").rstrip(b"\0")
    try:
        shown = data.decode()
    except UnicodeDecodeError:
        return f"0x{number:x}"
    return shown if shown.isprintable() and shown else f"0x{number:x}"
