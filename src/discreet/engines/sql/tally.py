"""A tally as one SQL text: rows with owner, keys and contributions; contribution bounds; totals.

    Free          SELECT keys, totals FROM rows GROUP BY keys
    RowShare      … FROM rows JOIN (each person's share, by the count of rows): scaled row by row
    GroupShare    … FROM (sums by person and key, clipped) JOIN (each person's share, by the count of keys)

All sums are wide integers, so no arithmetic of the text can overflow, and no data can make it fail.
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
from .contribution_bounds import bounded_sql
from .contributions import entries_of, once_per_person
from .key_codec import value_of
from .rows.frame import SqlFrame, Writer
from .rows.person import require_alike
from .rows.relation import person_column, public_frame
from .select import none_null, select_sql


def tally_sql(facts: TallyFacts, writer: Writer) -> str:
    """Write the SQL text of a tally.

    Refuses: ids that are stored as different types, and expressions that are nested too deeply.

    Law: tests/engines/test_random.py::TestEveryEngineAgreesWithMemory
    """
    tally = facts.tally
    rows = entries_of(facts, writer)
    _check_ids(facts, writer)
    dialect = writer.dialect
    # Joining heavy people alone reads the tables twice. If the second reading saw other rows, a
    # person counted in one and added up in the other could contribute more than the bound.
    if not all(writer.table(schema.name).steady for schema in tables_of(tally.rows)):
        dialect = replace(dialect, heavy=False)
    if tally.people:
        rows = once_per_person(rows)
    return bounded_sql(rows, tally.share, dialect)


def read_totals(facts: TallyFacts, answer: Iterable[Sequence[object]]) -> Totals:
    """Read the answer of a store: keys as exact values, totals as integers.

    Rows whose key was not asked for are left out.

    Refuses: two stored keys that are equal in Python, with the constant failure that shows no key.
    One of their totals would be lost otherwise.

    Law: tests/engines/test_snapshot.py::TestKeysNeverMeet
    """
    tally = facts.tally
    width = len(facts.keys)
    listed = tally.listed
    wanted = set(tally.only) if tally.only and width else None
    factors = _count_values(facts)
    totals: Totals = {}
    for row in answer:
        cells = zip(row[:width], facts.keys, strict=True)
        key = tuple(value_of(stored, domain) for stored, domain in cells)
        if key in totals:
            raise failure()
        if wanted is None or key[:listed] in wanted:
            numbers = zip(row[width:], factors, strict=True)
            totals[key] = tuple(int(total) * factor for total, factor in numbers)  # type: ignore[call-overload]
    return totals


def _count_values(facts: TallyFacts) -> list[int]:
    """List the value of one unit of each total: without bounds, counts come back unweighted."""
    if not isinstance(facts.tally.share, Free):
        return [1] * len(facts.terms)
    return [term.high if term.counts else 1 for term in facts.terms]


def _check_ids(facts: TallyFacts, writer: Writer) -> None:
    # By name, since one table may be scanned several times.
    ids = {}
    for schema in tables_of(facts.tally.rows):
        if isinstance(schema.unit, People):
            table = writer.table(schema.name)
            ids[schema.name] = person_column(schema.unit.id, table)
    require_alike(list(ids.items()))


def distinct_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write the distinct values of columns of a public table; rows with a NULL are left out."""
    frame, names, present = _public_columns(table, columns, writer)
    return select_sql([f"DISTINCT {', '.join(names)}"], f"({frame.sql}) AS t", f"WHERE {present}")


def max_repeats_sql(table: Schema, columns: Sequence[str], writer: Writer) -> str:
    """Write the greatest number of rows of a public table with the same values in some columns.

    A NULL joins with nothing, so rows with one are left out.
    """
    frame, names, present = _public_columns(table, columns, writer)
    tail = f"WHERE {present} GROUP BY {', '.join(names)}"
    counts = select_sql(["count(*) AS n"], f"({frame.sql}) AS t", tail)
    return select_sql(["COALESCE(max(n), 0)"], f"({counts}) AS t")


def _public_columns(
    table: Schema, columns: Sequence[str], writer: Writer
) -> tuple[SqlFrame, list[str], str]:
    """Write columns of a public table, with their SQL names and the test that none is NULL."""
    frame = public_frame(table, frozenset(columns), writer)
    names = [frame.names[column] for column in columns]
    return frame, names, none_null(names)
