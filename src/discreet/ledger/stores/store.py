"""What a ledger needs of a store: read, one conditional write, a range of lines, and to close.

A store keeps lines, the bodies of answers, and a few named texts (the terms, the allowances, the accounts), all changed
in one durable transaction. `append` gives `decide` what stands in the store while nobody else can write, and writes
what it returns: that is the condition, and there is no other way to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from ...frozen import field, frozen
from ..entry import Entry

TERMS, ALLOWANCES, EVERYONE, ROLL = "terms", "allowances", "everyone", "roll"
"""The names of the texts that every ledger has; those of release 0.1.0 have no roll."""
DRAFT = "draft"
"""The name of the text in a store to which a ledger is about to be moved."""
SECOND = "2:"
"""How keys of the second format begin; those of the first are found by the question that they were charged for."""


def account_name(who: str) -> str:
    """Name the text of somebody's account.

    >>> from discreet.ledger.stores.store import account_name
    >>> account_name("ann")
    'who:ann'
    """
    return f"who:{who}"


def step_of(entry: Entry) -> str:
    """Name the durable step that writes an entry; see `steps`."""
    return {"answer": "finish", "again": "charge"}.get(entry.kind, entry.kind)


@frozen
class Lookup:
    """Which lines a decision needs: those of a key, and those with a key of the first format about a question."""

    key: str = ""
    question: str = ""


NOTHING = Lookup()


@frozen
class Newest:
    """The last so many lines, everyone's or somebody's; bodies of answers, which may be long, are left out."""

    most: int
    who: str | None = None


class StoredLine(NamedTuple):
    """A line as a store keeps it: its number, its body, and the key by which it is found there, if it is in a store."""

    number: int
    line: str
    body: str | None
    key: str | None


@frozen
class Snapshot:
    """What stands in a store at one moment; number 0 means that there is no ledger yet."""

    number: int
    now: datetime
    last: str = ""
    """The last line."""
    texts: Mapping[str, str] = field(default_factory=dict)
    found: Sequence[tuple[str, str | None]] = ()
    """The lines that were looked for, each with its body: those of the key, then those of the question, in order."""


@frozen
class Page:
    """What is written at once: a line, its body if it has one, and the texts that it changes.

    `before` are the lines of a ledger that is moved here, to be written before it. A page without an entry only
    changes texts: those of a ledger that is not here yet.
    """

    entry: Entry | None
    texts: Mapping[str, str]
    body: str | None = None
    before: Iterable[tuple[Entry, str | None]] = ()

    @property
    def entries(self) -> Iterator[tuple[Entry, str | None]]:
        """All lines in order, each with its body."""
        yield from self.before
        if self.entry is not None:
            yield self.entry, self.body


Decide: TypeAlias = Callable[[Snapshot], Page | None]


class LedgerStore(Protocol):
    """Where lines are kept. What a store cannot do now raises LedgerUnavailable; what it cannot read, LedgerCorrupt."""

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return what stands there at one moment: the texts named, or all, and the lines that are looked for."""

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Read, decide and write in one turn that nobody else can enter; None from `decide` writes nothing."""

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines from one number to another, all or the newest of them, in order."""

    def close(self) -> None:
        """Let go of the store."""
