"""Arrow columns made total: what a store could stumble over later is settled here, cell by cell.

    text that is not UTF-8                    NULL
    places that a dictionary does not have    NULL
    seconds and milliseconds                  microseconds; NULL beyond their range
    times with a zone                         the same instants, in UTC
    days counted in milliseconds              days
    decimals outside their precision          NULL
    decimals of over 38 digits, or of tens    the nearest floats
    half floats                               floats
    what no column can be declared as         NULL

Columns that hold nothing of the kind are handed on as they are, without a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..optional import load

MOST_MICROSECONDS = 2**63 - 2**40
"""A little less than 64 bits hold, so that no engine's sentinel (infinity, NULL) is met."""
MOST_DAYS = 2**31 - 2
MOST_DIGITS = 38
"""Digits of the widest decimal that every store has."""


def total_column(column: Any) -> Any:  # noqa: ANN401
    """Return a chunked Arrow column that any store can read to the last cell.

    >>> import pyarrow as pa
    >>> from discreet.intake.arrow import total_column
    >>> far = pa.chunked_array([pa.array([0, 2**62], pa.int64()).view(pa.timestamp("s"))])
    >>> total_column(far).null_count
    1
    """
    pa = load("pyarrow", "tables")
    kinds, kind = pa.types, column.type
    if kinds.is_dictionary(kind):
        return _dictionary(column)
    if isinstance(kind, pa.BaseExtensionType):
        return total_column(
            pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        )
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kind == pa.string_view():
        return _text(column)
    if kinds.is_timestamp(kind):
        return _instants(column)
    if kinds.is_date64(kind):
        return _mapped(
            column,
            pa.date32(),
            lambda x: np.clip(x // 86_400_000, -MOST_DAYS, MOST_DAYS).astype(np.int32),
        )
    if kinds.is_float16(kind):
        return column.cast(pa.float32())
    if kinds.is_decimal(kind):
        return _decimals(column)
    if kinds.is_null(kind):  # one cell would give it a type
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    plain = (
        kinds.is_integer(kind)
        or kinds.is_floating(kind)
        or kinds.is_boolean(kind)
        or kinds.is_date32(kind)
    )
    if plain:
        return column
    return pa.chunked_array([pa.nulls(len(column), pa.int8())])


def _decimals(column: Any) -> Any:  # noqa: ANN401
    """Make NULL of decimals that have more digits than their type declares: bits need not keep to it.

    DuckDB fails on −2^127, and cuts others to fewer bits. It reads no decimals of 256 bits: those become narrower.
    """
    pa = load("pyarrow", "tables")
    kind = column.type
    chunks = [_within_precision(chunk) for chunk in column.chunks]
    if kind.precision > MOST_DIGITS or kind.scale < 0:
        cells = [cell for chunk in chunks for cell in chunk.to_pylist()]
        return pa.chunked_array(
            [pa.array([None if x is None else float(x) for x in cells], pa.float64())]
        )
    if pa.types.is_decimal256(kind):
        kind = pa.decimal128(kind.precision, kind.scale)
        chunks = [_with_bits(kind, chunk, _bits(chunk)[:, :2]) for chunk in chunks]
    return pa.chunked_array(chunks, kind)


def _within_precision(chunk: Any) -> Any:  # noqa: ANN401
    """Return the same bits, with NULL where they are a number of more digits than the type declares."""
    bits = _bits(chunk)
    most = 10**chunk.type.precision - 1
    outside = _is_less(bits, -most) | ~_is_less(bits, most + 1)
    return _with_bits(chunk.type, chunk, bits, ~outside)


def _bits(chunk: Any) -> Any:  # noqa: ANN401
    """Return the words of each decimal, the lowest first: of 64 bits, or one of 32."""
    width = chunk.type.bit_width // 8
    data = chunk.buffers()[1]
    raw = (
        b""
        if data is None
        else memoryview(data)[chunk.offset * width : (chunk.offset + len(chunk)) * width]
    )
    words = np.frombuffer(raw, np.uint32 if width == 4 else np.uint64)
    return words.reshape(len(chunk), width // words.itemsize)


def _is_less(bits: Any, bound: int) -> Any:  # noqa: ANN401
    """Compare decimals with a number, word by word from the lowest; the highest word has the sign."""
    size, count = 8 * bits.dtype.itemsize, bits.shape[1]
    sign = 1 << (size - 1)
    less = np.zeros(len(bits), dtype=np.bool_)
    for place in range(count):
        word, limit = bits[:, place], (bound >> (size * place)) & ((1 << size) - 1)
        if place == count - 1:  # in two's complement, so that negative numbers come first
            word, limit = word ^ bits.dtype.type(sign), limit ^ sign
        limit = bits.dtype.type(limit)
        less = (word < limit) | ((word == limit) & less)
    return less


def _with_bits(kind: Any, chunk: Any, bits: Any, kept: Any = True) -> Any:  # noqa: ANN401
    """Return decimals of these bits; NULL where the chunk has NULL, and where they are not `kept`."""
    pa = load("pyarrow", "tables")
    valid = chunk.is_valid().to_numpy(zero_copy_only=False) & kept
    validity = pa.array(valid).buffers()[1]
    return pa.Array.from_buffers(
        kind, len(chunk), [validity, pa.py_buffer(np.ascontiguousarray(bits))]
    )


def _dictionary(column: Any) -> Any:  # noqa: ANN401
    """Keep a dictionary of valid text as it is; any other becomes a plain column."""
    pa = load("pyarrow", "tables")
    if (
        pa.types.is_string(column.type.value_type)
        or pa.types.is_large_string(column.type.value_type)
    ) and _valid(column):
        return column
    chunks = [_values(chunk).take(_places(chunk)) for chunk in column.chunks]
    return total_column(pa.chunked_array(chunks, None if chunks else column.type.value_type))


def _values(chunk: Any) -> Any:  # noqa: ANN401
    """Return the values of a dictionary, made total, in a type of which cells can be taken."""
    pa = load("pyarrow", "tables")
    values = total_column(pa.chunked_array([chunk.dictionary])).combine_chunks()
    return values.cast(pa.string()) if values.type == pa.string_view() else values


def _places(chunk: Any) -> Any:  # noqa: ANN401
    """Return where the cells of a chunk stand in its dictionary; NULL for a place that it does not have."""
    pa = load("pyarrow", "tables")
    places = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False)
    missing = (
        chunk.indices.is_null().to_numpy(zero_copy_only=False)
        | (places < 0)
        | (places >= len(chunk.dictionary))
    )
    return pa.array(np.where(missing, 0, places), chunk.indices.type, mask=missing)


def _valid(column: Any) -> bool:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _text(column: Any) -> Any:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    if _valid(column):
        return column
    large = pa.types.is_large_string(column.type)
    raw = (
        pa.binary_view()
        if column.type == pa.string_view()
        else (pa.binary(), pa.large_binary())[large]
    )
    cells = [cell for chunk in column.chunks for cell in chunk.view(raw).to_pylist()]
    return pa.chunked_array([pa.array([_decoded(cell) for cell in cells], pa.string())])


def _decoded(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def _instants(column: Any) -> Any:  # noqa: ANN401
    pa = load("pyarrow", "tables")
    unit, zone = column.type.unit, column.type.tz
    target = pa.timestamp("ns" if unit == "ns" else "us", None if zone is None else "UTC")
    times = {"s": 10**6, "ms": 10**3}.get(unit)
    if times is None:
        return pa.chunked_array([chunk.view(target) for chunk in column.chunks], target)
    most = MOST_MICROSECONDS // times
    return _mapped(
        column, target, lambda x: np.where(np.abs(x.clip(-most - 1)) > most, 0, x) * times, most
    )


def _mapped(column: Any, target: Any, change: Any, most: int | None = None) -> Any:  # noqa: ANN401
    """Change the numbers of a column; beyond `most` they are NULL."""
    pa = load("pyarrow", "tables")
    chunks = []
    for chunk in column.chunks:
        numbers = chunk.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        if most is not None:
            missing = missing | (numbers > most) | (numbers < -most)
        changed = change(numbers)
        plain = pa.int32() if changed.dtype == np.int32 else pa.int64()
        chunks.append(pa.array(changed, plain, mask=missing).view(target))
    return pa.chunked_array(chunks, target)
