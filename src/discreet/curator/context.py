"""Context of a curator: an engine, the schemas of its tables and a ledger, checked to fit together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ..data.columns.column import Date, Timestamp
from ..data.schema import Schema
from ..data.unit import People
from ..engines.base import Engine, keeps_all_rows
from ..engines.counted import count_rows_of
from ..errors import InvalidArgument, SchemaMismatch
from ..frozen import field, frozen, replace
from ..ledger import Entry, Ledger
from ..noise import Bits, CheckedBits
from ..plan.planner import Planner, RecentQuestions
from ..privacy.measures import Neighbours
from .history import EntryNumbers
from .pay import Paid, find_paid

if TYPE_CHECKING:
    from ..streams.seal import Seal

MAX_REMEMBERED = 64
"""Analysts whose last questions one process remembers."""
_ENGINE = ("tally", "explain", "check", "public_values")


@frozen
class RunControl:
    """Functions by which a service stops or delays a run; an argument, never read from an engine.

    `checkpoint` is called before each draw of noise and raises Cancelled to stop the run. `pause`
    waits some seconds for an answer that is held back, and raises Cancelled to stop the wait.
    `held` is a context that ends only at a tick of the timing grid (timing side channel).

    Guarantee: it cannot supply or alter randomness.
    Law: tests/curator/test_randomness.py
    """

    checkpoint: Callable[[], object]
    pause: Callable[[float], object]
    held: Callable[[], AbstractContextManager[object]] = nullcontext


@frozen
class CuratorContext:
    """Everything that a curator reads: an engine, its schemas by name, a ledger and options.

    `known` caches the values of public tables. They are read once: the steward declares a new
    version when they change.
    """

    engine: Engine
    schemas: dict[str, Schema]
    ledger: Ledger
    numbers: EntryNumbers
    """Numbers of entries as their analysts are told them."""
    share_questions: bool = False
    """Whether analysts may know what others have asked."""
    siblings: bool = True
    """Whether a charge also measures cells that cost nothing more, for later questions."""
    known: dict[tuple[str, ...], tuple[object, ...]] = field(default_factory=dict)
    control: RunControl | None = field(default=None, compare=False, repr=False)
    """How a run is stopped; None if nobody can stop it."""
    seal: Seal | None = field(default=None, compare=False, repr=False)
    """The key file of its streams, where no other is given."""
    recent: dict[str, RecentQuestions] = field(default_factory=dict, compare=False, repr=False)
    """By analyst: the last questions that were read from SQL."""

    def public_values(self, table: str, *columns: str) -> tuple[object, ...]:
        """List the distinct values of a public table's column, or the distinct tuples of several."""
        key = (table, *columns)
        if key not in self.known:
            values = self.engine.public_values(self.schemas[table], *columns)
            self.known[key] = tuple(values)
        return self.known[key]

    @property
    def planner(self) -> Planner:
        """The planner of these tables, under the ledger's filter as it was opened."""
        rows_public = keeps_all_rows(self.engine)
        return Planner(self.schemas, self.ledger.terms.filter, self.public_values, rows_public)

    def planner_for(self, who: str) -> Planner:
        """Return the planner, which does not parse again what this analyst has asked lately.

        Each analyst has a cache of their own: nobody learns from the time of an answer whether a
        colleague has asked the same (timing side channel).
        """
        if who not in self.recent and len(self.recent) >= MAX_REMEMBERED:
            # Whoever comes later is served without a cache.
            return self.planner
        recent = self.recent.setdefault(who, RecentQuestions())
        return replace(self.planner, recent=recent)

    def find_paid(self, who: str, key: str) -> Paid | None:
        """Return the stored answer of a key that an asker has paid for; anybody's if questions are shared."""
        apart = not self.share_questions
        return find_paid(self.ledger, who, key, apart=apart, pause=self.pause)

    def pending(self, who: str, key: str) -> Entry | None:
        """Return a charge of a key that this asker has paid for and that has not ended."""
        return self.ledger.pending(key, None if self.share_questions else who)

    @property
    def bits(self) -> Bits | None:
        """The source of noise: always secure bits. None is the default source of the noise package."""
        if self.control is None:
            return None
        return CheckedBits(self.control.checkpoint)

    @property
    def pause(self) -> Callable[[float], object]:
        """Function that waits for a held-back answer: sleep, unless a control can stop the wait."""
        if self.control is None:
            return time.sleep
        return self.control.pause

    @property
    def held(self) -> Callable[[], AbstractContextManager[object]]:
        """Function whose context ends at a tick, if a control holds runs back."""
        return nullcontext if self.control is None else self.control.held

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that all private tables declare."""
        private = (schema for schema in self.schemas.values() if not schema.public)
        return next(private).neighbours


def read_context(
    engine: object,
    schemas: object,
    ledger: object,
    *,
    share_questions: object = False,
    siblings: object = True,
) -> CuratorContext:
    """Check that an engine, schemas and a ledger fit together, and return them as a context.

    Refuses: arguments of other types, no schema, two schemas of one name, drafts, only public
    tables, tables or columns that the store does not have, neighbours that differ among the tables
    or from the ledger's, and a ledger whose parts or blocks do not fit these tables.
    """
    if not all(callable(getattr(engine, name, None)) for name in _ENGINE):
        raise InvalidArgument(
            f"a curator needs an engine such as DuckDB(…), got {type(engine).__name__}"
        )
    if not isinstance(ledger, Ledger):
        raise InvalidArgument(
            f"a curator needs a ledger, as open_ledger(…) gives it, got {type(ledger).__name__}"
        )
    for name, flag in (("share_questions", share_questions), ("siblings", siblings)):
        if not isinstance(flag, bool):
            raise InvalidArgument(f"{name} is True or False, got {type(flag).__name__}")
    declared = _schemas(schemas)
    counted = count_rows_of(engine, declared.values(), ledger.terms.blocks)  # type: ignore[arg-type]
    numbers = EntryNumbers(ledger)
    context = CuratorContext(counted, declared, ledger, numbers, share_questions, siblings)  # type: ignore[arg-type]
    _check_neighbours(context)
    _check_parts(context)
    _check_blocks(context)
    for schema in context.schemas.values():
        context.engine.check(schema)
    return context


def _schemas(schemas: object) -> dict[str, Schema]:
    """Return schemas by table; refuse none, two of one name, drafts and only public tables."""
    if isinstance(schemas, Mapping):
        schemas = schemas.values()
    listed = _list_schemas(schemas)
    if not listed or not all(isinstance(schema, Schema) for schema in listed):
        raise InvalidArgument("a curator needs a list of Schema, one for each table")
    names = [schema.name.casefold() for schema in listed]
    if len(set(names)) < len(names):
        raise InvalidArgument("two schemas have the same name; a table is declared once")
    if all(schema.public for schema in listed):
        raise InvalidArgument(
            "all tables are public, so their answers need no noise; ask the store itself"
        )
    return {schema.name: schema.ready() for schema in listed}


def _list_schemas(given: object) -> list[Schema]:
    if isinstance(given, Schema):
        return [given]
    if isinstance(given, Iterable):
        return list(given)
    return []


def _check_neighbours(context: CuratorContext) -> None:
    declared = {schema.neighbours for schema in context.schemas.values() if not schema.public}
    if len(declared) > 1:
        raise SchemaMismatch(
            "the tables declare different neighbour relations; one budget needs one for all"
        )
    promised = context.ledger.terms.neighbours
    if promised not in (None, *declared):
        raise SchemaMismatch(
            f"the ledger promises under {promised!r} neighbours, the tables declare {context.neighbours!r}; "
            "declare the same, or open another ledger"
        )


def _check_parts(context: CuratorContext) -> None:
    parts = context.ledger.terms.parts
    if parts is None:
        return
    _private_table(context, parts.table, "parts").column(parts.column)


def _private_table(context: CuratorContext, table: str, divided: str) -> Schema:
    """Return the private table that a ledger has parts or blocks of.

    Refuses: a name of no private table here (SchemaMismatch).
    """
    schema = context.schemas.get(table)
    if schema is None or schema.public:
        raise SchemaMismatch(
            f"the ledger has {divided} of {table}, which is none of the private tables here"
        )
    return schema


def _check_blocks(context: CuratorContext) -> None:
    """Check the ledger's blocks, if it has any.

    Refuses: a table that is not private here, a column that is neither Date nor Timestamp, and a
    table that protects a person only within a window of time.
    """
    blocks = context.ledger.terms.blocks
    if blocks is None:
        return
    schema = _private_table(context, blocks.table, "blocks")
    name, column = schema.column(blocks.column)
    if not isinstance(column, Date | Timestamp):
        raise SchemaMismatch(
            f"the ledger has blocks of {blocks.table}.{name}, which is declared as {column.kind}; "
            "declare it as a Date or a Timestamp"
        )
    if isinstance(schema.unit, People) and schema.unit.window is not None:
        raise SchemaMismatch(
            f"blocks promise the budget to a person for life, {schema.name} protects {schema.unit}; "
            "leave the window out of the unit, or open the ledger without blocks"
        )
