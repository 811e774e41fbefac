"""Every scalar inside an output, by name: vectors by place, dictionaries by key, tables by the row's own words.

    [1, 2]                          length, [0], [1]
    {"a": 1}                        keys, length, ['a']
    a table with words in its rows  rows, and ('N',)['n'] for the n of the row of N, wherever that row stands
    any other table                 [0]['n'], [1]['n'], …

A table is a list of dictionaries with the same keys, a dictionary of equally long lists, a data frame of polars, pandas
or arrow, or an answer of a curator. Rows are named by their words so that the same key is compared with itself, also
where rows come and go or change places; which rows there are, and in what order, is an output too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import numpy as np

Row: TypeAlias = Mapping[Any, object]


def flatten(output: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Name every scalar inside an output; lengths, keys and the order of rows are outputs as well.

    >>> from discreet.audit.events.scalars import flatten
    >>> dict(flatten([{"region": "N", "n": 7}, {"region": "S", "n": 3}]))
    {'rows': "('N',) ('S',)", 'length': 2, "('N',)['n']": 7, "('S',)['n']": 3}
    """
    keys = _keys(output)
    output = _plain(output)
    if isinstance(output, Mapping):
        yield from _mapping(output, path, keys)
    elif isinstance(output, Sequence) and not isinstance(output, str | bytes):
        yield from _table(output, path, keys) if _is_table(output) else _places(output, path)
    else:
        yield path or "value", output


def _keys(output: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - whatever a run returned
    """Return the columns that name the rows, where the output says which of its columns are noisy,
    as an answer does.
    """
    if not hasattr(output, "noisy") or not hasattr(output, "columns"):
        return None
    return tuple(name for name in output.columns if name not in output.noisy)


def _plain(output: object) -> object:
    """Turn arrays, frames and answers into lists and dictionaries."""
    if isinstance(output, np.ndarray | np.generic):
        return output.tolist()
    if hasattr(output, "iterrows"):  # pandas, whose to_dict gives columns of dictionaries
        return output.to_dict("records")  # type: ignore[attr-defined]
    for verb in ("to_dicts", "to_pylist", "to_dict"):  # polars, arrow, answers
        if callable(getattr(output, verb, None)):
            return getattr(output, verb)()
    return output


def _mapping(output: Row, path: str, names: tuple[str, ...] | None) -> Iterator[tuple[str, object]]:
    columns = [value for value in output.values() if isinstance(value, list)]
    if columns and len(columns) == len(output) and len(set(map(len, columns))) == 1:
        yield f"{path}keys", " ".join(map(repr, output))
        rows = [dict(zip(output, row, strict=True)) for row in zip(*columns, strict=True)]
        yield from _table(rows, path, names) if rows else _places(rows, path)
        return
    yield f"{path}keys", " ".join(sorted(map(repr, output)))
    yield f"{path}length", len(output)
    for key, inner in output.items():
        yield from flatten(inner, f"{path}[{key!r}]")


def _places(output: Sequence[object], path: str) -> Iterator[tuple[str, object]]:
    yield f"{path}length", len(output)
    for i, inner in enumerate(output):
        yield from flatten(inner, f"{path}[{i}]")


def _is_table(output: Sequence[object]) -> bool:
    return bool(output) and all(
        isinstance(row, Mapping) and row.keys() == _first(output).keys() for row in output
    )


def _first(rows: Sequence[Any]) -> Row:
    first: Row = rows[0]
    return first


def _table(
    rows: Sequence[Any], path: str, keys: tuple[str, ...] | None = None
) -> Iterator[tuple[str, object]]:
    if len(rows) == 1 and keys == ():  # totals: nothing to tell rows apart by
        for key, cell in rows[0].items():
            yield from flatten(cell, f"{path}[{key!r}]")
        return
    names = [tuple(row[key] for key in _named_by(row, keys)) for row in rows]
    if not all(names) or len(set(names)) < len(names):
        yield from _places(rows, path)
        return
    yield f"{path}rows", " ".join(map(repr, names))
    yield f"{path}length", len(rows)
    for name, row in zip(names, rows, strict=True):
        for key in [key for key in row if key not in _named_by(row, keys)]:
            yield from flatten(row[key], f"{path}{name!r}[{key!r}]")


def _named_by(row: Row, keys: tuple[str, ...] | None) -> Sequence[Any]:
    return [key for key, cell in row.items() if _is_word(cell)] if keys is None else keys


def _is_word(cell: object) -> bool:
    """Return whether a cell names its row: text, truth values and days do, numbers and NULL do not."""
    return isinstance(cell, str | bool | date)
