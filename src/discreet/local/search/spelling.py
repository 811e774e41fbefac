"""Conversion between words and numbers: the first bytes of the UTF-8 text, padded with zeros."""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import Integers
from ...errors import InvalidArgument
from ..designs.design import read_array


def read_words(values: object, bits: int) -> Integers:
    """Read words as numbers of `bits` bits.

    >>> from discreet.local.search.spelling import read_words, text_of
    >>> read_words(["hi", "ho"], 16).tolist(), text_of(26729, 16)
    ([26729, 26735], 'hi')

    Refuses: `InvalidArgument` for values that are neither text nor whole numbers, and for numbers
    of more bits. The message carries no value.
    Law: `tests/local/test_words.py::test_refusals`
    """
    array = np.atleast_1d(read_array(values))
    # NumPy would silently turn the numbers of a mixed list into text.
    mixed = False
    if isinstance(values, list | tuple):
        mixed = len({isinstance(value, str) for value in values}) > 1
    if array.dtype.kind not in "iuU" or mixed:
        raise InvalidArgument("a word must be text or a whole number")
    if array.dtype.kind in "iu":
        if array.size and (array.min() < 0 or array.max() >= 1 << bits):
            raise InvalidArgument(f"a word must be a whole number below 2^{bits}")
        return array.astype(np.int64)
    unique, inverse = np.unique(array, return_inverse=True)
    numbers = [_number(str(word), bits) for word in unique]
    return np.array(numbers, dtype=np.int64)[inverse]


def _number(word: str, bits: int) -> int:
    """Return the first `bits` bits of the word's UTF-8 bytes as a number."""
    size = -(-bits // 8)
    try:
        data = word.encode()[:size].ljust(size, b"\0")
    except UnicodeEncodeError:
        raise InvalidArgument("a word must be text that UTF-8 can write") from None
    # Whole bytes were taken, so the bits beyond the last one are dropped.
    spare_bits = 8 * size - bits
    return int.from_bytes(data, "big") >> spare_bits


def text_of(number: int, bits: int) -> str:
    """Return the text of a number; numbers that are no text are shown in hexadecimal.

    Law: `tests/local/test_words.py::test_texts_come_back_as_they_were_and_others_as_numbers`
    """
    size = -(-bits // 8)
    padded = number << (8 * size - bits)
    data = padded.to_bytes(size, "big").rstrip(b"\0")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"0x{number:x}"
    if text and text.isprintable():
        return text
    return f"0x{number:x}"
