"""What is asked of a curator: questions in words or trees, about its own tables, and how exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, assert_never

from ..answer.level import read_level
from ..arithmetic.rational import Number
from ..data.columns.keys import KeyValue as Key
from ..data.columns.nulls import flag
from ..data.schema import Schema
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..ledger import Parts
from ..plan.plan import Plan
from ..plan.text.plan import share_text
from ..privacy.events import Batch, Event
from ..privacy.events.json import to_json
from ..privacy.filters.filter import Filter
from ..query.algebra.tree import JoinPeople, JoinPublic, PerPerson, Question, Relation, Scan, Select, Union, Where
from ..query.bounds.check import checked
from ..query.bounds.keys import PublicValues
from ..query.python.table import Table
from ..query.sql.parse import parse
from ..query.text.question import fingerprint
from .part import part_of
from .receipt import hash_json

__all__ = [
    "Asked",
    "Errors",
    "Weights",
    "Wish",
    "event_of",
    "key_of",
    "part_of_all",
    "question_of",
    "read_question",
    "schemas_of",
]

Asked: TypeAlias = str | Question
Errors: TypeAlias = Number | Mapping[str, Number]
ManyErrors: TypeAlias = Errors | Mapping[str, Errors]
Weights: TypeAlias = Mapping[str, Number]

FORMAT = 1
"""Of the text behind a key; ledgers keep keys, so it changes only with a new number."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a spend is divided, for how many rows errors are predicted, and how answers are made from releases."""

    weights: Weights | None = None
    size: int | None = None
    level: float = 0.95
    nonnegative: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", read_level(self.level))
        flag(self.nonnegative, "nonnegative")


class Public(TypedDict):
    """What the planner is told beside the question and its price."""

    weights: Weights | None
    size: int | None
    under: Filter
    public_values: PublicValues
    level: float


def read_question(asked: object, schemas: Mapping[str, Schema], public_values: PublicValues) -> Question:
    """Read SQL, or take a question that was built in Python, about these very schemas.

    Refuses a question about another schema of the same table: it could name another unit, and so protect nobody.
    """
    if isinstance(asked, str):
        return parse(asked, schemas, public_values)
    if isinstance(asked, Table):
        raise InvalidArgument("a table is no question yet; end it with count(), mean('age') or aggregate(…)")
    if not isinstance(asked, Question):
        raise InvalidArgument(f"a question is SQL text or built from a Table, got {type(asked).__name__}")
    try:
        fingerprint(asked)
        read = list(schemas_of(asked.rows))
        checked(asked, public_values)
    except DiscreetError:
        raise
    except (TypeError, AssertionError, ValueError, LookupError, AttributeError):  # a tree of no known shape
        raise InvalidArgument("a question holds only what a Table or SQL puts there; build it from a Table") from None
    for schema in read:
        if schemas.get(schema.name) != schema:
            raise SchemaMismatch(
                f"the question is about a schema of {schema.name} that is not the curator's; build it on "
                f"curator.table({schema.name!r}), or ask in SQL"
            )
    return asked


def named_questions(questions: object) -> Mapping[str, object]:
    """Check that questions are given by name; a release has at least one."""
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidArgument('several questions are given by name: {"regions": "SELECT …", "ages": "SELECT …"}')
    if not all(isinstance(name, str) and name.isidentifier() for name in questions):
        raise InvalidArgument("the name of a question is an identifier, such as regions or by_age")
    return questions


def schemas_of(relation: Relation) -> Iterator[Schema]:
    """List every table that a relation reads, private or public.

    >>> from ..data import Boolean, Rows
    >>> [schema.name for schema in schemas_of(Scan(Schema("votes", Rows(), {"yes": Boolean()})))]
    ['votes']
    """
    match relation:
        case Scan(schema=schema):
            yield schema
        case Where(rows=rows) | Select(rows=rows) | PerPerson(rows=rows):
            yield from schemas_of(rows)
        case JoinPublic(rows=rows, table=table):
            yield table
            yield from schemas_of(rows)
        case JoinPeople(left=left, right=right):
            yield from schemas_of(left)
            yield from schemas_of(right)
        case Union(parts=parts):
            for part in parts:
                yield from schemas_of(part)
        case _:
            assert_never(relation)


def event_of(plans: Mapping[str, Plan]) -> Event:
    """Give all that will be done as one event, to be charged at once.

    Refuses plans that release nothing: whatever is shown must have been paid for.
    """
    events = [event for plan in plans.values() for event in plan.events]
    if not events:
        raise InvalidArgument("there is nothing to release, so there is nothing to pay for; ask for an aggregate")
    return events[0] if len(events) == 1 else Batch(events)


def key_of(plans: Mapping[str, Plan], wish: Wish) -> str:
    """Name what will come out: equal questions about equal versions, with equal noise, have equal keys."""
    asked = [
        {
            "name": name,
            "fingerprint": fingerprint(plan.question),
            "events": [to_json(event) for event in plan.events],
            "shares": [share_text(release.want.tally.share) for release in plan.releases],
        }
        for name, plan in plans.items()
    ]
    return hash_json({"key": FORMAT, "asked": asked, "level": repr(wish.level), "nonnegative": wish.nonnegative})


def question_of(plans: Mapping[str, Plan]) -> str:
    """Name what was asked, as the ledger notes it: a question's fingerprint, or one for several by name."""
    prints = {name: fingerprint(plan.question) for name, plan in plans.items()}
    return prints[""] if list(prints) == [""] else hash_json(prints)


def part_of_all(plans: Mapping[str, Plan], parts: Parts | None) -> Key | None:
    """Say which part all the questions touch and no other; None if there is no such part."""
    found = [part_of(plan.question, parts) for plan in plans.values()]
    same = all(part == found[0] and type(part) is type(found[0]) for part in found)
    return found[0] if found and same else None
