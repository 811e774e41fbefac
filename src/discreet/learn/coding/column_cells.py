"""Cells of one column as a model reads them: integer steps with a mark for NULL, or listed values.

Arrays and data frames are read here, cell by cell. Cells of a store were read by the store.

Guarantee: each cell is read as if it were alone, and none can raise. A cell that cannot be read is
    NULL.
Law: tests/learn/test_hostile_cells.py::TestReading
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.columns.cell import (
    is_null,
    read_boolean,
    read_key_number,
    read_number,
    read_text,
    read_timestamp,
    to_python,
)
from ...frozen import frozen
from ...intake.object_cells import total_reader
from ...query.domains.domain import Day, Domain, Scalar, Second, Texts, Truth, Whole

_EPOCH = date(1970, 1, 1)
_PLAIN = (str, bool, int)


@frozen(eq=False)
class Steps:
    """Ordered cells: integer steps of the column's grid; `missing` marks NULL."""

    steps: NDArray[np.int64]
    missing: NDArray[np.bool_]


@frozen(eq=False)
class Listed:
    """Cells of a public list, each a value or None."""

    values: Sequence[Scalar]


Cells: TypeAlias = Steps | Listed
RawCells: TypeAlias = NDArray[Any] | list[Any]
"""Column before it is read: an array of one declared type, NULL masked, or a list of objects."""


def steps_of(values: Iterable[Scalar]) -> Steps:
    """Return ordered cells from integers and None."""
    steps = []
    missing = []
    for value in values:
        missing.append(value is None)
        steps.append(0 if value is None else int(value))
    return Steps(np.array(steps, dtype=np.int64), np.array(missing, dtype=np.bool_))


def read_cells(domain: Domain, values: RawCells) -> Cells:
    """Read a column of an array or a data frame by its domain; unreadable cells are NULL.

    >>> from fractions import Fraction
    >>> from discreet.learn.coding.column_cells import read_cells
    >>> from discreet.query.domains.domain import Whole
    >>> found = read_cells(Whole(Fraction(1, 2), 0, 10), [0.5, 9.0, float("nan"), "x"])
    >>> found.steps.tolist(), found.missing.tolist()
    ([1, 10, 0, 0], [False, False, True, True])
    """
    if isinstance(domain, Whole) and domain.keys is None:
        return _numbers(domain, values)
    if isinstance(domain, Day | Second):
        read_time = total_reader(partial(_time, domain), None)
        return steps_of(map(read_time, values))
    return Listed(_keys(domain, _objects(values)))


def _numbers(domain: Whole, values: RawCells) -> Steps:
    """Read numbers as steps of a domain, clipped to its bounds."""
    # A warning that one cell causes would reveal something about it.
    with np.errstate(all="ignore"):
        # IEEE 754 division and rounding: the result of a cell depends on that cell alone.
        scaled = read_doubles(values) / float(domain.step)
        missing = np.isnan(scaled)
        rounded = np.rint(np.where(missing, domain.low, scaled))
        inside = np.clip(rounded, domain.low, domain.high)
    return Steps(np.where(missing, 0, inside).astype(np.int64), missing)


def read_doubles(values: RawCells) -> NDArray[np.float64]:
    """Return the nearest double of each cell; NaN for NULL and for anything but a number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    read_float = total_reader(_float, math.nan)
    return np.array([read_float(cell) for cell in _objects(values)], dtype=np.float64)


def _objects(values: RawCells) -> list[Any]:
    """Return cells as Python objects."""
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return values


def _float(value: object) -> float:
    """Read a number as a double; NaN for anything else."""
    found = read_number(value)
    if found is None:
        return math.nan
    try:
        return float(found)
    except OverflowError:
        # An integer beyond every double keeps its sign.
        return math.inf if found > 0 else -math.inf


def _time(domain: Day | Second, value: object) -> int | None:
    """Read a time as days or seconds since 1970, clipped; None for anything else."""
    found = read_timestamp(value)
    if found is None:
        return None
    if isinstance(domain, Day):
        steps = (found.date() - _EPOCH).days
    else:
        steps = int(found.replace(tzinfo=UTC).timestamp())
    return min(max(steps, domain.low), domain.high)


def _keys(domain: Domain, cells: list[Any]) -> list[Scalar]:
    """Read cells of a list, each distinct cell of a plain type once: most columns hold few."""
    read_key = total_reader(partial(_key, domain), None)
    known: dict[tuple[type, Any], Scalar] = {}
    keys = []
    for cell in cells:
        kind = type(cell)
        # Exact types only: the hash of any other object may be code of its own.
        if kind not in _PLAIN:
            keys.append(read_key(cell))
            continue
        # With its type, since True == 1 and both may stand in one column.
        distinct = (kind, cell)
        if distinct not in known:
            known[distinct] = read_key(cell)
        keys.append(known[distinct])
    return keys


def _key(domain: Domain, value: object) -> Scalar:
    """Read a value of a list as a boolean, text or whole number, by the domain."""
    plain = to_python(value)
    if is_null(plain):
        return None
    match domain:
        case Truth():
            return read_boolean(plain)
        case Texts():
            return read_text(plain)
        case _:
            return read_key_number(plain)
