"""Made-up data of a schema's shape, to try questions out for free. No private row is read.

Every cell is drawn at random among the declared values, and is NULL with probability 0.02. The
rows of a table are spread at random over people, so one may get more than `max_rows`; the run
truncates them as it would real ones. Public tables keep their keys unique. The rows are the same
each time. The noise on the answers is drawn afresh, as for real answers.
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
"""Values of made-up text columns, cut to the declared length."""
NULL_RATE = 0.02
"""Probability of NULL in a made-up cell: rare, but present in a thousand rows."""
MAX_PUBLIC_ROWS = 1_000
"""Rows of a made-up public table, at most."""
MAX_ROWS_PER_PERSON = 9
"""Cap of a person that the number of people is chosen for, at most: few reach a larger one."""


def make_up(
    schemas: Iterable[Schema], rows: int = 1_000, public_values: PublicValues | None = None
) -> Memory:
    """Return an engine with made-up rows for every table, `rows` in each private one.

    A public table gets each combination of its key, at most MAX_PUBLIC_ROWS rows. Its values come
    from `public_values`, which reads them from the store, or else from the declared columns.

    >>> import discreet as dp
    >>> from discreet.curator.verbs.rehearse import make_up
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> store = make_up([people], rows=3)
    >>> len(store.tables["people"]), sorted(store.tables["people"][0])
    (3, ['age', 'region'])
    """
    return Memory({schema.name: _rows(schema, rows, public_values) for schema in schemas})


def _rows(schema: Schema, rows: int, public_values: PublicValues | None) -> list[MadeUpRow]:
    """Make up the rows of one table, with ids of people if persons are its unit."""
    # A seed of its own for each table, so that a rehearsal shows the same rows each time.
    random = Random(f"discreet rehearsal of {schema.name}")
    if schema.public:
        return _public(schema, random, public_values)
    made: list[MadeUpRow] = []
    for _ in range(rows):
        made.append({name: _cell(column, random) for name, column in schema.declared})
    if isinstance(schema.unit, People):
        # So many people have (1 + cap)/2 rows each on average: some have few rows, some many.
        cap = min(schema.unit.max_rows, MAX_ROWS_PER_PERSON)
        rounded_up = -(-2 * rows // (1 + cap))
        people = max(1, rounded_up)
        for row in made:
            row[schema.unit.id] = random.randrange(people)
    return made


def _cell(column: Column, random: Random) -> object:
    """Make up one value of a column, or NULL."""
    if random.random() < NULL_RATE:
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
    if isinstance(column, Integer | Real):
        return _number(steps * column.step)
    return column.at(steps)


def _number(exact: Fraction) -> int | float:
    """Return a number as stores hold it; reading it gives the same step of the grid."""
    if exact.denominator == 1:
        return int(exact)
    return float(exact)


def _public(schema: Schema, random: Random, public_values: PublicValues | None) -> list[MadeUpRow]:
    """Make up a public table: each combination of its key once, other columns at random.

    Values occur at most as often as the schema states.
    """
    pools = {name: _pool(schema, name, public_values) for name, _ in schema.declared}
    keys = schema.key or (schema.declared[0][0],)
    key_pools = [pools[name] for name in keys]
    rows: list[MadeUpRow] = []
    for key in islice(product(*key_pools), MAX_PUBLIC_ROWS):
        row = {name: random.choice(pool) for name, pool in pools.items()}
        row.update(zip(keys, key, strict=True))
        rows.append(row)
    for name, max_rows in schema.max_rows:
        rows = _keep_first(rows, name, max_rows)
    return rows


def _keep_first(rows: list[MadeUpRow], name: str, max_rows: int) -> list[MadeUpRow]:
    """Keep the first rows of each value of a column, at most `max_rows` of them."""
    counts: Counter[object] = Counter()
    kept = []
    for row in rows:
        counts[row[name]] += 1
        if counts[row[name]] <= max_rows:
            kept.append(row)
    return kept


def _pool(schema: Schema, name: str, public_values: PublicValues | None) -> list[Any]:
    """List the public values of a column, or some of those that it declares."""
    column = schema.columns[name]
    if public_values is not None:
        known = islice(public_values(schema.name, name), MAX_PUBLIC_ROWS)
        restored = [_restore(column, value) for value in known]
        if restored:
            return restored
    match column:
        case Category():
            return list(column.values)
        case Boolean():
            return [False, True]
        case Text():
            return [word[: column.max_length] for word in WORDS]
        case Integer() | Real() | Date() | Timestamp():
            low, high = column.ends
            last = min(high, low + MAX_PUBLIC_ROWS - 1)
            return [_at(column, steps) for steps in range(low, last + 1)]
        case _:
            assert_never(column)


def _restore(column: Column, value: object) -> object:
    """Turn days, seconds and fractions back into values of a store, which are read as they were."""
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(column, Date | Timestamp) and isinstance(value, int):
        return column.at(value)
    return value
