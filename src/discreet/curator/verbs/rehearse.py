"""Made-up data of a schema's shape: to try questions out for nothing. No private row is read.

Every declared kind occurs, people have ids and at most as many rows as they may, some values are NULL, and public
tables keep their keys unique. The rows are the same each time; the noise on the answers is as real as ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any, TypeAlias, assert_never

from ...data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ...data.schema import Schema
from ...data.unit import People
from ...engines.memory.engine import Memory
from ...query.bounds.keys import PublicValues

MadeUpRow: TypeAlias = dict[str, object]

WORDS = ("Oslo", "Bergen", "Rome", "Riga", "Accra", "Lima", "Kyoto", "Quito")
NULLS = 0.02
MOST_PUBLIC = 1_000
"""Rows of a made-up public table, at most."""


def make_up(
    schemas: Iterable[Schema], rows: int = 1_000, public_values: PublicValues | None = None
) -> Memory:
    """Make up rows for every table, `rows` in each private one; public tables draw on their own public values.

    >>> import discreet as dp
    >>> from discreet.curator.verbs.rehearse import make_up
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> store = make_up([people], rows=3)
    >>> len(store.tables["people"]), sorted(store.tables["people"][0])
    (3, ['age', 'region'])
    """
    return Memory({schema.name: _rows(schema, rows, public_values) for schema in schemas})


def _rows(schema: Schema, rows: int, public_values: PublicValues | None) -> list[MadeUpRow]:
    random = Random(f"discreet rehearsal of {schema.name}")
    if schema.public:
        return _public(schema, random, public_values)
    found = [{name: _cell(column, random) for name, column in schema.declared} for _ in range(rows)]
    if isinstance(schema.unit, People):
        people = max(
            1, -(-2 * rows // (1 + min(schema.unit.max_rows, 9)))
        )  # some have few rows, some many
        for row in found:
            row[schema.unit.id] = random.randrange(people)
    return found


def _cell(column: Column, random: Random) -> object:
    if random.random() < NULLS:
        return None
    match column:
        case Category():
            return random.choice(column.values)
        case Boolean():
            return random.random() < 0.5
        case Text():
            return random.choice(WORDS)[: column.max_length]
        case Integer() | Real() | Date() | Timestamp():
            low, high = column.ends
            return _at(column, random.randint(low, high))
        case _:
            assert_never(column)


def _at(column: Integer | Real | Date | Timestamp, steps: int) -> int | float | date | datetime:
    return _number(steps * column.step) if isinstance(column, Integer | Real) else column.at(steps)


def _number(exact: Fraction) -> int | float:
    """Return a number as stores hold it; what is read from it is the same step of the grid."""
    return int(exact) if exact.denominator == 1 else float(exact)


def _public(schema: Schema, random: Random, public_values: PublicValues | None) -> list[MadeUpRow]:
    """Make up a public table: each combination of its key once, other columns by chance, as often as is stated."""
    pools = {name: _pool(schema, name, public_values) for name, _ in schema.declared}
    keys = schema.key or (schema.declared[0][0],)
    combined = islice(product(*(pools[name] for name in keys)), MOST_PUBLIC)
    rows = [
        {name: random.choice(pools[name]) for name in pools} | dict(zip(keys, key, strict=True))
        for key in combined
    ]
    for name, most in schema.max_rows:
        rows = _sparse(rows, name, most)
    return rows


def _sparse(rows: list[MadeUpRow], name: str, most: int) -> list[MadeUpRow]:
    """Keep at most so many rows of each value."""
    seen: Counter[object] = Counter()
    kept = []
    for row in rows:
        seen[row[name]] += 1
        if seen[row[name]] <= most:
            kept.append(row)
    return kept


def _pool(schema: Schema, name: str, public_values: PublicValues | None) -> list[Any]:
    """List the public values of a column, or some of those that it declares."""
    column = schema.columns[name]
    known = (
        [] if public_values is None else list(islice(public_values(schema.name, name), MOST_PUBLIC))
    )
    if known:
        return [_restore(column, value) for value in known]
    match column:
        case Category():
            return list(column.values)
        case Boolean():
            return [False, True]
        case Text():
            return [word[: column.max_length] for word in WORDS]
        case Integer() | Real() | Date() | Timestamp():
            low, high = column.ends
            return [
                _at(column, steps) for steps in range(low, min(high, low + MOST_PUBLIC - 1) + 1)
            ]
        case _:
            assert_never(column)


def _restore(column: Column, value: object) -> object:
    """Turn days, seconds and fractions back into what a store holds, so that they are read again as they were."""
    if isinstance(value, Fraction):
        return _number(value)
    return (
        column.at(value)
        if isinstance(column, Date | Timestamp) and isinstance(value, int)
        else value
    )
