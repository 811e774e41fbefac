"""A tally as one SQL text: rows with their owner, keys and contributions; then shares; then totals by key.

    Free          SELECT keys, totals FROM rows GROUP BY keys
    RowShare      … FROM rows JOIN (each person's share, by the count of rows): scaled row by row
    GroupShare    … FROM (sums by person and key, clipped) JOIN (each person's share, by the count of keys)

All sums are wide integers, so the text has no arithmetic that could overflow, and nothing in it can fail on any data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...data.schema import Schema
from ...data.unit import People
from ...query.algebra.tally import Free, Totals
from ...query.bounds.relation_facts import tables_of
from ..base import failure
from ..tally_analysis import TallyFacts
from .contribution_bounds import shared_sql
from .contributions import entries_of, once_sql
from .key_codec import value_of
from .rows.frame import Writer
from .rows.person import require_alike
from .rows.relation import person_column, public_frame
from .select import select_sql


def tally_sql(facts: TallyFacts, writer: Writer) -> str:
    """Write a tally; refuses ids of different types, and expressions nested too deeply."""
    rows = entries_of(facts, writer)
    _check_ids(facts, writer)
    # Whoever is counted in one reading and added up in another could count for more than the share.
    steady = all(writer.table(schema.name).steady for schema in tables_of(facts.tally.rows))
    dialect = writer.dialect if steady else replace(writer.dialect, heavy=False)
    return shared_sql(once_sql(rows) if facts.tally.people else rows, facts.tally.share, dialect)


def read_totals(facts: TallyFacts, answer: Iterable[Sequence[object]]) -> Totals:
    """Read what a store returned: keys as exact values, totals as integers; what has no key that was asked for, not.

    Two stored keys that are one in Python would lose a total: the store has failed then, and the key is not shown.
    """
    free, width = isinstance(facts.tally.share, Free), len(facts.keys)
    worth = [part.high if free and part.counts else 1 for part in facts.parts]
    only, listed = set(facts.tally.only) if facts.tally.only and width else None, facts.tally.listed
    totals: Totals = {}
    for row in answer:
        key = tuple(
            value_of(held, domain) for held, domain in zip(row[:width], facts.keys, strict=True)
        )
        if key in totals:
            raise failure()
        if only is None or key[:listed] in only:
            found = zip(row[width:], worth, strict=True)
            totals[key] = tuple(int(total) * each for total, each in found)  # type: ignore[call-overload]
    return totals


def _check_ids(facts: TallyFacts, writer: Writer) -> None:
    tables = {schema.name: schema.unit for schema in tables_of(facts.tally.rows)}
    people = [(name, unit) for name, unit in tables.items() if isinstance(unit, People)]
    require_alike([(name, person_column(unit.id, writer.table(name))) for name, unit in people])


def distinct_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write the distinct values of columns of a public table, rows with a NULL left out."""
    frame = public_frame(table, frozenset(columns), writer)
    names = [frame.names[column] for column in columns]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return select_sql([f"DISTINCT {', '.join(names)}"], f"({frame.sql}) AS t", f"WHERE {there}")


def crowd_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write how many rows of a public table hold the same values in some columns, at most; NULL matches nothing."""
    frame = public_frame(table, frozenset(columns), writer)
    names = [frame.names[name] for name in columns]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    counts = select_sql(
        ["count(*) AS n"], f"({frame.sql}) AS t", f"WHERE {there} GROUP BY {', '.join(names)}"
    )
    return select_sql(["COALESCE(max(n), 0)"], f"({counts}) AS t")
