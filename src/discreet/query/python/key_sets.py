"""Sets of keys in Python: all tables of at most so many keys, and running totals along a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ..algebra.expression import Expression, Field
from ..algebra.names import own_names
from ..algebra.tree import Nest
from ..bounds.nested import in_order
from .aggregate import Of, named_column
from .bins import lower_edge
from .column import Col, Literal, constant
from .keys import Keys

Places: TypeAlias = Iterable[Sequence[Literal] | Mapping[str, Literal]]
"""The combinations of nested keys that there are: rows of values, widest first, or of values by the keys' names."""


def sets_up_to(names: Sequence[str], up_to: int) -> tuple[tuple[int, ...], ...]:
    """Return all sets of at most `up_to` of these keys by place, the largest first.

    >>> from discreet.query.python.key_sets import sets_up_to
    >>> sets_up_to(["sex", "region"], 1)
    ((0,), (1,), ())

    Refuses fewer than one key, one that is named twice, and an `up_to` that is no number of keys.
    """
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise InvalidArgument('marginals takes the names of keys, such as ["sex", "region"]')
    own_names(list(names))
    most = whole(up_to, "up_to", least=1)
    if most > len(names):
        raise InvalidArgument(
            f"up_to is {most}, and there are {len(names)} keys; leave it out for all of them"
        )
    return tuple(
        one for count in range(most, -1, -1) for one in combinations(range(len(names)), count)
    )


def running_key(of: Of, width: Number | None, start: Number) -> dict[str, Of]:
    """Return the key that running totals go along: a number, or bins of one width named by their lower edges."""
    x: Expression = named_column(of)
    name = x.name if isinstance(x, Field) else "bin"
    if width is None:
        return {name: Col(x)}
    return {name: Col(lower_edge(x, rational(start, "start"), positive(width, "width")))}


def named_levels(level: str | Mapping[str, Of]) -> list[tuple[str, Of]]:
    """Read levels of a hierarchy: a column by its name, or expressions under names."""
    return [(level, level)] if isinstance(level, str) else list(level.items())


def level_sets(depth: int, beside: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of every level of nested keys, the finest first, each with and without the keys beside them.

    >>> from discreet.query.python.key_sets import level_sets
    >>> level_sets(1, 1)
    ((0, 1), (0,), (1,), ())
    """
    more = tuple(range(depth, depth + beside))
    return tuple(
        (*range(k), *one) for k in range(depth, -1, -1) for one in ((more, ()) if more else ((),))
    )


def listed_keys(
    rows: Sequence[Sequence[Literal]], names: Sequence[str], keys: Keys
) -> dict[str, Iterable[Literal]]:
    """Return the values of each nested key that occur in some place, beside the lists of other keys."""
    listed: dict[str, Iterable[Literal]] = {
        name: dict.fromkeys(row[at] for row in rows) for at, name in enumerate(names)
    }
    return listed | (dict(keys) if isinstance(keys, Mapping) else {})


def read_places(places: Places, names: Sequence[str], keys: Keys) -> list[tuple[Literal, ...]]:
    """Read the combinations of nested keys, each as a row in the order of the levels.

    Refuses rows of another length or of other names, none, one twice, and values that `keys` lists as well.
    """
    if keys is not None and (not isinstance(keys, Mapping) or set(keys) & set(names)):
        raise InvalidArgument(
            "places says which values the levels have; give keys for the others only, by name"
        )
    rows = [
        tuple(row.get(n) for n in names) if isinstance(row, Mapping) else tuple(row)
        for row in places
    ]
    if not rows or any(len(row) != len(names) or None in row for row in rows):
        raise InvalidArgument(
            f"places lists rows of {len(names)} values, one for each of {', '.join(names)}, none NULL"
        )
    if len(set(rows)) < len(rows):
        raise InvalidArgument("places lists each combination once")
    return rows


def nest_of(rows: Sequence[Sequence[Literal]]) -> Nest:
    """Return the levels, the first keys of a question, as nested in these combinations."""
    exact = [tuple(constant(value).value for value in row) for row in rows]
    return Nest(tuple(range(len(exact[0]))), in_order(exact))
