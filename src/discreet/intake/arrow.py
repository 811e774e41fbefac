"""Arrow columns made total: what a store could stumble over later is settled here, cell by cell.

    text that is not UTF-8                    NULL
    places that a dictionary does not have    NULL
    seconds and milliseconds                  microseconds; NULL beyond their range
    times with a zone                         the same instants, in UTC
    days counted in milliseconds              days
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
        return total_column(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kind == pa.string_view():
        return _text(column)
    if kinds.is_timestamp(kind):
        return _instants(column)
    if kinds.is_date64(kind):
        return _mapped(column, pa.date32(), lambda x: np.clip(x // 86_400_000, -MOST_DAYS, MOST_DAYS).astype(np.int32))
    if kinds.is_float16(kind):
        return column.cast(pa.float32())
    if kinds.is_decimal(kind) and (kind.precision > 38 or kind.scale < 0):
        return pa.chunked_array([pa.array([None if x is None else float(x) for x in column.to_pylist()], pa.float64())])
    if kinds.is_null(kind):  # one cell would give it a type
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    plain = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_date32(kind)
    if plain or kinds.is_decimal(kind):
        return column
    return pa.chunked_array([pa.nulls(len(column), pa.int8())])


def _dictionary(column: Any) -> Any:  # noqa: ANN401
    """Keep a dictionary of valid text as it is; any other becomes a plain column."""
    pa = load("pyarrow", "tables")
    if (pa.types.is_string(column.type.value_type) or pa.types.is_large_string(column.type.value_type)) and _valid(
        column
    ):
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
    missing = chunk.indices.is_null().to_numpy(zero_copy_only=False) | (places < 0) | (places >= len(chunk.dictionary))
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
    raw = pa.binary_view() if column.type == pa.string_view() else (pa.binary(), pa.large_binary())[large]
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
    return _mapped(column, target, lambda x: np.where(np.abs(x.clip(-most - 1)) > most, 0, x) * times, most)


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
