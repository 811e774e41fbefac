"""One column's cells as a model reads them: whole steps with a mark for NULL, or values of a public list.

What stands in an array or a data frame is read here, cell by cell; what comes from a store has been read there.
Each cell is read as if it were alone, and none can raise: what cannot be read is NULL.
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


@frozen(eq=False)
class Steps:
    """Ordered cells: whole steps of the column's grid; `missing` marks NULL."""

    steps: NDArray[np.int64]
    missing: NDArray[np.bool_]


@frozen(eq=False)
class Listed:
    """Cells of a public list, each a value or None."""

    values: Sequence[Scalar]


Cells: TypeAlias = Steps | Listed
RawCells: TypeAlias = NDArray[Any] | list[Any]
"""A column before it is read: an array in one declared type, NULL masked, or a list of any objects."""


def steps_of(values: Iterable[Scalar]) -> Steps:
    """Return ordered cells from whole numbers and None."""
    given = list(values)
    missing = np.fromiter((value is None for value in given), dtype=np.bool_, count=len(given))
    return Steps(
        np.array([0 if value is None else int(value) for value in given], dtype=np.int64), missing
    )


def read_cells(domain: Domain, values: RawCells) -> Cells:
    """Read a column of an array or a data frame as its domain says; what cannot be read is NULL.

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
        return steps_of(map(total_reader(partial(_time, domain), None), values))
    cells = values.tolist() if isinstance(values, np.ndarray) else values
    return Listed(list(map(total_reader(partial(_key, domain), None), cells)))


def _numbers(domain: Whole, values: RawCells) -> Steps:
    with np.errstate(all="ignore"):  # a warning that one cell causes would tell about it
        scaled = read_doubles(values) / float(
            domain.step
        )  # each cell alone: IEEE 754 division and rounding
        missing = np.isnan(scaled)
        inside = np.clip(np.rint(np.where(missing, domain.low, scaled)), domain.low, domain.high)
    return Steps(np.where(missing, 0, inside).astype(np.int64), missing)


def read_doubles(values: RawCells) -> NDArray[np.float64]:
    """Return the nearest double of each cell, NaN for NULL and for what is no number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    cells = values.tolist() if isinstance(values, np.ndarray) else values
    return np.fromiter(
        map(total_reader(_float, math.nan), cells), dtype=np.float64, count=len(cells)
    )


def _float(value: object) -> float:
    found = read_number(value)
    if found is None:
        return math.nan
    try:
        return float(found)
    except OverflowError:  # a whole number beyond every double
        return math.inf if found > 0 else -math.inf


def _time(domain: Day | Second, value: object) -> int | None:
    found = read_timestamp(value)
    if found is None:
        return None
    whole = (
        (found.date() - _EPOCH).days
        if isinstance(domain, Day)
        else int(found.replace(tzinfo=UTC).timestamp())
    )
    return min(max(whole, domain.low), domain.high)


def _key(domain: Domain, value: object) -> Scalar:
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
