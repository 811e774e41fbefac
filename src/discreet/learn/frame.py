"""Columns of an array, a data frame or a mapping, by name, as a model reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidArgument
from ..query.domains.domain import Domain
from .coding.column_cells import Cells, read_cells
from .task import Task


def read_columns(
    task: Task,
    domains: Mapping[str, Domain],
    table: Any,  # noqa: ANN401 an array, a data frame or a mapping
    target: Any,  # noqa: ANN401
    who: str = "model",
) -> dict[str, Cells]:
    """Read the columns of a task; an array has them in the order of the schema, the target left out.

    So has a data frame whose columns have numbers for names. `who` reads them, and is named in refusals.

    Refuses columns that are missing, arrays of another width and targets of another length: public facts all.
    """
    names = [name for name in domains if any(name == feature.name for feature in task.design.features)]
    found = _columns(table, names, who)
    if task.label is not None:
        found[task.label.name] = _target(table, target, task.label.name)
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        raise InvalidArgument("the columns have different lengths; X and y need one row each for every unit")
    if not lengths.pop():
        raise InvalidArgument("there are no rows: X has length 0")
    return {name: read_cells(domains[name], values) for name, values in found.items()}


def _columns(table: Any, names: list[str], who: str) -> dict[str, Any]:  # noqa: ANN401
    have = _names(table)
    if have is not None:
        missing = [name for name in names if name not in have]
        if missing:
            raise InvalidArgument(f"the table has no column {', '.join(missing)}; it has {', '.join(map(str, have))}")
        return {name: np.asarray(table[name]) for name in names}
    array = np.asarray(table)
    if array.ndim != 2:
        raise InvalidArgument(
            f"X has shape {array.shape}; expected 2 dimensions with {len(names)} columns: {', '.join(names)}. Reshape "
            "your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"
        )
    if array.shape[1] != len(names):
        count, said = array.shape[1], ", ".join(names)
        raise InvalidArgument(f"X has {count} features, but {who} is expecting {len(names)} features as input: {said}")
    return {name: array[:, place] for place, name in enumerate(names)}


def _names(table: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the names of the columns; None if they are told apart by their places alone."""
    if isinstance(table, Mapping):
        return list(table)
    have = list(getattr(table, "columns", ()))
    return have if any(isinstance(name, str) for name in have) else None


def _target(table: Any, target: Any, name: str) -> Any:  # noqa: ANN401
    if target is not None:
        array = np.asarray(target)
        return array.ravel() if array.ndim > 1 and array.shape[1:] == (1,) else array
    if _names(table) is not None:
        return _columns(table, [name], "y")[name]
    raise InvalidArgument(f"give y, the values of {name}")
