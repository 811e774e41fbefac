"""Columns of an array, a data frame, a mapping or a list of rows, by name, as a model reads them.

No cell decides how another is read, and none can raise: a refusal before the charge would tell about it for free.

    the container declares one type for all    NumPy arrays but those of objects, typed columns of pandas, Polars and
    cells                                      Arrow: taken as they are, in that type
    it does not                                lists, rows, columns and arrays of Python objects: cell by cell, never
                                               by a type that NumPy finds for all of them
    a row of another length                    every cell of it is NULL

Refusals follow from public facts: names of columns, widths of arrays, numbers of rows.
"""

from __future__ import annotations

import array
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ..errors import InvalidArgument
from ..intake.arrow import total_column
from ..optional import load
from ..query.domains.domain import Domain
from .coding.column_cells import Cells, RawCells, read_cells
from .task import Task

Columns: TypeAlias = dict[str, RawCells]
_TYPED = "biufM"
"""Kinds of NumPy types whose cells cannot change each other: truths, numbers, times."""
_POLARS_TIMES = ("Date", "Datetime", "Duration")


def read_columns(
    task: Task,
    domains: Mapping[str, Domain],
    table: Any,  # noqa: ANN401 an array, a data frame, a mapping or a list of rows
    target: Any,  # noqa: ANN401
    who: str = "model",
) -> dict[str, Cells]:
    """Read the columns of a task; an array has them in the order of the schema, the target left out.

    So have lists of rows, and a data frame whose columns have numbers for names. `who` reads them, and is named in
    refusals.

    Refuses columns that are missing, arrays of another width and targets of another length: public facts all.
    """
    names = [
        name for name in domains if any(name == feature.name for feature in task.design.features)
    ]
    found = _columns(table, names, who)
    if task.label is not None:
        found[task.label.name] = _target(table, target, task.label.name)
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        raise InvalidArgument(
            "the columns have different lengths; X and y need one row each for every unit"
        )
    if not lengths.pop():
        raise InvalidArgument("there are no rows: X has length 0")
    return {name: read_cells(domains[name], values) for name, values in found.items()}


def cells_of(column: Any, name: str = "y") -> RawCells:  # noqa: ANN401 a list, an array or a series
    """Return the cells of one column: an array in the type that its container declares, else a list of them.

    >>> from discreet.learn.frame import cells_of
    >>> cells_of([2**53 + 1, 0.5, b"x"])
    [9007199254740993, 0.5, b'x']

    Refuses what is no column: text, a single value, an array of several dimensions.
    """
    match _library(column):
        case "pyarrow":
            return _arrow_cells(column)
        case "polars":
            return _polars_cells(column)
        case "pandas":
            return _pandas_cells(column)
    if hasattr(column, "__array__") or isinstance(column, array.array | memoryview):
        return _array_cells(_array(column), name)
    if isinstance(column, Iterable) and not isinstance(column, str | bytes | Mapping):
        return list(column)
    raise InvalidArgument(
        f"{name} is no column; give one value for each row, as a list, an array or a series"
    )


def _columns(table: Any, names: list[str], who: str) -> Columns:  # noqa: ANN401
    have = _names(table)
    if have is not None:
        _require_names(names, have)
        return {name: cells_of(table[name], name) for name in names}
    if (
        isinstance(table, Iterable)
        and not isinstance(table, str | bytes)
        and not hasattr(table, "shape")
    ):
        return _row_cells(table, names)
    if _library(table) == "pandas":
        _require_width(table.shape, names, who)
        return {name: cells_of(table.iloc[:, place], name) for place, name in enumerate(names)}
    given = _array(table)
    _require_width(given.shape, names, who)
    return {name: _array_cells(given[:, place], name) for place, name in enumerate(names)}


def _names(table: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the names of the columns; None if they are told apart by their places alone."""
    if isinstance(table, Mapping):
        return list(table)
    if _library(table) == "pyarrow":
        return list(getattr(table, "column_names", ()))
    have = list(getattr(table, "columns", ()))
    return have if any(isinstance(name, str) for name in have) else None


def _require_names(names: list[str], have: list[Any]) -> None:
    missing = [name for name in names if name not in have]
    if missing:
        raise InvalidArgument(
            f"the table has no column {', '.join(missing)}; it has {', '.join(map(str, have))}"
        )
    double = [name for name in names if have.count(name) > 1]
    if double:
        raise InvalidArgument(f"the table has several columns {double[0]}; rename all but one")


def _require_width(shape: tuple[int, ...], names: list[str], who: str) -> None:
    said = ", ".join(names)
    if len(shape) != 2:
        raise InvalidArgument(
            f"X has shape {shape}; expected 2 dimensions with {len(names)} columns: {said}. Reshape "
            "your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"
        )
    if shape[1] != len(names):
        raise InvalidArgument(
            f"X has {shape[1]} features, but {who} is expecting {len(names)} features as input: {said}"
        )


def _target(table: Any, target: Any, name: str) -> RawCells:  # noqa: ANN401
    if target is not None:
        return target_cells(target, name)
    if _names(table) is None:
        raise InvalidArgument(f"give y, the values of {name}")
    return _columns(table, [name], "y")[name]


def target_cells(target: Any, name: str) -> RawCells:  # noqa: ANN401 a list, an array, a series or one column
    """Return the cells of a target, one for each row; a table or an array of one column is that column.

    Refuses several columns, and a single value.
    """
    if isinstance(target, list | tuple):
        return [_alone(cell) for cell in target]
    width = getattr(target, "shape", (0,))[1:]
    if width == (1,) and _library(target) in (
        "pandas",
        "polars",
        "pyarrow",
    ):  # a table of one column
        target = target.iloc[:, 0] if _library(target) == "pandas" else target[_names(target)[0]]  # type: ignore[index]
    elif width == (1,):
        target = _array(target).ravel()
    elif width:
        raise InvalidArgument(f"y has shape {target.shape}; give one value of {name} for each row")
    return cells_of(target)


def _alone(cell: Any) -> Any:  # noqa: ANN401
    """Return the one cell of a row of a target that is written as a column: [[1], [0]]."""
    return cell[0] if type(cell) in (list, tuple) and len(cell) == 1 else cell


def _row_cells(rows: Iterable[Any], names: list[str]) -> Columns:
    """Take rows apart, each by itself: lists of cells in the order of the schema, or mappings of names to cells."""
    read = [_row(row, names) for row in rows]
    return {name: [row[place] for row in read] for place, name in enumerate(names)}


def _row(row: Any, names: list[str]) -> list[Any]:  # noqa: ANN401
    """Return the cells of one row; all of them None if it is no row of so many cells."""
    nothing = [None] * len(names)
    try:
        if isinstance(row, Mapping):
            return [row.get(name) for name in names]
        cells = nothing if isinstance(row, str | bytes) or len(row) != len(names) else list(row)
    except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
        return nothing
    return cells if len(cells) == len(names) else nothing


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _array(value: Any) -> Any:  # noqa: ANN401
    """Return what already is an array as one, in its own type; masked cells stay masked."""
    return value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def _array_cells(given: Any, name: str) -> RawCells:  # noqa: ANN401
    if given.ndim != 1:
        raise InvalidArgument(f"{name} has shape {given.shape}; give one value for each row")
    return given if given.dtype.kind in _TYPED else list(given.tolist())


def _pandas_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Take a NumPy type as it is; pandas' own types and Python objects cell by cell, Arrow's as Arrow columns."""
    if isinstance(column.dtype, np.dtype):
        return _array_cells(column.to_numpy(), str(column.name))
    if type(column.array).__name__.startswith("Arrow"):
        return _arrow_cells(load("pyarrow", "tables").array(column.array))
    return list(column.tolist())


def _polars_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Take numbers and times in their type, NULL masked: NumPy has none of its own for whole numbers."""
    kind = column.dtype
    if kind.is_float() or str(kind).partition("(")[0] in _POLARS_TIMES:  # NULL is NaN or not-a-time
        return np.asarray(column.to_numpy())
    if str(kind) == "Boolean" or (kind.is_integer() and "128" not in str(kind)):
        zero = False if str(kind) == "Boolean" else 0
        return np.ma.MaskedArray(
            column.fill_null(zero).to_numpy(), mask=column.is_null().to_numpy()
        )
    if kind.is_decimal():
        return _arrow_cells(column.to_arrow())
    return [None] * len(column) if kind.is_nested() else list(column.to_list())


def _arrow_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Take an Arrow column that has been made total: numbers and times in their type, all else cell by cell."""
    pa = load("pyarrow", "tables")
    total = total_column(pa.chunked_array([column]) if isinstance(column, pa.Array) else column)
    kind, kinds = total.type, pa.types
    whole = total.combine_chunks() if isinstance(total, pa.ChunkedArray) else total
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], kind)
    missing = whole.is_null().to_numpy(zero_copy_only=False)
    if kinds.is_floating(kind):
        return np.asarray(whole.to_numpy(zero_copy_only=False))
    if kinds.is_integer(kind) or kinds.is_boolean(kind):
        zero = False if kinds.is_boolean(kind) else 0
        return np.ma.MaskedArray(whole.fill_null(zero).to_numpy(zero_copy_only=False), mask=missing)
    if kinds.is_date32(kind) or kinds.is_timestamp(kind):
        counts = whole.view(pa.int32() if kinds.is_date32(kind) else pa.int64()).fill_null(0)
        unit = "D" if kinds.is_date32(kind) else kind.unit
        times = counts.to_numpy(zero_copy_only=False).astype(f"datetime64[{unit}]")
        return np.where(missing, np.datetime64("NaT"), times)
    return list(whole.to_pylist())
