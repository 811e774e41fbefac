"""Outputs of any kind as columns of numbers and words: scalars, vectors, dictionaries, tables, text, exceptions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..targets.runs import Raised, Raw
from .scalars import flatten

Values: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


@frozen
class OutputColumn:
    """One feature of every output: a number (NaN where there is none), or the index of a word."""

    values: Values
    words: tuple[str, ...] | None = None


@frozen
class Outputs:
    """What many runs on one input returned, as named columns of one length."""

    columns: Mapping[str, OutputColumn]
    size: int

    def part(self, start: int, stop: int) -> Outputs:
        """Take the runs from start to stop."""
        kept = {
            name: OutputColumn(c.values[start:stop], c.words) for name, c in self.columns.items()
        }
        return Outputs(kept, stop - start)

    @property
    def numbers(self) -> dict[str, Values]:
        """The columns that hold numbers."""
        return {name: c.values for name, c in self.columns.items() if c.words is None}


def tabulate(left: Raw, right: Raw) -> tuple[Outputs, Outputs]:
    """Lay two lists of outputs out in the same columns.

    >>> from discreet.audit.events.outputs import tabulate
    >>> first, second = tabulate([{"a": 1}, {"a": 2, "b": 0.5}], [float("nan"), None])
    >>> sorted(first.columns)
    ["['a']", "['a'] kind", "['b']", "['b'] kind", 'keys', 'kind', 'length', 'length kind', 'value']
    """
    arrays = [_as_numbers(side) for side in (left, right)]
    if (
        arrays[0] is not None
        and arrays[1] is not None
        and arrays[0].shape[1:] == arrays[1].shape[1:]
    ):
        columns = _array_columns(arrays[0], arrays[1])
    else:
        columns = _object_columns([*left, *right])
    n = len(left)
    both = Outputs(columns, n + len(right))
    return both.part(0, n), both.part(n, both.size)


def _as_numbers(side: Raw) -> NDArray[Any] | None:
    """See whether the outputs are one plain array of numbers."""
    if isinstance(side, list):
        if len({_plainest(output) for output in side}) > 1 or _plainest(side[0]) is None:
            return None
        side = np.array(side)
    return (
        side if side.dtype.kind in "bif" and side.dtype.itemsize <= 8 and side.ndim <= 2 else None
    )


def _plainest(output: object) -> object:
    """Return the type of a plain number, or the shape of a plain array of them."""
    if isinstance(output, np.ndarray):
        return (output.dtype, output.shape)
    if type(output) is int and not -(2**63) <= output < 2**63:
        return None
    return type(output) if isinstance(output, int | float | np.integer | np.floating) else None


def _array_columns(left: NDArray[Any], right: NDArray[Any]) -> dict[str, OutputColumn]:
    whole = left.dtype.kind in "bi" and right.dtype.kind in "bi"
    table: Values = np.concatenate([left, right]).astype(np.float64)
    if whole:
        table = np.concatenate([left, right]).astype(np.int64)
    columns: dict[str, OutputColumn] = {}
    values: Values
    for i in range(table.shape[1] if table.ndim == 2 else 1):
        values = table if table.ndim == 1 else table[:, i].copy()
        columns[f"[{i}]" if table.ndim == 2 else "value"] = OutputColumn(values)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            columns[f"[{i}] kind" if table.ndim == 2 else "kind"] = _kinds_of_floats(values)
    if left.dtype != right.dtype:
        kinds = np.repeat([0, 1], [len(left), len(right)])
        columns["type"] = OutputColumn(kinds.astype(np.int64), (str(left.dtype), str(right.dtype)))
    return columns


def _kinds_of_floats(values: Values) -> OutputColumn:
    code = np.where(
        np.isnan(values), 1, np.where(values == np.inf, 2, np.where(values == -np.inf, 3, 0))
    )
    return OutputColumn(code.astype(np.int64), ("a number", "nan", "inf", "-inf"))


def _object_columns(outputs: list[object]) -> dict[str, OutputColumn]:
    cells: dict[str, dict[int, object]] = {}
    for row, output in enumerate(outputs):
        for name, cell in flatten(output):
            cells.setdefault(name, {})[row] = cell
    columns: dict[str, OutputColumn] = {}
    for name, filled in cells.items():
        columns.update(
            _cell_columns(name, [filled.get(row, _MISSING) for row in range(len(outputs))])
        )
    return columns


_MISSING = object()


def _cell_columns(name: str, cells: list[object]) -> dict[str, OutputColumn]:
    kinds = [_kind(cell) for cell in cells]
    found: dict[str, OutputColumn] = {}
    if any(isinstance(cell, Real) for cell in cells):
        found[name] = OutputColumn(_numbers(cells))
    if len(set(kinds)) > 1 or name not in found:
        words = tuple(sorted(set(kinds)))
        index = {word: i for i, word in enumerate(words)}
        beside = "kind" if name == "value" else f"{name} kind"
        label = beside if name in found else name
        found[label] = OutputColumn(
            np.array([index[kind] for kind in kinds], dtype=np.int64), words
        )
    return found


def _kind(cell: object) -> str:
    if cell is _MISSING:
        return "missing"
    if isinstance(cell, Raised):
        return f"raised {cell.kind}: {cell.words}"
    if isinstance(cell, int):
        return type(
            cell
        ).__name__  # before asking whether it is finite: it may be wider than any float
    if isinstance(cell, Real):
        return type(cell).__name__ if math.isfinite(cell) else str(float(cell))
    return cell if isinstance(cell, str) else repr(cell)


def _numbers(cells: list[object]) -> Values:
    whole = all(isinstance(cell, int | np.integer) and -(2**63) <= cell < 2**63 for cell in cells)
    if whole:
        return np.array(cells, dtype=np.int64)
    return np.array([_float(cell) for cell in cells], dtype=np.float64)


def _float(cell: object) -> float:
    if not isinstance(cell, Real):
        return math.nan
    try:
        return float(cell)
    except OverflowError:  # an int beyond the floats
        return math.copysign(math.inf, -1 if str(cell).startswith("-") else 1)
