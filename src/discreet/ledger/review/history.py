"""The entries of a ledger as a table that shows itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...privacy.filters.filter import Filter
from ...privacy.measures import Measure
from ...show.bar import share_bar
from ...show.table import html_table, text_table
from ..entry import Entry, read_line
from ..left import spent_of, spent_share
from ..stores.store import LedgerStore

__all__ = ["History", "read_history"]

_HEAD = ("number", "time", "kind", "who", "why", "event", "part")
_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class History(Sequence[Entry]):
    """Entries, oldest first, with what was spent so far."""

    entries: tuple[Entry, ...]
    filter: Filter

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
        return f"{text_table([_HEAD, *map(_row, self.entries)])}\n{self._foot()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(_HEAD, map(_row, self.entries), foot=self._foot())

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


def read_history(store: LedgerStore, filter: Filter, who: str | None, last: int | None) -> History:  # noqa: A002
    """Read the entries of everyone or of somebody, all or the last few, from the end backwards."""
    if who is not None and not isinstance(who, str):
        raise InvalidArgument(f"who is a name, got {type(who).__name__}")
    most = None if last is None else whole(last, "last", least=1)
    kept: list[Entry] = []
    end = store.read(()).number
    while end > 0 and (most is None or len(kept) < most):
        start = max(1, end - _CHUNK + 1)
        chunk = [read_line(line) for _, line, _ in store.lines(start, end)]
        kept[:0] = [entry for entry in chunk if who is None or entry.who == who]
        end = start - 1
    return History(tuple(kept if most is None else kept[-most:]), filter)
