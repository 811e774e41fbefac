"""Sets of keys in Python: marginal tables, hierarchies, and running totals along a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ..algebra.expression import Expression, Field
from ..algebra.names import require_unique_names
from ..algebra.tree import Nest
from ..bounds.nested import in_order
from .aggregate import Of, named_column
from .bins import lower_edge
from .column import Col, Literal, constant
from .keys import Keys

Places: TypeAlias = Iterable[Sequence[Literal] | Mapping[str, Literal]]
"""Combinations of nested keys: rows of values, widest first, or values by the keys' names."""


def sets_up_to(names: Sequence[str], up_to: int) -> tuple[tuple[int, ...], ...]:
    """Return all sets of at most `up_to` of these keys by position, the largest first.

    >>> from discreet.query.python.key_sets import sets_up_to
    >>> sets_up_to(["sex", "region"], 1)
    ((0,), (1,), ())

    Refuses: with `InvalidArgument` fewer than one key, a key that is named twice, and an `up_to`
    that is no number of keys.
    """
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise InvalidArgument('marginals takes the names of keys, such as ["sex", "region"]')
    require_unique_names(list(names))
    max_keys = whole(up_to, "up_to", least=1)
    if max_keys > len(names):
        raise InvalidArgument(
            f"up_to is {max_keys}, and there are {len(names)} keys; leave it out for all of them"
        )
    positions = range(len(names))
    sets: list[tuple[int, ...]] = []
    for count in range(max_keys, -1, -1):
        sets += combinations(positions, count)
    return tuple(sets)


def running_key(of: Of, width: Number | None, start: Number) -> dict[str, Of]:
    """Return the key of running totals: a number, or bins of one width by their lower edges."""
    x: Expression = named_column(of)
    name = x.name if isinstance(x, Field) else "bin"
    if width is None:
        return {name: Col(x)}
    edge = lower_edge(x, rational(start, "start"), positive(width, "width"))
    return {name: Col(edge)}


def named_levels(level: str | Mapping[str, Of]) -> list[tuple[str, Of]]:
    """Read levels of a hierarchy: a column by its name, or expressions under names."""
    if isinstance(level, str):
        return [(level, level)]
    return list(level.items())


def level_sets(depth: int, beside: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of every level of nested keys, the finest first.

    Each level is asked with and without the keys beside the hierarchy.

    >>> from discreet.query.python.key_sets import level_sets
    >>> level_sets(1, 1)
    ((0, 1), (0,), (1,), ())
    """
    others = tuple(range(depth, depth + beside))
    sets: list[tuple[int, ...]] = []
    for levels in range(depth, -1, -1):
        nested = tuple(range(levels))
        if others:
            sets.append(nested + others)
        sets.append(nested)
    return tuple(sets)


def listed_keys(
    rows: Sequence[Sequence[Literal]], names: Sequence[str], keys: Keys
) -> dict[str, Iterable[Literal]]:
    """Return the values of each nested key that occur in some row, and the lists of other keys."""
    listed: dict[str, Iterable[Literal]] = {}
    for column, name in enumerate(names):
        listed[name] = dict.fromkeys(row[column] for row in rows)
    if isinstance(keys, Mapping):
        listed |= keys
    return listed


def read_places(places: Places, names: Sequence[str], keys: Keys) -> list[tuple[Literal, ...]]:
    """Read the combinations of nested keys, each as a row in the order of the levels.

    Refuses: with `InvalidArgument` rows of another length or of other names, an empty list, a row
    that is listed twice, and values that `keys` lists as well.
    """
    if keys is not None and (not isinstance(keys, Mapping) or set(keys) & set(names)):
        raise InvalidArgument(
            "places says which values the levels have; give keys for the others only, by name"
        )
    rows: list[tuple[Literal, ...]] = []
    for row in places:
        if isinstance(row, Mapping):
            rows.append(tuple(row.get(name) for name in names))
        else:
            rows.append(tuple(row))
    if not rows or any(len(row) != len(names) or None in row for row in rows):
        raise InvalidArgument(
            f"places lists rows of {len(names)} values, "
            f"one for each of {', '.join(names)}, none NULL"
        )
    if len(set(rows)) < len(rows):
        raise InvalidArgument("places lists each combination once")
    return rows


def nest_of(rows: Sequence[Sequence[Literal]]) -> Nest:
    """Return the hierarchy of a question's first keys from its combinations."""
    exact_rows = []
    for row in rows:
        exact_rows.append(tuple(constant(value).value for value in row))
    positions = tuple(range(len(exact_rows[0])))
    return Nest(positions, in_order(exact_rows))
