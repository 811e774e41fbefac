"""Arrow columns made total: cells on which a store could fail later are settled here, one by one.

    text that is not UTF-8                    NULL
    indices that a dictionary does not have   NULL
    seconds and milliseconds                  microseconds; NULL beyond their range
    times with a zone                         the same instants, in UTC
    days counted in milliseconds              days
    decimals outside their precision          NULL
    decimals of over 38 digits, or of tens    the nearest floats
    half floats                               floats
    types that no column can be declared as   NULL

Columns without any of these are returned as they are, without a copy.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..optional import load

MAX_MICROSECONDS = 2**63 - 2**40
"""A little less than 64 bits hold, so that no engine's sentinel (infinity, NULL) is met."""
MAX_DAYS = 2**31 - 2
MAX_DIGITS = 38
"""Digits of the widest decimal that every store has."""
_DAY_MILLISECONDS = 86_400_000
_MICROSECONDS = {"s": 10**6, "ms": 10**3}
"""Microseconds in each unit that is coarser."""


def total_column(column: Any) -> Any:  # noqa: ANN401
    """Return a chunked Arrow column that any store can read to the last cell.

    Guarantee: reading the column raises no error in any store.

    Law: tests/intake/test_no_cell_decides.py::TestDecimals

    >>> import pyarrow as pa
    >>> from discreet.intake.arrow import total_column
    >>> far = pa.chunked_array([pa.array([0, 2**62], pa.int64()).view(pa.timestamp("s"))])
    >>> total_column(far).null_count
    1
    """
    pa = load("pyarrow", "tables")
    types = pa.types
    stored = column.type
    if types.is_dictionary(stored):
        return _dictionary(column)
    if isinstance(stored, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        return total_column(pa.chunked_array(storage, stored.storage_type))
    if types.is_string(stored) or types.is_large_string(stored) or stored == pa.string_view():
        return _text(column)
    if types.is_timestamp(stored):
        return _instants(column)
    if types.is_date64(stored):
        return _days(column)
    if types.is_float16(stored):
        return column.cast(pa.float32())
    if types.is_decimal(stored):
        return _decimals(column)
    if types.is_null(stored):
        # One cell would give such a column another type; text can be read as anything.
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    is_number = types.is_integer(stored) or types.is_floating(stored)
    if is_number or types.is_boolean(stored) or types.is_date32(stored):
        return column
    return pa.chunked_array([pa.nulls(len(column), pa.int8())])


def _decimals(column: Any) -> Any:  # noqa: ANN401
    """Turn decimals with more digits than their type declares into NULL: bits may hold more.

    DuckDB fails on −2^127, and cuts others to fewer bits. It reads no decimals of 256 bits: those
    become narrower.
    """
    pa = load("pyarrow", "tables")
    stored = column.type
    chunks = [_within_precision(chunk) for chunk in column.chunks]
    if stored.precision > MAX_DIGITS or stored.scale < 0:
        numbers: list[float | None] = []
        for chunk in chunks:
            numbers += map(_nearest_float, chunk.to_pylist())
        return pa.chunked_array([pa.array(numbers, pa.float64())])
    if pa.types.is_decimal256(stored):
        # Within 38 digits the two lower words hold the whole number, sign included.
        stored = pa.decimal128(stored.precision, stored.scale)
        chunks = [_with_bits(stored, chunk, _bits(chunk)[:, :2]) for chunk in chunks]
    return pa.chunked_array(chunks, stored)


def _nearest_float(cell: Decimal | None) -> float | None:
    return None if cell is None else float(cell)


def _within_precision(chunk: Any) -> Any:  # noqa: ANN401
    """Return the same bits, with NULL for numbers of more digits than the type declares."""
    bits = _bits(chunk)
    largest = 10**chunk.type.precision - 1
    too_small = _is_less(bits, -largest)
    too_large = ~_is_less(bits, largest + 1)
    return _with_bits(chunk.type, chunk, bits, ~(too_small | too_large))


def _bits(chunk: Any) -> Any:  # noqa: ANN401
    """Return the words of each decimal, the lowest first: of 64 bits, or one of 32."""
    width = chunk.type.bit_width // 8
    data = chunk.buffers()[1]
    raw: bytes | memoryview = b""
    if data is not None:
        # A chunk may be a slice of a longer buffer.
        start = chunk.offset * width
        end = start + len(chunk) * width
        raw = memoryview(data)[start:end]
    word_type = np.uint32 if width == 4 else np.uint64
    words = np.frombuffer(raw, word_type)
    return words.reshape(len(chunk), width // words.itemsize)


def _is_less(bits: Any, bound: int) -> Any:  # noqa: ANN401
    """Compare decimals with a number, word by word from the lowest; the highest has the sign."""
    word_type = bits.dtype.type
    size = 8 * bits.dtype.itemsize
    count = bits.shape[1]
    sign = 1 << (size - 1)
    mask = (1 << size) - 1
    less = np.zeros(len(bits), dtype=np.bool_)
    for number in range(count):
        words = bits[:, number]
        limit = (bound >> (size * number)) & mask
        if number == count - 1:
            # In two's complement: with the sign bit turned, negative numbers come first.
            words = words ^ word_type(sign)
            limit ^= sign
        # A higher word decides; where it is equal, the lower words have decided.
        is_equal = words == word_type(limit)
        less = (words < word_type(limit)) | (is_equal & less)
    return less


def _with_bits(decimal_type: Any, chunk: Any, bits: Any, kept: Any = True) -> Any:  # noqa: ANN401
    """Return decimals of these bits; NULL where the chunk has NULL, and where they are not `kept`."""
    pa = load("pyarrow", "tables")
    valid = chunk.is_valid().to_numpy(zero_copy_only=False) & kept
    validity = pa.array(valid).buffers()[1]
    data = pa.py_buffer(np.ascontiguousarray(bits))
    return pa.Array.from_buffers(decimal_type, len(chunk), [validity, data])


def _dictionary(column: Any) -> Any:  # noqa: ANN401
    """Keep a dictionary of valid text as it is; any other becomes a plain column."""
    pa = load("pyarrow", "tables")
    value_type = column.type.value_type
    is_text = pa.types.is_string(value_type) or pa.types.is_large_string(value_type)
    if is_text and _is_valid(column):
        return column
    chunks = [_dictionary_values(chunk).take(_indices(chunk)) for chunk in column.chunks]
    return total_column(pa.chunked_array(chunks, None if chunks else value_type))


def _dictionary_values(chunk: Any) -> Any:  # noqa: ANN401
    """Return the values of a dictionary, made total, in a type of which cells can be taken."""
    pa = load("pyarrow", "tables")
    values = total_column(pa.chunked_array([chunk.dictionary])).combine_chunks()
    if values.type == pa.string_view():
        return values.cast(pa.string())
    return values


def _indices(chunk: Any) -> Any:  # noqa: ANN401
    """Return the indices of a chunk into its dictionary; NULL for one that it does not have."""
    pa = load("pyarrow", "tables")
    indices = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False)
    is_null = chunk.indices.is_null().to_numpy(zero_copy_only=False)
    missing = is_null | (indices < 0) | (indices >= len(chunk.dictionary))
    safe = np.where(missing, 0, indices)
    return pa.array(safe, chunk.indices.type, mask=missing)


def _is_valid(column: Any) -> bool:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _text(column: Any) -> Any:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    if _is_valid(column):
        return column
    binary = pa.binary()
    if column.type == pa.string_view():
        binary = pa.binary_view()
    elif pa.types.is_large_string(column.type):
        binary = pa.large_binary()
    texts: list[str | None] = []
    for chunk in column.chunks:
        texts += map(_decoded, chunk.view(binary).to_pylist())
    return pa.chunked_array([pa.array(texts, pa.string())])


def _decoded(cell: bytes | None) -> str | None:
    if cell is None:
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def _instants(column: Any) -> Any:  # noqa: ANN401
    """Turn times into microseconds (nanoseconds stay), NULL beyond their range, in UTC."""
    pa = load("pyarrow", "tables")
    unit = column.type.unit
    zone = None if column.type.tz is None else "UTC"
    target = pa.timestamp("ns" if unit == "ns" else "us", zone)
    factor = _MICROSECONDS.get(unit)
    if factor is None:
        return pa.chunked_array([chunk.view(target) for chunk in column.chunks], target)
    largest = MAX_MICROSECONDS // factor
    chunks = []
    for chunk in column.chunks:
        numbers, missing = _numbers(chunk)
        missing = missing | (numbers > largest) | (numbers < -largest)
        # Numbers out of range are set to 0 before the product, which would overflow.
        microseconds = np.where(missing, 0, numbers) * factor
        array = pa.array(microseconds, pa.int64(), mask=missing)
        chunks.append(array.view(target))
    return pa.chunked_array(chunks, target)


def _days(column: Any) -> Any:  # noqa: ANN401
    """Turn days that are counted in milliseconds into days, clipped to 32 bits."""
    pa = load("pyarrow", "tables")
    target = pa.date32()
    chunks = []
    for chunk in column.chunks:
        numbers, missing = _numbers(chunk)
        days = np.clip(numbers // _DAY_MILLISECONDS, -MAX_DAYS, MAX_DAYS)
        array = pa.array(days.astype(np.int32), pa.int32(), mask=missing)
        chunks.append(array.view(target))
    return pa.chunked_array(chunks, target)


def _numbers(chunk: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # noqa: ANN401
    """Return the 64-bit numbers of a chunk, 0 for NULL, and which are NULL."""
    pa = load("pyarrow", "tables")
    numbers = chunk.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    missing = chunk.is_null().to_numpy(zero_copy_only=False)
    return numbers, missing
