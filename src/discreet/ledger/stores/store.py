"""Store protocol of a ledger: read, one conditional write, list keys, list lines, close.

A store holds the lines of the chain, a body beside a line (an answer, the text of a question), and
named texts (terms, allowances, accounts, pages of the account tree). All of them change in one
durable transaction. `append` passes `decide` a snapshot of the store while nobody else can write,
and writes the page that `decide` returns. There is no other way to write.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from ...arithmetic.canonical import canonical_json
from ...frozen import field, frozen
from ..entry import Entry

LineWithBody: TypeAlias = tuple[str, str | None]
EntryWithBody: TypeAlias = tuple[Entry, str | None]
# Names of the texts that every ledger has. They are stored, so they never change.
TERMS = "terms"
ALLOWANCES = "allowances"
EVERYONE = "everyone"
# Root of the account tree, and prefix of its pages; ledgers of release 0.1.0 have none.
ACCOUNT_TREE = "roll"
UNSEEN_BODIES = ("answer", "seal", "period")
"""Kinds of entries whose bodies no list of entries shows."""
DRAFT = "draft"
"""Name of the text in a store to which a ledger is about to be moved."""
SECOND_FORMAT = "2:"
"""Prefix of keys of the second and later formats. Answers under keys of the first format, which
have no prefix, are also found by the fingerprint of the question."""


def account_name(who: str) -> str:
    """Return the name of the text that holds a person's account.

    >>> from discreet.ledger.stores.store import account_name
    >>> account_name("ann")
    'who:ann'
    """
    return f"who:{who}"


def accounts_in(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of all people's accounts among the texts of a store, by person."""
    prefix = account_name("")
    accounts = {}
    for name, text in texts.items():
        if name.startswith(prefix):
            accounts[name.removeprefix(prefix)] = text
    return accounts


def step_of(entry: Entry | None) -> str:
    """Return the name of the step that writes an entry (`failpoints`); None writes a draft."""
    if entry is None:
        return "draft"
    if entry.kind == "answer":
        return "finish"
    if entry.kind == "again":
        return "charge"
    return entry.kind


@frozen
class Since:
    """Request for the keys of the entries after one number: of one person, or with None of everyone."""

    number: int
    who: str | None = None


@frozen
class Lookup:
    """Request for the lines that a decision needs.

    | field | lines |
    |---|---|
    | `key` | those under this key |
    | `question` | those of this question under keys of the first format |
    | `former` | those under this key of the second format |
    | `others` | those under these keys, such as those of the periods of a stream |
    | `since` | none: the keys of new entries, apart from the lines |

    An empty field asks for nothing.
    """

    key: str = ""
    question: str = ""
    former: str = ""
    others: tuple[str, ...] = ()
    since: Since | None = None


NOTHING = Lookup()


@frozen
class Newest:
    """Request for the `most` newest lines of everyone, or of one person.

    They come without the bodies of answers and of the periods of streams.
    """

    most: int
    who: str | None = None


class StoredLine(NamedTuple):
    """A line as a store keeps it: number, text, body, key; no key in exports and newest lines."""

    number: int
    line: str
    body: str | None
    key: str | None


@frozen
class Snapshot:
    """Content of a store at one moment; number 0 means that there is no ledger yet."""

    number: int
    now: datetime
    last: str = ""
    """The last line."""
    texts: Mapping[str, str] = field(default_factory=dict)
    found: Sequence[LineWithBody] = ()
    """The lines of the lookup, each with its body: by key, `former`, `others`, then by question."""
    newer: Sequence[str] = ()
    """The keys of the entries that `since` asks for."""


@frozen
class Page:
    """Content of one write: a line, its body if it has one, and the texts that it changes.

    `before` are the lines of a ledger that is moved or imported here, written first. A page without
    an entry only changes texts: the draft that reserves the store for a ledger.
    """

    entry: Entry | None
    texts: Mapping[str, str]
    body: str | None = None
    before: Iterable[EntryWithBody] = ()

    @property
    def entries(self) -> Iterator[EntryWithBody]:
        """All lines in order, each with its body."""
        yield from self.before
        if self.entry is not None:
            yield self.entry, self.body


Decide: TypeAlias = Callable[[Snapshot], Page | None]


class LedgerStore(Protocol):
    """Store of a ledger's lines and texts.

    Guarantee: between the snapshot that `append` passes to `decide` and the end of its write nobody
    else writes. A page is written as a whole or not at all, and is durable when
    `append` returns (in memory until the process ends).

    Refuses: LedgerUnavailable for a store that cannot work now (a page whose commit was cut off may
    stand), LedgerCorrupt for one that cannot be read.

    Law: tests/ledger/test_race.py::TestManyProcesses,
    tests/ledger/test_kill.py::test_a_death_at_any_point_never_lets_an_answer_out_without_its_charge
    """

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return the content at one moment: the texts of these names, and the lines of the lookup.

        With None instead of names all texts are returned.
        """

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Read, decide and write in one exclusive transaction; a page of None writes nothing."""

    def keys(self, starts: Collection[str], who: str | None) -> list[str]:
        """List the keys, of everyone or of one person, that begin with one of `starts`.

        All `starts` have the same length. Each key is listed once, in sorted order.
        """

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Yield the lines numbered `first` to `last`, all or only the newest, in order."""

    def close(self) -> None:
        """Release the connection."""


CHUNK = 1000
"""Lines read in one transaction: enough for speed, and writers wait only briefly."""


def since_query(since: Since, everyone: str, own: str) -> tuple[str, tuple[object, ...]]:
    """Return the query for the keys of new entries, with its parameters."""
    if since.who is None:
        return everyone, (since.number,)
    return own, (since.number, canonical_json(since.who))


class LinesInSql:
    """Base of the stores in SQL: reads ranges of lines, and keys, by five queries."""

    RANGE: ClassVar[str]
    """Lines from one number to another, in order."""
    ALL_NEWEST: ClassVar[str]
    """The newest lines of everyone, the last one first; its first parameter is NULL."""
    OWN_NEWEST: ClassVar[str]
    """The newest lines of one person, the last one first."""
    ALL_KEYS: ClassVar[str]
    """Keys of everyone: parameters NULL, a number n, and a JSON list of first n characters."""
    OWN_KEYS: ClassVar[str]
    """Keys of one person: the same, with the person's name as JSON for the first parameter."""

    @abstractmethod
    def _fetch(self, query: str, arguments: tuple[object, ...]) -> list[Any]:
        """Return the rows of a query at one moment."""

    def keys(self, starts: Collection[str], who: str | None) -> list[str]:
        """List the keys that begin with one of `starts`, each once, in sorted order."""
        listed = sorted(starts)
        if not listed:
            return []
        query = self.ALL_KEYS if who is None else self.OWN_KEYS
        whose = None if who is None else canonical_json(who)
        rows = self._fetch(query, (whose, len(listed[0]), canonical_json(listed)))
        return sorted(key for (key,) in rows)

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines of a range, a thousand at a time, or the newest of them at once."""
        if newest is not None:
            yield from self._newest(first, last, newest)
            return
        for start in range(first, last + 1, CHUNK):
            end = min(last, start + CHUNK - 1)
            yield from map(StoredLine._make, self._fetch(self.RANGE, (start, end)))

    def _newest(self, first: int, last: int, newest: Newest) -> Iterator[StoredLine]:
        """Yield the newest lines of a range, without the bodies that lists do not show."""
        if newest.who is None:
            query = self.ALL_NEWEST
            whose = None
        else:
            query = self.OWN_NEWEST
            whose = canonical_json(newest.who)
        rows = self._fetch(query, (whose, first, last, newest.most))
        return map(StoredLine._make, reversed(rows))
