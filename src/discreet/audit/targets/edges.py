"""Neighbours worth trying: edge cases, where implementations break first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...arithmetic.rational import one_of
from ...errors import InvalidArgument
from .inputs import Unit, check_inputs, frame_rows, owner

# Rows of a person with very many rows.
_MANY_ROWS = 200

_Rows: TypeAlias = list[object]


class Pair(NamedTuple):
    """Two neighbouring inputs and the edge case they show."""

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
    """Return pairs of neighbours near an example that show edge cases.

    Edge cases are: empty, one row, extreme values, bounds, NaN, duplicates, a person with many
    rows. Rows may be numbers, text, tuples or dictionaries. With `unit`, a unit is all the rows of
    one person.

    >>> from discreet.audit import neighbours
    >>> for pair in list(neighbours([3, 5], "add-remove", low=0, high=10))[:4]:
    ...     print(pair.why, pair.first, pair.second)
    none against one [] [3]
    the first unit leaves [3, 5] [5]
    the last unit leaves [3, 5] [3]
    a duplicate comes [3, 5] [3, 5, 3]

    Guarantee: every pair is a pair of neighbours of the relation.
    Refuses: `InvalidArgument` for an example without rows, and an unknown relation.
    Law: `tests/audit/test_inputs.py::test_every_pair_is_a_pair_of_neighbours`
    Law: `tests/audit/test_inputs.py::test_the_edges_are_all_there`
    """
    rows = _read_rows(example)
    one_of(relation, "neighbours", "add-remove", "replace")
    make_pairs = _added if relation == "add-remove" else _replaced
    for first, second, why in make_pairs(rows, low, high, unit):
        pair = (_like(example, first), _like(example, second))
        try:
            check_inputs(pair, relation, unit)
        except InvalidArgument:
            # The edge case happens to be the example itself.
            continue
        yield Pair(*pair, why)


def _read_rows(example: object) -> _Rows:
    """Return the rows of an example; refuse one without rows."""
    listed = example.tolist() if isinstance(example, np.ndarray) else example
    table = frame_rows(example)
    if table is not None:
        listed = table
    if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
        raise InvalidArgument(
            "the example must be a list, tuple, array or table with at least one row"
        )
    return list(listed)


def _like(example: object, rows: _Rows) -> object:
    """Return rows in the type of the example; an array of floats if its type cannot hold them."""
    if isinstance(example, np.ndarray):
        fits = _fits(rows, example.dtype)
        return np.array(rows, dtype=example.dtype if fits else float)
    if frame_rows(example) is not None:
        return _table(example, rows)
    return tuple(rows) if isinstance(example, tuple) else rows


def _table(example: Any, rows: _Rows) -> object:  # noqa: ANN401 - pandas, polars or alike
    """Return rows as a table of the example's kind, with its columns."""
    if not rows:
        return example.head(0)
    names = list(example.columns)
    if hasattr(example, "iloc"):
        return type(example)(rows, columns=names)
    # A column may take a value of another type, such as NaN among integers.
    return type(example)(rows, schema=names, strict=False)


def _fits(rows: _Rows, dtype: np.dtype[np.generic]) -> bool:
    """Return whether an array of this type keeps the rows as they are."""
    try:
        stored = np.array(rows, dtype=dtype).tolist()
    except (ValueError, OverflowError, TypeError):
        return False
    return [str(value) for value in stored] == [str(value) for value in rows]


def _added(
    rows: _Rows, low: float | None, high: float | None, unit: Unit | None
) -> Iterator[tuple[_Rows, _Rows, str]]:
    """Return pairs in which one unit is added or removed."""
    yield [], rows[:1], "none against one"
    yield rows, rows[1:], "the first unit leaves"
    yield rows, rows[:-1], "the last unit leaves"
    yield rows, [*rows, rows[0]], "a duplicate comes"
    for row, why in _edges(rows[0], low, high):
        yield rows, [*rows, _someone_else(row, unit)], f"a unit with {why} comes"
    if unit is not None:
        added = [_someone_else(rows[0], unit)] * _MANY_ROWS
        yield rows, [*rows, *added], f"a heavy person with {_MANY_ROWS} rows comes"


def _replaced(
    rows: _Rows, low: float | None, high: float | None, unit: Unit | None
) -> Iterator[tuple[_Rows, _Rows, str]]:
    """Return pairs in which one unit is replaced."""
    first = rows[0]
    others = rows[1:]
    if others:
        yield rows, [others[-1], *others], "the first unit becomes a duplicate of the last"
    for row, why in _edges(first, low, high):
        yield rows[:1], [row], f"the only unit takes {why}"
        yield rows, [row, *others], f"the first unit takes {why}"
    if unit is not None:
        strangers = [row for row in others if owner(row, unit) != owner(first, unit)]
        many = [first] * _MANY_ROWS
        why = f"the first person gets {_MANY_ROWS} rows"
        yield [first, *strangers], [*many, *strangers], why


def _someone_else(row: object, unit: Unit | None) -> object:
    """Return the row as one of a person not seen before, where the row says whose it is."""
    if unit is None or callable(unit):
        return row
    # Refuses a row that does not say whose it is.
    owner(row, unit)
    if isinstance(row, Mapping):
        return {**row, unit: "somebody else"}
    return _with(row, unit, "somebody else")


def _with(row: Any, index: Any, value: object) -> object:  # noqa: ANN401 - a list or a tuple
    """Change one field of a row that is a list or a tuple."""
    changed = list(row)
    changed[index] = value
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
    """Return edge cases of one scalar."""
    # Before the numbers: a bool is an int to Python.
    if isinstance(value, bool):
        yield not value, "the opposite"
    elif isinstance(value, int | float):
        yield from _number_edges(value, low, high)
    elif isinstance(value, str):
        yield "", "an empty word"
        yield "☃", "an unseen word (new category)"
        yield "x" * 10_000, "a very long word"
    yield None, "nothing (None)"


def _number_edges(
    value: int | float, low: float | None, high: float | None
) -> Iterator[tuple[object, str]]:
    """Return edge cases of a number."""
    for bound in (low, high):
        if bound is not None:
            yield bound, "a bound"
    if low is not None and high is not None:
        width = high - low
        yield type(value)(high + width + 1), "a value out of range"
        yield type(value)(low - width - 1), "a value out of range"
    yield type(value)(0), "zero"
    yield -value, "the opposite sign"
    if isinstance(value, int):
        # Ends of 32 and 64 bits, and the first integer whose successor is no float.
        for extreme in (2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63)):
            yield extreme, "an extreme value"
    else:
        # Ends of the floats, the smallest positive one, and the first without a fraction.
        for extreme_float in (1e308, -1e308, 5e-324, 2.0**53):
            yield extreme_float, "an extreme value"
        for name in ("nan", "inf", "-inf"):
            yield float(name), name
