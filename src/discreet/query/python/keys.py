"""Keys of a question in Python: columns or expressions to group by, with their public values.

Also sets of keys: marginal tables, hierarchies, and running totals along a number.

Refuses: with `InvalidArgument` lists of values that do not fit the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from ...arithmetic.rational import Number, positive, rational, whole
from ...data.columns.column import Column, Date, Timestamp
from ...data.schema import Schema
from ...errors import InvalidArgument
from ..algebra.constant_folding import lower_edge
from ..algebra.expression import Expression, Field
from ..algebra.tree import (
    Key,
    KeySets,
    Named,
    Nest,
    Relation,
    names_of,
    own_fields,
    require_unique_names,
)
from ..bounds.keys import PublicValues, public_keys
from ..bounds.nested import in_order
from ..bounds.relation_facts import columns_of
from ..domains.domain import Values
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of, type_of_domain
from .aggregate import Of, named_column
from .column import Col, Literal, constant

By: TypeAlias = str | Mapping[str, Of] | Sequence[str]
"""Keys: "region", ["region", "age"], or expressions under names {"decade": col("age") // 10}."""
Keys: TypeAlias = (
    Mapping[str, Iterable[Literal]]
    | Iterable[Literal]
    | Iterable[tuple[Literal, ...]]
    | Schema
    | None
)
"""Public values: of the one key, by its name, or combinations of all keys; also a public table with
columns of their names. None leaves them to the schema."""


Places: TypeAlias = Iterable[Sequence[Literal] | Mapping[str, Literal]]
"""Combinations of nested keys: rows of values, widest first, or values by the keys' names."""


def named_keys(by: By) -> Named:
    """Read the keys to group by.

    >>> from discreet.query.python.keys import named_keys
    >>> named_keys("region")
    (('region', Field(name='region')),)
    """
    if isinstance(by, str):
        return ((by, Field(by)),)
    if isinstance(by, Mapping):
        return tuple((name, named_column(key)) for name, key in by.items())
    if not all(isinstance(name, str) for name in by):
        raise InvalidArgument(
            "group by names, or by expressions under names: by={'decade': col('age') // 10}"
        )
    return own_fields(by)


def read_keys(
    by: By, keys: Keys, rows: Relation, public_values: PublicValues | None
) -> tuple[Key, ...]:
    """Read the keys to group by, with all values of each.

    Values are None where partition selection must find them, which needs δ.

    Refuses: with `UnsupportedQuery` columns that the rows do not have.
    """
    named = named_keys(by)
    columns = columns_of(rows)
    # Unknown columns are refused first, before any list of values is read.
    for _, key in named:
        domain_of(key, columns)
    given = _given_values(keys, named)
    # Given lists are checked before public tables are read for the other keys.
    known: dict[str, Values | None] = {}
    for name, key in named:
        if name in given:
            known[name] = _check_values(given[name], key, rows)
    read: list[Key] = []
    for name, key in named:
        if name not in known:
            known[name] = public_keys(key, rows, public_values=public_values)
        read.append(Key(name, key, known[name]))
    return tuple(read)


def chosen_keys(by: By, keys: Keys, public_values: PublicValues | None) -> tuple[Keys, Nest | None]:
    """Read a list of combinations of keys: return the values of each key, and the combinations.

    The combinations are a `Nest`: the cells to count, None if `keys` lists no combinations. Those
    of one key are tuples too: ("f",) chooses cells, as RIGHT JOIN with a list does, while "f" is a
    value of the key. A public table lists the combinations in its columns with the names of the
    keys.

    >>> from discreet.query.python.keys import chosen_keys
    >>> chosen_keys(["sex", "old"], [("f", True), ("m", True)], None)[0]
    {'sex': ['f', 'm'], 'old': [True]}
    """
    names = names_of(named_keys(by))
    if isinstance(keys, Schema):
        keys = _list_rows(keys, names, public_values)
    if keys is None or not names or isinstance(keys, Mapping | str | Schema):
        return keys, None
    rows = list(keys)
    # Anything but combinations is refused later, where values are read.
    if not rows or not all(isinstance(row, tuple) and len(row) == len(names) for row in rows):
        return rows, None  # type: ignore[return-value]
    if len(set(rows)) < len(rows):
        raise InvalidArgument("keys must list each combination once")
    values_of_keys: dict[str, Iterable[Literal]] = {}
    for column, name in enumerate(names):
        values = [row[column] for row in rows]  # type: ignore[index]
        values_of_keys[name] = list(dict.fromkeys(values))
    return values_of_keys, nest_of(rows)  # type: ignore[arg-type]


def _list_rows(table: Schema, names: Sequence[str], public_values: PublicValues | None) -> Keys:
    """Return the rows of a public table as keys: values of the one key, or combinations of all."""
    if not table.public or public_values is None:
        why = "can be read through a curator only" if table.public else "is private"
        raise InvalidArgument(
            f"keys takes a public table; {table.name} {why}: start from curator.table(…)"
        )
    columns = [table.column(name) for name in names]
    listed: list[tuple[Literal, ...]] = []
    for row in public_values(table.name, *names_of(columns)):
        # A store returns the values of a single column without tuples.
        values = row if isinstance(row, tuple) else (row,)
        with_columns = zip(values, columns, strict=True)
        listed.append(tuple(_literal(value, column) for value, (_, column) in with_columns))
    if len(names) == 1:
        return [row[0] for row in listed]
    return listed


def _literal(value: object, column: Column) -> Literal:
    """Return a value of a public table as Python writes it."""
    # A store returns days and seconds as whole numbers.
    if isinstance(column, Date | Timestamp) and isinstance(value, int):
        return column.at(value)
    return value  # type: ignore[return-value]


def _given_values(keys: Keys, named: Named) -> dict[str, list[Literal]]:
    """Return the values that the question itself lists, by the names of their keys."""
    if keys is None or isinstance(keys, Schema):
        return {}
    names = names_of(named)
    if isinstance(keys, Mapping):
        unknown = set(keys) - set(names)
        if unknown:
            raise InvalidArgument(
                f"keys has {sorted(unknown)[0]!r}, which is not among by = {', '.join(names)}"
            )
        return {name: list(values) for name, values in keys.items()}
    if len(names) != 1 or isinstance(keys, str):
        raise InvalidArgument(
            "with several keys (or one text), say whose values: keys={'region': ['N', 'S']}"
        )
    return {names[0]: list(keys)}  # type: ignore[arg-type]


def _check_values(values: list[Literal], key: Expression, rows: Relation) -> Values:
    """Check public values that the question itself lists: each once, and of the key's type."""
    type_ = type_of_domain(domain_of(key, columns_of(rows)))
    constants = [constant(value) for value in values]
    for listed_value in constants:
        # NULL has no type, and may be a key of every type.
        if type_of(listed_value, {}) not in (type_, None):
            raise InvalidArgument(
                f"{listed_value.value!r} cannot be a value of this key, which is a {type_}"
            )
    listed = tuple(listed_value.value for listed_value in constants)
    if not listed or len(set(listed)) < len(listed):
        raise InvalidArgument("keys must list at least one value, each once")
    return listed


def sets_up_to(names: Sequence[str], up_to: int) -> KeySets:
    """Return all sets of at most `up_to` of these keys by position, the largest first.

    >>> from discreet.query.python.keys import sets_up_to
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


def level_sets(depth: int, beside: int) -> KeySets:
    """Return the sets of every level of nested keys, the finest first.

    Each level is asked with and without the keys beside the hierarchy.

    >>> from discreet.query.python.keys import level_sets
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
    """Return the values of each key: nested keys have those in the rows, others those of `keys`."""
    listed: dict[str, Iterable[Literal]] = {}
    for column, name in enumerate(names):
        listed[name] = dict.fromkeys(row[column] for row in rows)
    if isinstance(keys, Mapping):
        listed |= keys
    return listed


def read_places(places: Places, names: Sequence[str], keys: Keys) -> list[tuple[Literal, ...]]:
    """Read the combinations of nested keys, each as a row in the order of the levels.

    Refuses: with `InvalidArgument` rows of another length or without one of the names, NULL, an
    empty list, a row that is listed twice, and values that `keys` lists as well.
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
    """Return the hierarchy of a question's first keys, the widest first, from its combinations."""
    exact_rows = []
    for row in rows:
        exact_rows.append(tuple(constant(value).value for value in row))
    positions = tuple(range(len(exact_rows[0])))
    return Nest(positions, in_order(exact_rows))
