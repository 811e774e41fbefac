"""Blocks of time that questions touch, by public facts: the SQL, the schema and the calendar.

    question                                              touches
    WHERE day >= '2027-01-04' AND day < '2027-02-01'      the weeks 2027-01-04/2027-01-31
    WHERE day >= '2027-01-04'                             2027-01-04/.., also the weeks to come
    no condition on the day, or another private table     all blocks, also those to come

Several conditions, tables or questions touch all blocks from the first to the last of them. A
question about another private table counts in every block: who arrives in week 100 may have been
in that table in week 1.

Guarantee: a person of whom a question reads a row counts in one of the blocks that it touches.
Law: tests/curator/test_blocks.py::TestTouchedBlocks
"""

from __future__ import annotations

from ..data.blocks import OPEN, Blocks, Interval, day_number
from ..data.columns.keys import KeyValue
from ..data.retention import utc_today
from ..data.schema import Schema
from ..errors import UnsupportedQuery
from ..ledger.terms import Charter
from ..query.algebra.tree import relations_of
from ..query.bounds.time_ranges import ColumnOf, TimeRange, time_ranges
from .answer_key import Questions
from .charged_part import part_of_all


def charged_part(questions: Questions, terms: Charter) -> KeyValue | None:
    """Return the part or the blocks that all questions touch; None if it is all the data."""
    if terms.blocks is not None:
        return terms.blocks.label(touched_blocks(questions, terms.blocks))
    return part_of_all(questions, terms.parts)


def touched_blocks(questions: Questions, blocks: Blocks) -> Interval:
    """Return the first and the last block that questions touch."""

    def column_of(schema: Schema) -> str | None:
        return blocks.column if blocks.holds(schema.name) else None

    ranges = _ranges(questions, column_of)
    if not ranges:
        # Public tables alone touch nobody; they cost nothing on whatever blocks.
        return OPEN
    first = min(each.days[0] for each in ranges)
    last = max(each.days[1] for each in ranges)
    return _block(blocks, first), _block(blocks, last)


def _block(blocks: Blocks, day: float) -> float:
    """Return the block of a day; an open end stays open."""
    if day in OPEN:
        return day
    return blocks.number(int(day))


def _ranges(questions: Questions, column_of: ColumnOf) -> list[TimeRange]:
    ranges: list[TimeRange] = []
    for question in questions.values():
        for relation in relations_of(question):
            ranges += time_ranges(relation, column_of)
    return ranges


def block_warnings(part: KeyValue | None, terms: Charter) -> tuple[str, ...]:
    """Warn before a charge that counts for blocks to come; a closed interval has no warning."""
    blocks = terms.blocks
    if blocks is None or (part is not None and not str(part).endswith("..")):
        return ()
    return (
        f"this counts for every {blocks.per} to come, since WHERE leaves the end of "
        f"{blocks.table}.{blocks.column} open or another private table is read; with both ends, such "
        f"as {blocks.column} >= DATE '2027-01-04' AND {blocks.column} < DATE '2027-01-11', later "
        f"{blocks.per}s keep their budget",
    )


def require_kept(questions: Questions) -> None:
    """Check that questions ask about times that are kept (`Schema.keeps`).

    Refuses: a range that begins before the first kept day, by the calendar; UnsupportedQuery.
    """

    def column_of(schema: Schema) -> str | None:
        return None if schema.keeps is None else schema.keeps.column

    for each in _ranges(questions, column_of):
        keeps = each.schema.keeps
        if keeps is None:
            continue
        first_kept = keeps.first_day(utc_today())
        first, last = each.days
        begins_before = OPEN[0] < first < day_number(first_kept)
        if begins_before or last < day_number(first_kept):
            raise UnsupportedQuery(
                f"{each.schema.name} keeps {keeps}: rows before {first_kept} count nowhere; ask about "
                f"{keeps.column} >= DATE '{first_kept}'. Answers that were given before stay"
            )
