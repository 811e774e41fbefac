"""Charged part: the part or blocks of the data that a question counts for (parallel composition).

It follows from the SQL, the schema and the calendar alone. A ledger may divide a table into parts,
one for each listed value of a column, or into blocks of time, such as weeks. For blocks:

    question                                              touches
    WHERE day >= '2027-01-04' AND day < '2027-02-01'      the weeks 2027-01-04/2027-01-31
    WHERE day >= '2027-01-04'                             2027-01-04/.., also the weeks to come
    no condition on the day, or another private table     all blocks, also those to come

Conditions joined by AND narrow the times. Several tables or questions touch all blocks from the
first to the last that one of them touches. A question about another private table counts in every
block: a person who arrives in week 100 may have been in that table in week 1.

Guarantee: a unit with a row that a question counts lies in the part that `part_of` returns, and
counts in one of the blocks that `touched_blocks` returns.
Law: tests/curator/test_part.py, tests/curator/test_blocks.py::TestTouchedBlocks
"""

from __future__ import annotations

from ..data.blocks import OPEN, Blocks, Interval, day_number
from ..data.columns.column import Date, Timestamp
from ..data.columns.keys import KeyValue
from ..data.retention import utc_today
from ..data.schema import Schema
from ..data.unit import People, Rows
from ..errors import UnsupportedQuery
from ..ledger import Parts
from ..ledger.terms import Charter
from ..query.algebra.chain import leaves
from ..query.algebra.expression import Function, equality_of
from ..query.algebra.tree import (
    Question,
    Relation,
    Scan,
    Where,
    inputs_of,
    relations_of,
)
from ..query.bounds.time_ranges import ColumnOf, TimeRange, time_ranges
from ..query.domains.domain import Scalar
from .answer_key import Questions


def part_of_all(questions: Questions, parts: Parts | None) -> KeyValue | None:
    """Return the one part that all questions touch; None if there is no such part."""
    touched = [part_of(question, parts) for question in questions.values()]
    if not touched:
        return None
    first = touched[0]
    for part in touched:
        # True and 1 are equal to Python, but they are two parts.
        if part != first or type(part) is not type(first):
            return None
    return first


def part_of(question: Question, parts: Parts | None) -> KeyValue | None:
    """Return the single part that a question touches; None if all parts must be charged.

    All rows of a unit must lie in one part. Otherwise two questions about two parts would both be
    about that unit. A single part is returned only if

    - every private table that is read is the partitioned one, and WHERE directly over it says that
      the column equals one listed value, the same for every table and question; and
    - the unit is a row, or a person within a day where the parts are the days of the same column.

    A person with rows in several parts is in all of them, so such questions are charged to all. A
    column is compared as the schema reads it (clipped, defaults filled in), in the question and in
    the store alike. So each row is in exactly one part, whatever it holds.

    >>> import discreet as dp
    >>> from discreet.curator.charged_part import part_of
    >>> from discreet.data import Category, Integer, Schema
    >>> from discreet.query.sql.parse import parse
    >>> people = {"people": Schema("people", dp.Rows(), {"age": Integer(0, 120), "month": Category(["jan", "feb"])})}
    >>> parts = dp.Parts("people", "month", ("jan", "feb"))
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE age > 17 AND month = 'feb'", people), parts)
    'feb'
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE month <> 'jan'", people), parts) is None
    True
    """
    if parts is None:
        return None
    pinned: list[KeyValue | None] = []
    for relation in relations_of(question):
        pinned += _pinned_parts(relation, parts)
    distinct = {_identity(value): value for value in pinned if value is not None}
    # One scan that is not pinned reads every part.
    if None in pinned or len(distinct) != 1:
        return None
    return next(iter(distinct.values()))


def _identity(value: object) -> tuple[bool, object]:
    """Return a key by which True and 1 differ, which Python takes for equal."""
    return isinstance(value, bool), value


def _pinned_parts(relation: Relation, parts: Parts) -> list[KeyValue | None]:
    """List for every scan of a table the one part that its conditions allow; None for all parts."""
    if isinstance(relation, Scan):
        return [None]
    if isinstance(relation, Where):
        schema = _scanned_table(relation)
        if schema is not None:
            return [_pinned_part(schema, relation, parts)]
    pinned: list[KeyValue | None] = []
    for rows in inputs_of(relation):
        pinned += _pinned_parts(rows, parts)
    return pinned


def _scanned_table(relation: Relation) -> Schema | None:
    """Return the table under nothing but conditions; None if something else lies between."""
    while isinstance(relation, Where):
        relation = relation.rows
    if isinstance(relation, Scan):
        return relation.schema
    return None


def _pinned_part(schema: Schema, relation: Relation, parts: Parts) -> KeyValue | None:
    """Return the one part that the conditions directly over a scan allow; None if it is not one."""
    if schema.name.casefold() != parts.table.casefold():
        return None
    if not _whole_units(schema, parts):
        return None
    name, column = schema.column(parts.column)
    values = {_identity(_constant(column, value)): value for value in parts.values}
    while isinstance(relation, Where):
        for condition in leaves(Function.AND, relation.condition):
            equality = equality_of(condition)
            if equality is None or equality[0] != name:
                continue
            constant = equality[1]
            # A constant of another type of time is not compared with this column as it stands.
            if constant.time != _time(column):
                continue
            if _identity(constant.value) in values:
                return values[_identity(constant.value)]
        relation = relation.rows
    return None


def _whole_units(schema: Schema, parts: Parts) -> bool:
    """Return whether all rows that a unit has in this table lie in one part."""
    if isinstance(schema.unit, Rows):
        return True
    if not isinstance(schema.unit, People):
        return False
    name, column = schema.column(parts.column)
    # A person within a day has all rows of that day in one part if the parts are the days.
    return schema.unit.window == (name, "day") and isinstance(column, Date)


def _constant(column: object, value: object) -> Scalar:
    """Return a declared value as a question's constants hold it: days and seconds as integers."""
    if isinstance(column, Date | Timestamp):
        return column.steps(value)
    return value  # type: ignore[return-value]


def _time(column: object) -> str | None:
    """Return the unit of an integer constant that is compared with this column."""
    if isinstance(column, Date):
        return "day"
    if isinstance(column, Timestamp):
        return "second"
    return None


def charged_part(questions: Questions, terms: Charter) -> KeyValue | None:
    """Return the part or the blocks that all questions touch; None if it is all the data."""
    if terms.blocks is not None:
        return terms.blocks.label(touched_blocks(questions, terms.blocks))
    return part_of_all(questions, terms.parts)


def touched_blocks(questions: Questions, blocks: Blocks) -> Interval:
    """Return the numbers of the first and last block that questions touch; infinite if open."""

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
    """Return the number of the block of a day; an open end stays infinite."""
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
    """Check that questions ask about times whose rows are kept (`Schema.keeps`), as of today in UTC.

    Refuses: a range of times that begins or ends before the first kept day (UnsupportedQuery). A
    range without a first day is not refused for its beginning.
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
