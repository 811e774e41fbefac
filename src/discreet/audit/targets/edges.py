"""Neighbours worth trying: libraries break at the edges, so that is where the auditor looks first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgument
from .inputs import Unit, check_inputs, owner

_HEAVY = 200


class Pair(NamedTuple):
    """Two neighbouring inputs and what is special about them."""

    first: object
    second: object
    why: str


def neighbours(
    example: object,
    relation: str,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: Unit | None = None,
) -> Iterator[Pair]:
    """Return pairs of neighbours near an example: empty, one, extreme values, bounds, NaN, duplicates, a heavy person.

    Rows may be numbers, words, tuples or dictionaries. With `unit`, a unit is all the rows of one person.

    >>> from discreet.audit import neighbours
    >>> for pair in list(neighbours([3, 5], "add-remove", low=0, high=10))[:4]:
    ...     print(pair.why, pair.first, pair.second)
    none against one [] [3]
    the first unit leaves [3, 5] [5]
    the last unit leaves [3, 5] [3]
    a duplicate comes [3, 5] [3, 5, 3]

    Refuses an example without rows, and an unknown relation.
    """
    rows = _rows(example)
    if relation not in ("add-remove", "replace"):
        raise InvalidArgument(f"neighbours must be 'add-remove' or 'replace', got {relation!r}")
    maker = _added if relation == "add-remove" else _replaced
    for first, second, why in maker(rows, low, high, unit):
        pair = _like(example, first), _like(example, second)
        try:
            check_inputs(pair, relation, unit)
        except InvalidArgument:  # the edge case happens to be the example itself
            continue
        yield Pair(*pair, why)


def _rows(example: object) -> list[object]:
    listed = example.tolist() if isinstance(example, np.ndarray) else example
    if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
        raise InvalidArgument("the example must be a list, tuple or array with at least one row")
    return list(listed)


def _like(example: object, rows: list[object]) -> object:
    if isinstance(example, np.ndarray):
        return (
            np.array(rows, dtype=example.dtype)
            if _fits(rows, example.dtype)
            else np.array(rows, dtype=float)
        )
    return tuple(rows) if isinstance(example, tuple) else rows


def _fits(rows: list[object], dtype: np.dtype[np.generic]) -> bool:
    try:
        return [str(v) for v in np.array(rows, dtype=dtype).tolist()] == [str(v) for v in rows]
    except (ValueError, OverflowError, TypeError):
        return False


def _added(
    rows: list[object], low: float | None, high: float | None, unit: Unit | None
) -> Iterator[tuple[list[object], list[object], str]]:
    yield [], rows[:1], "none against one"
    yield rows, rows[1:], "the first unit leaves"
    yield rows, rows[:-1], "the last unit leaves"
    yield rows, [*rows, rows[0]], "a duplicate comes"
    for row, why in _edges(rows[0], low, high):
        yield rows, [*rows, _someone_else(row, unit)], f"a unit with {why} comes"
    if unit is not None:
        yield (
            rows,
            [*rows, *[_someone_else(rows[0], unit)] * _HEAVY],
            f"a heavy person with {_HEAVY} rows comes",
        )


def _replaced(
    rows: list[object], low: float | None, high: float | None, unit: Unit | None
) -> Iterator[tuple[list[object], list[object], str]]:
    rest = rows[1:]
    if rest:
        yield rows, [rest[-1], *rest], "the first unit becomes a duplicate of the last"
    for row, why in _edges(rows[0], low, high):
        yield rows[:1], [row], f"the only unit takes {why}"
        yield rows, [row, *rest], f"the first unit takes {why}"
    if unit is not None:
        alone = [row for row in rest if owner(row, unit) != owner(rows[0], unit)]
        yield (
            [rows[0], *alone],
            [*[rows[0]] * _HEAVY, *alone],
            f"the first person gets {_HEAVY} rows",
        )


def _someone_else(row: object, unit: Unit | None) -> object:
    """Return the row to a person not seen before, where the row says whose it is."""
    if unit is None or callable(unit):
        return row
    owner(row, unit)  # refuses a row that does not say
    if isinstance(row, Mapping):
        return {**row, unit: "somebody else"}
    return _with(row, unit, "somebody else")


def _with(row: Any, place: Any, value: object) -> object:  # noqa: ANN401 - a list or a tuple
    """Change one place of a row that is a list or a tuple."""
    changed = list(row)
    changed[place] = value
    return type(row)(changed)


def _edges(row: object, low: float | None, high: float | None) -> Iterator[tuple[object, str]]:
    """Vary one field at a time to the values where programs break."""
    if isinstance(row, Mapping):
        for key, field in row.items():
            for value, why in _edges(field, low, high):
                yield {**row, key: value}, f"{why} in {key!r}"
    elif isinstance(row, tuple | list):
        for i, field in enumerate(row):
            for value, why in _edges(field, low, high):
                yield _with(row, i, value), f"{why} at place {i}"
    else:
        yield from _scalar_edges(row, low, high)


def _scalar_edges(
    value: object, low: float | None, high: float | None
) -> Iterator[tuple[object, str]]:
    if isinstance(value, bool):
        yield not value, "the opposite"
    elif isinstance(value, int | float):
        yield from ((bound, "a bound") for bound in (low, high) if bound is not None)
        yield type(value)(0), "zero"
        yield -value, "the opposite sign"
        if isinstance(value, int):
            wide = (2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63))
            yield from ((v, "an extreme value") for v in wide)
        else:
            yield from ((v, "an extreme value") for v in (1e308, -1e308, 5e-324, 2.0**53))
            yield from ((float(v), v) for v in ("nan", "inf", "-inf"))
    elif isinstance(value, str):
        yield from (
            ("", "an empty word"),
            ("☃", "an unseen word"),
            ("x" * 10_000, "a very long word"),
        )
    yield None, "nothing (None)"
