"""Reader of named columns from an array, a data frame, a mapping or a list of rows.

| container                                                       | how its cells are read     |
|------------------------------------------------------------------|----------------------------|
| one declared type: NumPy arrays, typed pandas, Polars and Arrow  | as they are, in that type  |
| none: lists, rows, columns and arrays of Python objects          | cell by cell               |
| a row of another length                                          | every cell of it is NULL   |

Cells without a declared type never get one that NumPy infers from all of them.

Guarantee: no cell decides how another cell is read, and no cell can raise. A refusal before the
    charge that depended on a cell would reveal it for free.
Refuses: `InvalidArgument` by public facts alone: column names, array widths, numbers of rows.
Law: tests/learn/test_hostile_cells.py::TestReading
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
"""Kinds of NumPy types whose cells cannot change each other: booleans, numbers, times."""
_POLARS_TIMES = ("Date", "Datetime", "Duration")


def read_columns(
    task: Task,
    domains: Mapping[str, Domain],
    table: Any,  # noqa: ANN401 an array, a data frame, a mapping or a list of rows
    target: Any,  # noqa: ANN401
    who: str = "model",
) -> dict[str, Cells]:
    """Read the columns of a task.

    Arrays, lists of rows and data frames with numbers for names have the columns in the schema's
    order, without the target. `who` is the reader that refusals name.

    Refuses: missing columns, arrays of another width and targets of another length.
    """
    features = set(task.design.names)
    names = [name for name in domains if name in features]
    raw = _columns(table, names, who)
    if task.label is not None:
        raw[task.label.name] = _target(table, target, task.label.name)
    lengths = {len(values) for values in raw.values()}
    if len(lengths) > 1:
        raise InvalidArgument(
            "the columns have different lengths; X and y need one row each for every unit"
        )
    if not lengths.pop():
        raise InvalidArgument("there are no rows: X has length 0")
    return {name: read_cells(domains[name], values) for name, values in raw.items()}


def cells_of(column: Any, name: str = "y") -> RawCells:  # noqa: ANN401 a list, an array or a series
    """Return the cells of one column: an array in its declared type, or a list without one.

    >>> from discreet.learn.frame import cells_of
    >>> cells_of([2**53 + 1, 0.5, b"x"])
    [9007199254740993, 0.5, b'x']

    Refuses: text, a single value, an array of several dimensions.
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
    """Return the cells of the named columns of an array, a frame, a mapping or a list of rows."""
    present = _names(table)
    if present is not None:
        _require_names(names, present)
        return {name: cells_of(table[name], name) for name in names}
    # A table with a shape is an array or a frame; every other iterable holds rows.
    is_iterable = isinstance(table, Iterable) and not isinstance(table, str | bytes)
    if is_iterable and not hasattr(table, "shape"):
        return _row_cells(table, names)
    if _library(table) == "pandas":
        _require_width(table.shape, names, who)
        return {name: cells_of(table.iloc[:, index], name) for index, name in enumerate(names)}
    matrix = _array(table)
    _require_width(matrix.shape, names, who)
    return {name: _array_cells(matrix[:, index], name) for index, name in enumerate(names)}


def _names(table: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the names of the columns; None if columns have positions only."""
    if isinstance(table, Mapping):
        return list(table)
    if _library(table) == "pyarrow":
        return list(getattr(table, "column_names", ()))
    present = list(getattr(table, "columns", ()))
    # pandas numbers the columns of a frame made without names: those are positions, not names.
    if any(isinstance(name, str) for name in present):
        return present
    return None


def _require_names(names: list[str], present: list[Any]) -> None:
    missing = [name for name in names if name not in present]
    if missing:
        shown = ", ".join(map(str, present))
        raise InvalidArgument(f"the table has no column {', '.join(missing)}; it has {shown}")
    repeated = [name for name in names if present.count(name) > 1]
    if repeated:
        raise InvalidArgument(f"the table has several columns {repeated[0]}; rename all but one")


def _require_width(shape: tuple[int, ...], names: list[str], who: str) -> None:
    """Refuse an array that has not two dimensions, or another number of columns than `names`."""
    # The texts contain the phrases that scikit-learn's own estimator checks look for.
    listed = ", ".join(names)
    if len(shape) != 2:
        raise InvalidArgument(
            f"X has shape {shape}; expected 2 dimensions with {len(names)} columns: {listed}. "
            "Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"
        )
    if shape[1] != len(names):
        raise InvalidArgument(
            f"X has {shape[1]} features, but {who} is expecting "
            f"{len(names)} features as input: {listed}"
        )


def _target(table: Any, target: Any, name: str) -> RawCells:  # noqa: ANN401
    if target is not None:
        return target_cells(target, name)
    if _names(table) is None:
        raise InvalidArgument(f"give y, the values of {name}")
    return _columns(table, [name], "y")[name]


def target_cells(target: Any, name: str) -> RawCells:  # noqa: ANN401 any kind of column
    """Return the cells of a target, one for each row; accepts a table or an array of one column.

    Refuses: several columns, and a single value.
    """
    if isinstance(target, list | tuple):
        return [_unwrapped(cell) for cell in target]
    trailing = getattr(target, "shape", (0,))[1:]
    if trailing == (1,):
        return cells_of(_only_column(target))
    if trailing:
        raise InvalidArgument(f"y has shape {target.shape}; give one value of {name} for each row")
    return cells_of(target)


def _only_column(table: Any) -> Any:  # noqa: ANN401
    """Return the column of a table, or of an array, that has exactly one."""
    match _library(table):
        case "pandas":
            return table.iloc[:, 0]
        case "polars" | "pyarrow":
            return table[_names(table)[0]]  # type: ignore[index]
        case _:
            return _array(table).ravel()


def _unwrapped(cell: Any) -> Any:  # noqa: ANN401
    """Return the cell of a target's row that is written as a list of one: [[1], [0]]."""
    # The exact types only: a subclass may run its own code when it is indexed.
    if type(cell) in (list, tuple) and len(cell) == 1:
        return cell[0]
    return cell


def _row_cells(rows: Iterable[Any], names: list[str]) -> Columns:
    """Split rows into columns; a row is a list in the schema's order or a mapping by name."""
    cells = [_row(row, names) for row in rows]
    columns: Columns = {}
    for index, name in enumerate(names):
        columns[name] = [row[index] for row in cells]
    return columns


def _row(row: Any, names: list[str]) -> list[Any]:  # noqa: ANN401
    """Return the cells of one row; all of them None if it does not have so many cells."""
    nulls = [None] * len(names)
    try:
        if isinstance(row, Mapping):
            return [row.get(name) for name in names]
        if isinstance(row, str | bytes) or len(row) != len(names):
            return nulls
        cells = list(row)
    except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
        return nulls
    # An object may report one length and then yield another number of cells.
    return cells if len(cells) == len(names) else nulls


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _array(value: Any) -> Any:  # noqa: ANN401
    """Return an array in its own type; masked cells stay masked."""
    return value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def _array_cells(column: Any, name: str) -> RawCells:  # noqa: ANN401
    if column.ndim != 1:
        raise InvalidArgument(f"{name} has shape {column.shape}; give one value for each row")
    if column.dtype.kind in _TYPED:
        return column  # type: ignore[no-any-return]
    return list(column.tolist())


def _pandas_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Read NumPy types as they are, Arrow types as Arrow columns, all others cell by cell."""
    if isinstance(column.dtype, np.dtype):
        return _array_cells(column.to_numpy(), str(column.name))
    if type(column.array).__name__.startswith("Arrow"):
        pa = load("pyarrow", "tables")
        return _arrow_cells(pa.array(column.array))
    return list(column.tolist())


def _polars_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Read numbers and times in their type, NULL masked, all else cell by cell."""
    kind = column.dtype
    kind_name = str(kind)
    # NULL becomes NaN in a column of floats, and not-a-time in one of times.
    if kind.is_float() or kind_name.partition("(")[0] in _POLARS_TIMES:
        return np.asarray(column.to_numpy())
    # Integers of 128 bits have no NumPy type and are read cell by cell below.
    is_boolean = kind_name == "Boolean"
    if is_boolean or (kind.is_integer() and "128" not in kind_name):
        # NumPy's integers have no NULL of their own, so a mask carries it.
        filled = column.fill_null(False if is_boolean else 0)
        return np.ma.MaskedArray(filled.to_numpy(), mask=column.is_null().to_numpy())
    if kind.is_decimal():
        return _arrow_cells(column.to_arrow())
    if kind.is_nested():
        return [None] * len(column)
    return list(column.to_list())


def _arrow_cells(column: Any) -> RawCells:  # noqa: ANN401
    """Read an Arrow column that was made total: numbers and times typed, all else cell by cell."""
    pa = load("pyarrow", "tables")
    types = pa.types
    chunked = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    total = total_column(chunked)
    kind = total.type
    cells = _one_chunk(total, pa)
    missing = cells.is_null().to_numpy(zero_copy_only=False)
    if types.is_floating(kind):
        return np.asarray(cells.to_numpy(zero_copy_only=False))
    if types.is_integer(kind) or types.is_boolean(kind):
        filled = cells.fill_null(False if types.is_boolean(kind) else 0)
        return np.ma.MaskedArray(filled.to_numpy(zero_copy_only=False), mask=missing)
    if types.is_date32(kind):
        return _arrow_times(cells.view(pa.int32()), missing, "D")
    if types.is_timestamp(kind):
        return _arrow_times(cells.view(pa.int64()), missing, kind.unit)
    return list(cells.to_pylist())


def _one_chunk(column: Any, pa: Any) -> Any:  # noqa: ANN401 Arrow's own types
    """Return an Arrow column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    combined = column.combine_chunks()
    # The combined column may still be chunked, with at most one chunk.
    if not isinstance(combined, pa.ChunkedArray):
        return combined
    if combined.num_chunks:
        return combined.chunk(0)
    return pa.array([], column.type)


def _arrow_times(counts: Any, missing: Any, unit: str) -> RawCells:  # noqa: ANN401 Arrow's own type
    """Return counts of a time unit as NumPy times, not-a-time for NULL."""
    # NumPy counts in the same unit, so that no time has to be converted.
    filled = counts.fill_null(0).to_numpy(zero_copy_only=False)
    times = filled.astype(f"datetime64[{unit}]")
    return np.where(missing, np.datetime64("NaT"), times)
