"""Flattening of an output into named scalars.

    [1, 2]                          length, [0], [1]
    {"a": 1}                        keys, length, ['a']
    a table whose rows have names   rows, length, and ('N',)['n'] for the n of the row named N
    any other table                 length, and [0]['n'], [1]['n'], …, by position

A table is a list of dictionaries with the same keys, a dictionary of equally long lists, a data
frame of polars, pandas or arrow, or an answer of a curator. Rows are named by their cells of text,
truth and days; those of an answer by its keys. So the same key is compared with itself, also where
rows come and go or change their order. Where a row has no name, or two share one, all are named by
position. The rows that exist, and their order, are outputs too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import numpy as np

Row: TypeAlias = Mapping[Any, object]
Keys: TypeAlias = tuple[str, ...] | None
"""Names of the columns that are keys; None where cells tell."""


def flatten(output: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Name every scalar inside an output; lengths, keys and the order of rows are outputs as well.

    >>> from discreet.audit.events.scalars import flatten
    >>> dict(flatten([{"region": "N", "n": 7}, {"region": "S", "n": 3}]))
    {'rows': "('N',) ('S',)", 'length': 2, "('N',)['n']": 7, "('S',)['n']": 3}

    Law: `tests/audit/test_outputs.py::TestTables`
    """
    # Asked of the original output, which the conversion replaces.
    keys = _key_columns(output)
    output = _plain(output)
    if isinstance(output, Mapping):
        yield from _mapping(output, path, keys)
    elif isinstance(output, Sequence) and not isinstance(output, str | bytes):
        if _is_table(output):
            yield from _table(output, path, keys)
        else:
            yield from _sequence(output, path)
    else:
        yield path or "value", output


def _key_columns(output: Any) -> Keys:  # noqa: ANN401 - any output of a run
    """Return the columns that name the rows, if the output says which columns are noisy.

    An answer of a curator does.
    """
    if not hasattr(output, "noisy") or not hasattr(output, "columns"):
        return None
    return tuple(name for name in output.columns if name not in output.noisy)


def _plain(output: object) -> object:
    """Turn arrays, frames and answers into lists and dictionaries."""
    if isinstance(output, np.ndarray | np.generic):
        return output.tolist()
    # pandas: its to_dict without an argument gives columns of dictionaries.
    if hasattr(output, "iterrows"):
        return output.to_dict("records")  # type: ignore[attr-defined]
    # polars, arrow, and answers of a curator.
    for method in ("to_dicts", "to_pylist", "to_dict"):
        convert = getattr(output, method, None)
        if callable(convert):
            converted: object = convert()
            return converted
    return output


def _mapping(output: Row, path: str, keys: Keys) -> Iterator[tuple[str, object]]:
    """Flatten a dictionary: of equally long lists as a table, else by key."""
    columns = [value for value in output.values() if isinstance(value, list)]
    all_lists = bool(columns) and len(columns) == len(output)
    if all_lists and len(set(map(len, columns))) == 1:
        yield f"{path}keys", " ".join(map(repr, output))
        rows = [dict(zip(output, row, strict=True)) for row in zip(*columns, strict=True)]
        if rows:
            yield from _table(rows, path, keys)
        else:
            yield from _sequence(rows, path)
        return
    yield f"{path}keys", " ".join(sorted(map(repr, output)))
    yield f"{path}length", len(output)
    for key, inner in output.items():
        yield from flatten(inner, f"{path}[{key!r}]")


def _sequence(output: Sequence[object], path: str) -> Iterator[tuple[str, object]]:
    """Flatten a list by index."""
    yield f"{path}length", len(output)
    for i, inner in enumerate(output):
        yield from flatten(inner, f"{path}[{i}]")


def _is_table(output: Sequence[Any]) -> bool:
    """Return whether a list has dictionaries with the same keys."""
    if not output or not all(isinstance(row, Mapping) for row in output):
        return False
    return all(row.keys() == output[0].keys() for row in output)


def _table(rows: Sequence[Any], path: str, keys: Keys = None) -> Iterator[tuple[str, object]]:
    """Flatten a table by the names of its rows, or by index where the names do not differ."""
    # Totals: one row without key columns needs no name.
    if len(rows) == 1 and keys == ():
        for key, cell in rows[0].items():
            yield from flatten(cell, f"{path}[{key!r}]")
        return
    names = [tuple(row[key] for key in _naming(row, keys)) for row in rows]
    if not all(names) or len(set(names)) < len(names):
        yield from _sequence(rows, path)
        return
    yield f"{path}rows", " ".join(map(repr, names))
    yield f"{path}length", len(rows)
    for name, row in zip(names, rows, strict=True):
        naming = _naming(row, keys)
        for key in row:
            if key not in naming:
                yield from flatten(row[key], f"{path}{name!r}[{key!r}]")


def _naming(row: Row, keys: Keys) -> Sequence[Any]:
    """Return the columns that name a row: those given, else its cells of text, truth and days."""
    if keys is not None:
        return keys
    return [key for key, cell in row.items() if _is_name(cell)]


def _is_name(cell: object) -> bool:
    """Return whether a cell names its row: text, truth values and days; not numbers or NULL."""
    return isinstance(cell, str | bool | date)
