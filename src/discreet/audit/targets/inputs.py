"""Check that two inputs are neighbours, where they are collections of units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...arithmetic.rational import one_of
from ...errors import InvalidArgument
from ...show.table import truncate

Unit: TypeAlias = str | int | Callable[[object], Hashable]
"""Owner of a row: a field of a dictionary, an index of a tuple, or a function of the row."""


def shown(value: object, most: int = 60) -> str:
    """Print an input in a few characters."""
    return truncate(repr(value).replace("\n", " "), most)


def check_inputs(
    inputs: object, neighbours: str | None = None, unit: Unit | None = None
) -> tuple[object, object]:
    """Check that two inputs differ and, if a relation is given, that they differ by one unit.

    A collection is a list, tuple, array or table of rows, or a dictionary from unit to data.

    >>> from discreet.audit.targets.inputs import check_inputs
    >>> check_inputs(([1, 2], [2, 1, 3]), "add-remove")
    ([1, 2], [2, 1, 3])
    >>> check_inputs(([1, 2], [3, 4]), "replace")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: not 'replace' neighbours: 2 units leave and 2 come; exactly 1 leaves and 1 comes

    Refuses: `InvalidArgument` for equal inputs, an unknown relation, inputs that are no
    neighbours, and inputs that are no collections of units.
    Law: `tests/audit/test_inputs.py::test_neighbours_pass`
    Law: `tests/audit/test_inputs.py::test_others_do_not`
    """
    if not isinstance(inputs, Sequence) or isinstance(inputs, str) or len(inputs) != 2:
        raise InvalidArgument("inputs must be a pair of neighbouring inputs (D, D')")
    first, second = inputs
    if plain(first) == plain(second):
        raise InvalidArgument(
            "the two inputs are equal: nothing can be told apart; give two that differ by one unit"
        )
    if neighbours is None:
        return first, second
    one_of(neighbours, "neighbours", "add-remove", "replace")
    units = _units(first, unit)
    other_units = _units(second, unit)
    gone = (units - other_units).total()
    come = (other_units - units).total()
    if neighbours == "add-remove" and gone + come != 1:
        raise InvalidArgument(_refusal(neighbours, gone, come, "1 leaves or 1 comes"))
    if neighbours == "replace" and (gone, come) != (1, 1):
        raise InvalidArgument(_refusal(neighbours, gone, come, "1 leaves and 1 comes"))
    return first, second


def _refusal(neighbours: str, gone: int, come: int, right: str) -> str:
    return f"not {neighbours!r} neighbours: {gone} units leave and {come} come; exactly {right}"


def plain(value: object) -> str:
    """Return a text that is the same for equal values, NaN and arrays included."""
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} {value.tolist()!r}"
    rows = frame_rows(value)
    return repr(value) if rows is None else repr(rows)


def frame_rows(value: Any) -> list[object] | None:  # noqa: ANN401 - any data set
    """Return the rows of a table (polars, pandas, anything with `to_dicts`); None for all else."""
    if callable(getattr(value, "to_dicts", None)):
        return list(value.to_dicts())
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return list(value.to_dict("records"))
    return None


def _units(data: object, unit: Unit | None) -> Counter[Hashable]:
    """Count the units: rows, or all the rows of one person together."""
    if isinstance(data, Mapping):
        return Counter((plain(key), plain(value)) for key, value in data.items())
    table = frame_rows(data)
    rows = data if table is None else table
    if isinstance(rows, str) or not isinstance(rows, Sequence | np.ndarray):
        raise InvalidArgument(
            "the inputs are not collections of units, so they cannot be checked to be neighbours; "
            "give data sets, or leave `neighbours` out and vouch for them yourself"
        )
    if unit is None:
        return Counter(plain(row) for row in rows)
    people: dict[Hashable, Counter[str]] = {}
    for row in rows:
        rows_of_person = people.setdefault(owner(row, unit), Counter())
        rows_of_person[plain(row)] += 1
    # Sorted: the order of a person's rows does not matter.
    return Counter((who, tuple(sorted(kept.items()))) for who, kept in people.items())


def owner(row: object, unit: Unit) -> Hashable:
    """Return the person a row belongs to."""
    if callable(unit):
        return unit(row)
    try:
        found: Hashable = row[unit]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        raise InvalidArgument(f"no row has a unit {unit!r}; name a field of every row") from None
    return found
