"""The entries of a ledger as a table that shows itself."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias, overload

from ...arithmetic.canonical import digest
from ...arithmetic.rational import whole
from ...errors import InvalidArgument, LedgerCorrupt
from ...frozen import field, frozen, replace
from ...privacy.filters.filter import Filter
from ...privacy.measures import Measure
from ...show.bar import share_bar
from ...show.table import cut, html_table, text_table
from ..balance import spent_of, spent_share
from ..entry import Entry, read_line
from ..stores.store import LedgerStore, Newest

Kinds: TypeAlias = Collection[str] | None
"""Some kinds of entries; None for all."""
_HEAD = ("number", "time", "kind", "who", "why", "event", "part")
_ASKED = (*_HEAD, "asked")
_CHUNK = 1000
_SHORT = 80


@frozen
class History(Sequence[Entry]):
    """Entries, oldest first, with what was spent so far; `asked` has the texts of what was asked, by their numbers."""

    entries: tuple[Entry, ...]
    filter: Filter
    asked: Mapping[int, str] = field(default_factory=dict, hash=False)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, place: int | slice) -> Entry | tuple[Entry, ...]:
        return self.entries[place]

    def __str__(self) -> str:
        return f"{text_table([self._head(), *self._rows()])}\n{self._foot()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._head(), self._rows(), foot=self._foot())

    def _head(self) -> tuple[str, ...]:
        return _ASKED if self.asked else _HEAD

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for entry in self.entries:
            text = cut(" ".join(self.asked.get(entry.number, "").split()), _SHORT)
            yield (*_row(entry), text) if self.asked else _row(entry)

    def _foot(self) -> str:
        return f"spent {spent_of(self.filter)} of {_whole(self.filter)}  {share_bar(spent_share(self.filter))}"


def _whole(filter: Filter) -> Measure:  # noqa: A002 that is what it is
    """Return what the budget comes to in the measure that the spent is shown in."""
    if filter.adds:
        return filter.terms.budget
    return replace(filter, used=filter.capacity, leaked=filter.terms.delta).spent()


def _row(entry: Entry) -> tuple[str, ...]:
    event = "" if entry.event is None else _named(entry.event)
    ends = _place(entry) if entry.refers is None else f"of {entry.refers}"
    part = "" if entry.part is None else str(entry.part)
    time, why = entry.time[:19].replace("T", " "), " ".join(entry.why.split())[:40]
    return str(entry.number), time, entry.kind, entry.who, why, event or ends, part


def _place(entry: Entry) -> str:
    """Say where a ledger went or came from."""
    terms = entry.terms or {}
    return " ".join(f"{word} {terms[word]}" for word in ("to", "from") if word in terms)


def _named(event: dict[str, object]) -> str:
    """Name an event shortly; a batch by what is in it."""
    inner = event.get("events")
    if isinstance(inner, list):
        kinds = [_named(one) for one in inner]
        return ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))
    return str(event["event"])


def read_history(
    store: LedgerStore,
    filter: Filter,  # noqa: A002 that is what it is
    who: str | None,
    last: int | None,
    kinds: Kinds = None,
) -> History:
    """Read the entries of everyone or of somebody, of some kinds, all or the last few, from the end backwards."""
    if who is not None and not isinstance(who, str):
        raise InvalidArgument(f"who is a name, got {type(who).__name__}")
    most = None if last is None else whole(last, "last", least=1)
    kept: list[tuple[Entry, str | None]] = []
    end = store.read(()).number
    while end > 0 and (most is None or len(kept) < most):
        size = _CHUNK if most is None or kinds is not None else min(_CHUNK, most - len(kept))
        chunk = [(read_line(one.line), one.body) for one in store.lines(1, end, Newest(size, who))]
        shown = [
            one
            for one in chunk
            if who in (None, one[0].who) and (kinds is None or one[0].kind in kinds)
        ]
        kept[:0] = [(entry, _text(entry, body)) for entry, body in shown]
        end = chunk[0][0].number - 1 if len(chunk) == size else 0
    ends = kept if most is None else kept[-most:]
    asked = {entry.number: text for entry, text in ends if text}
    return History(tuple(entry for entry, _ in ends), filter, asked)


def _text(entry: Entry, body: str | None) -> str | None:
    """Return what was asked, if the entry vouches for the text; answers are not shown here."""
    if entry.kind not in ("charge", "again") or body is None:
        return None
    if digest(body) != entry.body_hash:
        raise LedgerCorrupt(f"the text of entry {entry.number} is not the one that was stored")
    return str(json.loads(body).get("asked", ""))
