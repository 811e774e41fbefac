"""Arrow columns made total: no cell can make a store fail later. Each cell is converted alone.

    stored                                    becomes
    ----------------------------------------  ------------------------------------
    text that is not UTF-8                    NULL
    dictionaries, runs of equal cells         the cells themselves
    indices that a dictionary does not have   NULL
    seconds and milliseconds                  microseconds; NULL beyond their range
    times with a zone                         the same instants, in UTC
    days counted in milliseconds              days
    decimals outside their precision          NULL
    decimals of over 38 digits, or of tens    the nearest floats
    half floats                               floats
    text in views                             plain text
    columns of the type null                  text, NULL in every row
    types that no column can be declared as   NULL

The type of the result follows from the type of the column, never from a cell. Columns without any
of these are returned as they are, without a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..optional import OptionalPackage

pa = OptionalPackage("pyarrow", "tables")

MAX_MICROSECONDS = 2**63 - 2**40
"""A little less than 64 bits hold, so that no engine's sentinel (infinity, NULL) is met."""
MAX_DAYS = 2**31 - 2
MAX_DIGITS = 38
"""Digits of the widest decimal that every store has."""
_DAY_MILLISECONDS = 86_400_000
_MICROSECONDS = {"s": 10**6, "ms": 10**3}
"""Microseconds in each unit that is coarser."""


def plain_type(stored: Any) -> Any:  # noqa: ANN401
    """Return the type of the cells themselves: of a dictionary, of runs, of an extension's storage.

    >>> import pyarrow as pa
    >>> from discreet.intake.arrow import plain_type
    >>> plain_type(pa.dictionary(pa.int8(), pa.run_end_encoded(pa.int32(), pa.string())))
    DataType(string)
    """
    while True:
        if pa.types.is_dictionary(stored) or pa.types.is_run_end_encoded(stored):
            stored = stored.value_type
        elif isinstance(stored, pa.BaseExtensionType):
            stored = stored.storage_type
        else:
            return stored


def is_readable_type(stored: Any) -> bool:  # noqa: ANN401
    """Return whether some declared column reads cells of a type.

    Bytes, nested cells, durations and times of the day are read by none.
    """
    types = pa.types
    plain = plain_type(stored)
    is_number = types.is_integer(plain) or types.is_floating(plain) or types.is_decimal(plain)
    is_time = types.is_timestamp(plain) or types.is_date(plain)
    is_other = types.is_boolean(plain) or types.is_null(plain)
    return is_number or is_time or is_other or _is_text(plain)


def is_id_type(stored: Any) -> bool:  # noqa: ANN401
    """Return whether cells of a type can be people's ids: those that are read, and bytes."""
    return is_readable_type(stored) or _is_binary(plain_type(stored))


def _becomes_float(decimal_type: Any) -> bool:  # noqa: ANN401
    """Return whether decimals have more digits than stores have, or count tens, hundreds, …."""
    return bool(decimal_type.precision > MAX_DIGITS or decimal_type.scale < 0)


def _is_text(plain: Any) -> bool:  # noqa: ANN401
    types = pa.types
    return bool(types.is_string(plain) or types.is_large_string(plain) or plain == pa.string_view())


def _is_binary(plain: Any) -> bool:  # noqa: ANN401
    types = pa.types
    is_flat = types.is_binary(plain) or types.is_large_binary(plain)
    return bool(is_flat or types.is_fixed_size_binary(plain) or plain == pa.binary_view())


def total_column(column: Any) -> Any:  # noqa: ANN401
    """Return a chunked Arrow column that any store can read to the last cell.

    Guarantee: reading the column raises no error in any store.

    Refuses: a column whose buffers are damaged, such as offsets that lead outside.

    Law: tests/intake/test_no_cell_decides.py::TestDecimals

    >>> import pyarrow as pa
    >>> from discreet.intake.arrow import total_column
    >>> far = pa.chunked_array([pa.array([0, 2**62], pa.int64()).view(pa.timestamp("s"))])
    >>> total_column(far).null_count
    1
    """
    types = pa.types
    _require_whole(column)
    stored = column.type
    if stored != plain_type(stored):
        return _decoded_column(column, total_column)
    if _is_text(stored):
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
    if is_readable_type(stored):
        return column
    return pa.chunked_array([pa.nulls(len(column), pa.int8())])


def id_column(column: Any) -> Any:  # noqa: ANN401
    """Return people's ids as a chunked Arrow column that any store can compare to the last cell.

    It is `total_column`, but for types of which that would make one id of two: days counted in
    milliseconds are times here, decimals that would be floats are text, and bytes stay bytes. Times
    that no store can write are nobody's. The caller has tested `is_id_type`.
    """
    _require_whole(column)
    stored = column.type
    if stored != plain_type(stored):
        return _decoded_column(column, id_column)
    if _is_binary(stored):
        _require_whole(column, full=True)
        return column.cast(pa.large_binary())
    if pa.types.is_date64(stored):
        target = pa.timestamp("ms")
        column = pa.chunked_array([chunk.view(target) for chunk in column.chunks], target)
    if pa.types.is_decimal(stored) and _becomes_float(stored):
        return _decimal_texts(column)
    total = total_column(column)
    if pa.types.is_timestamp(total.type):
        return _writable_instants(total)
    return total


def _require_whole(column: Any, *, full: bool = False) -> None:  # noqa: ANN401
    """Refuse a column whose buffers do not hold what its type says; `full` looks at every offset."""
    try:
        column.validate(full=full)
    except pa.ArrowInvalid:
        raise damaged() from None


def damaged() -> InvalidArgument:
    """Return the refusal of a column whose buffers do not fit together."""
    return InvalidArgument(
        "an Arrow column is damaged: its buffers do not hold what its type and length say; write "
        "the table anew, and see validate(full=True)"
    )


def _decoded_column(column: Any, make_total: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return the cells of a dictionary, of runs or of an extension, made total."""
    stored = column.type
    if isinstance(stored, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        return make_total(pa.chunked_array(storage, stored.storage_type))
    chunks = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(stored):
            values = chunk.dictionary
            indices = _indices(chunk)
        else:
            values = chunk.values
            indices = _runs(chunk)
        # The values are made total first: each of them is looked at once.
        cells = _wide_text(make_total(pa.chunked_array([values]))).combine_chunks()
        chunks.append(cells.take(indices))
    if not chunks:
        return _wide_text(make_total(pa.chunked_array([], stored.value_type)))
    return pa.chunked_array(chunks)


def _wide_text(column: Any) -> Any:  # noqa: ANN401
    """Return text with wide offsets: repeated as often as it occurs, it may exceed 2 GiB."""
    if pa.types.is_string(column.type):
        return column.cast(pa.large_string())
    return column


def _runs(chunk: Any) -> Any:  # noqa: ANN401
    """Return for each cell the index of its run.

    Refuses: runs that do not end one after the other, or end before the last cell.
    """
    _require_whole(chunk.run_ends, full=True)
    ends = chunk.run_ends.to_numpy(zero_copy_only=False)
    # A chunk may be a slice of longer runs.
    last = chunk.offset + len(chunk)
    rises = bool(np.all(np.diff(ends) > 0))
    covered = len(ends) > 0 and int(ends[0]) > 0 and int(ends[-1]) >= last
    if len(chunk) and not (rises and covered and len(chunk.values) >= len(ends)):
        raise damaged()
    # Run i holds the cells before its end and not before the end of run i - 1.
    return pa.array(np.searchsorted(ends, np.arange(chunk.offset, last), side="right"))


def _decimals(column: Any) -> Any:  # noqa: ANN401
    """Turn decimals with more digits than their type declares into NULL: bits may hold more.

    DuckDB fails on −2^127, and cuts others to fewer bits. It reads no decimals of 256 bits: those
    become narrower.
    """
    stored = column.type
    chunks = [_within_precision(chunk) for chunk in column.chunks]
    if _becomes_float(stored):
        numbers: list[float | None] = []
        for chunk in chunks:
            numbers += map(_nearest_float, chunk.to_pylist())
        return pa.chunked_array([pa.array(numbers, pa.float64())])
    if pa.types.is_decimal256(stored):
        # Within 38 digits the two lower words hold the whole number, sign included.
        stored = pa.decimal128(stored.precision, stored.scale)
        chunks = [_with_bits(stored, chunk, _bits(chunk)[:, :2]) for chunk in chunks]
    return pa.chunked_array(chunks, stored)


def _decimal_texts(column: Any) -> Any:  # noqa: ANN401
    """Write decimals as text; those of one type that are equal are written alike."""
    chunks = []
    for chunk in column.chunks:
        cells = _within_precision(chunk).to_pylist()
        chunks.append(pa.array(map(_decimal_text, cells), pa.string()))
    return pa.chunked_array(chunks, pa.string())


def _decimal_text(cell: Decimal | None) -> str | None:
    return None if cell is None else str(cell)


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
    valid = chunk.is_valid().to_numpy(zero_copy_only=False) & kept
    validity = pa.array(valid).buffers()[1]
    data = pa.py_buffer(np.ascontiguousarray(bits))
    return pa.Array.from_buffers(decimal_type, len(chunk), [validity, data])


def _indices(chunk: Any) -> Any:  # noqa: ANN401
    """Return the indices of a chunk into its dictionary; NULL for one that it does not have."""
    indices = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False)
    is_null = chunk.indices.is_null().to_numpy(zero_copy_only=False)
    missing = is_null | (indices < 0) | (indices >= len(chunk.dictionary))
    safe = np.where(missing, 0, indices)
    return pa.array(safe, chunk.indices.type, mask=missing)


def _is_valid(column: Any) -> bool:  # noqa: ANN401
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _text(column: Any) -> Any:  # noqa: ANN401
    """Turn text that is not UTF-8 into NULL; text in views becomes plain text."""
    stored = column.type
    # Of the type alone: text of over 2 GiB in one chunk needs wide offsets.
    target = pa.large_string()
    if pa.types.is_string(stored):
        target = pa.string()
    if _is_valid(column):
        return column.cast(target)
    binary = pa.binary()
    if stored == pa.string_view():
        binary = pa.binary_view()
    elif pa.types.is_large_string(stored):
        binary = pa.large_binary()
    chunks = []
    for chunk in column.chunks:
        cells = chunk.view(binary)
        # The same offsets as bytes: if they are wrong, no cell can be read at all.
        _require_whole(cells, full=True)
        chunks.append(pa.array(map(_decoded, cells.to_pylist()), target))
    return pa.chunked_array(chunks, target)


def _decoded(cell: bytes | None) -> str | None:
    if cell is None:
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def _instants(column: Any) -> Any:  # noqa: ANN401
    """Turn times into microseconds (nanoseconds stay), NULL beyond their range, in UTC."""
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


def _writable_instants(column: Any) -> Any:  # noqa: ANN401
    """Turn times beyond those that a store can write into NULL; the unit does not matter."""
    chunks = []
    for chunk in column.chunks:
        numbers, missing = _numbers(chunk)
        beyond = (numbers > MAX_MICROSECONDS) | (numbers < -MAX_MICROSECONDS)
        array = pa.array(numbers, pa.int64(), mask=missing | beyond)
        chunks.append(array.view(column.type))
    return pa.chunked_array(chunks, column.type)


def _days(column: Any) -> Any:  # noqa: ANN401
    """Turn days that are counted in milliseconds into days, clipped to 32 bits."""
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
    numbers = chunk.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    missing = chunk.is_null().to_numpy(zero_copy_only=False)
    return numbers, missing
