"""Engine that leaves out rows by time: a person's rows in late blocks, and rows no longer retained.

A block is a day, week, month, quarter or year. A ledger may let a person count only in a
limited number of blocks from that person's first row on (`data.blocks`). A schema may let rows
count only for so long (`keeps`). This engine wraps the engine of the store. After planning it
replaces every scan of a private table in a tally by a scan of the rows that count. A plan is made
for the whole table; since no person has more rows here than there, its sensitivity holds.

Guarantee: no total includes a row of a person outside the blocks in which that person counts, nor a
row before the first day that its table keeps. Which rows of a person these are depends on the rows
of that person and on the date alone.

Law: tests/engines/test_blocks.py::TestEveryEngineCountsTheSameBlocks,
tests/curator/test_blocks.py::TestNoWayAroundTheBlocks
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import date
from functools import partial

from ..data.blocks import Blocks
from ..data.retention import utc_today
from ..data.schema import Schema
from ..data.unit import People
from ..frozen import frozen, replace
from ..query.algebra.expression import Constant, Field, Function, call_of
from ..query.algebra.tally import Tally, Totals
from ..query.algebra.tree import BlockScan, Relation, Scan, Where, with_inputs
from .base import Engine, PeopleTotals, PublicKeys, one_snapshot, people_apart


def count_rows_of(engine: Engine, schemas: Iterable[Schema], blocks: Blocks | None) -> Engine:
    """Return an engine that counts within blocks and retention times.

    It is `engine` itself if there are no blocks and no schema has a retention time (`keeps`).
    """
    keeps = any(schema.keeps is not None for schema in schemas)
    if blocks is None and not keeps:
        return engine
    return CountedEngine(engine, blocks)


@frozen
class CountedEngine:
    """An engine whose tallies count only the rows within the blocks and the retention time."""

    engine: Engine
    blocks: Blocks | None
    today: Callable[[], date] = utc_today

    @property
    def rows_public(self) -> bool:
        """Return False: some rows do not count, so the number of those that do is private."""
        return False

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of the counted rows."""
        return self.engine.tally(self._counted(tally))

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact totals of the counted rows, of each person apart."""
        return people_apart(self.engine, self._counted(tally))

    def explain(self, tally: Tally) -> str:
        """Return the text that would be run, with the limit to the blocks."""
        return self.engine.explain(self._counted(tally))

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not in the store."""
        self.engine.check(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the values of a public table."""
        return self.engine.public_values(table, *columns)

    def snapshot(self) -> AbstractContextManager[object]:
        """Hold the data still, if the engine can."""
        return one_snapshot(self.engine)

    def _counted(self, tally: Tally) -> Tally:
        return replace(tally, rows=replace_scans(tally.rows, self._scan))

    def _scan(self, schema: Schema) -> Relation:
        """Return the rows of a table that count, by its blocks and its retention time."""
        rows: Relation = Scan(schema)
        blocks = self.blocks
        # A row is in one block by itself; only people can have rows in several.
        if blocks is not None and blocks.holds(schema.name) and isinstance(schema.unit, People):
            rows = BlockScan(schema, blocks)
        if schema.keeps is None:
            return rows
        # Above the blocks: a person's first block is the first one stored, kept or not.
        unit = "second" if schema.keeps.seconds else "day"
        first = Constant(schema.keeps.first_step(self.today()), unit)
        return Where(rows, call_of(Function.AT_MOST, first, Field(schema.keeps.column)))


def replace_scans(relation: Relation, scan: Callable[[Schema], Relation]) -> Relation:
    """Return a relation with each scan of a private table replaced.

    >>> import discreet as dp
    >>> from discreet.engines.counted import replace_scans
    >>> from discreet.query.algebra.tree import Scan, Union
    >>> votes = Scan(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}))
    >>> replace_scans(Union((votes, votes)), Scan) == Union((votes, votes))
    True
    """
    if isinstance(relation, Scan):
        return scan(relation.schema)
    return with_inputs(relation, partial(replace_scans, scan=scan))
