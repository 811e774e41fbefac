"""Outputs of any type as columns of numbers and of text categories.

Scalars, vectors, dictionaries, tables, text and exceptions are accepted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats, Integers
from ...frozen import frozen
from ..targets.runs import RaisedOutput, Raw
from .scalars import flatten

Values: TypeAlias = Floats | Integers


@frozen
class OutputColumn:
    """One feature of every output: a number (NaN if none), or the index of a category in `words`."""

    values: Values
    words: tuple[str, ...] | None = None


@frozen
class Outputs:
    """Outputs of many runs on one input, as named columns of one length."""

    columns: Mapping[str, OutputColumn]
    size: int

    def part(self, start: int, stop: int) -> Outputs:
        """Take the runs from start to stop."""
        kept = {}
        for name, column in self.columns.items():
            kept[name] = OutputColumn(column.values[start:stop], column.words)
        return Outputs(kept, stop - start)

    def values(self, name: str) -> Values:
        """Return the values of one column."""
        return self.columns[name].values

    def matrix(self, names: Sequence[str]) -> Floats:
        """Return some columns as floats, a row for each run."""
        columns = [self.values(name).astype(np.float64) for name in names]
        return np.stack(columns, axis=1)

    @property
    def numbers(self) -> dict[str, Values]:
        """The columns that hold numbers."""
        return {name: c.values for name, c in self.columns.items() if c.words is None}


def tabulate(left: Raw, right: Raw) -> tuple[Outputs, Outputs]:
    """Arrange two lists of outputs in the same columns.

    >>> from discreet.audit.events.outputs import tabulate
    >>> first, second = tabulate([{"a": 1}, {"a": 2, "b": 0.5}], [float("nan"), None])
    >>> sorted(first.columns)
    ["['a']", "['a'] kind", "['b']", "['b'] kind", 'keys', 'kind', 'length', 'length kind', 'value']
    """
    first = _as_numbers(left)
    second = _as_numbers(right)
    if first is not None and second is not None and first.shape[1:] == second.shape[1:]:
        columns = _array_columns(first, second)
    else:
        columns = _object_columns([*left, *right])
    n = len(left)
    both = Outputs(columns, n + len(right))
    return both.part(0, n), both.part(n, both.size)


def all_equal(left: Values, right: Values) -> bool:
    """Return whether all values of both inputs are equal, or all are NaN."""
    both = np.concatenate([left, right])
    return bool(np.all(both == both[0]) or np.all(np.isnan(both)))


def _as_numbers(side: Raw) -> AnyArray | None:
    """Return the outputs as one plain array of numbers, or None if they are not."""
    if isinstance(side, list):
        types = {_plain_type(output) for output in side}
        if len(types) > 1 or _plain_type(side[0]) is None:
            return None
        side = np.array(side)
    is_number = side.dtype.kind in "bif" and side.dtype.itemsize <= 8
    return side if is_number and side.ndim <= 2 else None


def _plain_type(output: object) -> object:
    """Return the type of a plain number, or type and shape of an array; None for others."""
    if isinstance(output, np.ndarray):
        return (output.dtype, output.shape)
    # An int beyond 64 bits fits no array of numbers.
    if type(output) is int and not -(2**63) <= output < 2**63:
        return None
    return type(output) if isinstance(output, int | float | np.integer | np.floating) else None


def _array_columns(left: AnyArray, right: AnyArray) -> dict[str, OutputColumn]:
    """Make one column for each coordinate of an array, and one for values that are not finite."""
    both = np.concatenate([left, right])
    integers = left.dtype.kind in "bi" and right.dtype.kind in "bi"
    table: Values = both.astype(np.int64) if integers else both.astype(np.float64)
    columns: dict[str, OutputColumn] = {}
    if table.ndim == 1:
        columns.update(_float_columns("value", "kind", table))
    else:
        for i in range(table.shape[1]):
            columns.update(_float_columns(f"[{i}]", f"[{i}] kind", table[:, i].copy()))
    if left.dtype != right.dtype:
        # The types of the two inputs differ, which alone tells them apart.
        types = np.repeat([0, 1], [len(left), len(right)]).astype(np.int64)
        columns["type"] = OutputColumn(types, (str(left.dtype), str(right.dtype)))
    return columns


def _float_columns(name: str, kind_name: str, values: Values) -> dict[str, OutputColumn]:
    """Make the column of numbers and, if some are not finite, the column of their kinds."""
    columns = {name: OutputColumn(values)}
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        columns[kind_name] = _kinds_of_floats(values)
    return columns


def _kinds_of_floats(values: Values) -> OutputColumn:
    """Return which values are numbers, NaN, or infinite."""
    kinds = np.zeros(len(values), dtype=np.int64)
    kinds[np.isnan(values)] = 1
    kinds[values == np.inf] = 2
    kinds[values == -np.inf] = 3
    return OutputColumn(kinds, ("a number", "nan", "inf", "-inf"))


def _object_columns(outputs: list[object]) -> dict[str, OutputColumn]:
    """Make columns of all named scalars inside the outputs."""
    cells: dict[str, dict[int, object]] = {}
    for row, output in enumerate(outputs):
        for name, cell in flatten(output):
            cells.setdefault(name, {})[row] = cell
    columns: dict[str, OutputColumn] = {}
    for name, filled in cells.items():
        column = [filled.get(row, _MISSING) for row in range(len(outputs))]
        columns.update(_cell_columns(name, column))
    return columns


_MISSING = object()


def _cell_columns(name: str, cells: list[object]) -> dict[str, OutputColumn]:
    """Make a column of the numbers among cells, and one of their kinds where they differ."""
    kinds = [_kind(cell) for cell in cells]
    columns: dict[str, OutputColumn] = {}
    if any(isinstance(cell, Real) for cell in cells):
        columns[name] = OutputColumn(_numbers(cells))
    if len(set(kinds)) > 1 or name not in columns:
        categories = tuple(sorted(set(kinds)))
        index = {category: i for i, category in enumerate(categories)}
        codes = np.array([index[kind] for kind in kinds], dtype=np.int64)
        label = name
        if name in columns:
            label = "kind" if name == "value" else f"{name} kind"
        columns[label] = OutputColumn(codes, categories)
    return columns


def _kind(cell: object) -> str:
    """Return the category of a cell: its type if it is a finite number, else its text."""
    if cell is _MISSING:
        return "missing"
    if isinstance(cell, RaisedOutput):
        return f"raised {cell.kind}: {cell.words}"
    # Before the question whether it is finite: an int may be wider than any float.
    if isinstance(cell, int):
        return type(cell).__name__
    if isinstance(cell, Real):
        return type(cell).__name__ if math.isfinite(cell) else str(float(cell))
    return cell if isinstance(cell, str) else repr(cell)


def _numbers(cells: list[object]) -> Values:
    """Return cells as integers if all are, else as floats with NaN for others."""
    if all(isinstance(cell, int | np.integer) and -(2**63) <= cell < 2**63 for cell in cells):
        return np.array(cells, dtype=np.int64)
    return np.array([_float(cell) for cell in cells], dtype=np.float64)


def _float(cell: object) -> float:
    """Return a cell as a float; NaN if it is no number, infinite if it is too large."""
    if not isinstance(cell, Real):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        # An int beyond the floats keeps its sign.
        sign = -1 if str(cell).startswith("-") else 1
        return math.copysign(math.inf, sign)
