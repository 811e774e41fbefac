"""History of a ledger: its newest entries as a table in text and HTML, with the budget spent.

Charges are shown with the text of the question and the price that the asker was told, as far as
they are stored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias, overload

from ...arithmetic.canonical import digest
from ...arithmetic.rational import whole
from ...errors import InvalidArgument, LedgerCorrupt
from ...frozen import field, frozen, replace
from ...privacy.events.json import Json
from ...privacy.filters.filter import Filter
from ...privacy.measures import Measure
from ...privacy.shown_price import price_from_json
from ...show.bar import fraction_bar
from ...show.table import html_table, text_table, truncate
from ..balance import spent_of, spent_share
from ..entry import Entry, read_line
from ..stores.store import SECOND_FORMAT, EntryWithBody, LedgerStore, Newest

Kinds: TypeAlias = Collection[str] | None
"""Some kinds of entries; None for all."""
_HEAD = ("number", "time", "kind", "who", "why", "event", "part")
_CHUNK = 1000
"""Lines read at once, backwards from the end."""
_MAX_TEXT = 80
"""Characters of a question's text that the table shows."""
_MAX_WHY = 40
OWN_KINDS = ("charge", "again", "allow")
"""Kinds of entries that an analyst sees of their own; no steps, which only the first asker has.

An answer's entry is not among them: its time says when the store was done (timing side channel).
"""


@frozen
class History(Sequence[Entry]):
    """Entries, oldest first; its display adds the budget spent according to `filter`.

    `asked` has the texts of questions, and `prices` the prices that their askers were told, both by
    the number of the entry.
    """

    entries: tuple[Entry, ...]
    filter: Filter
    asked: Mapping[int, str] = field(default_factory=dict, hash=False)
    prices: Mapping[int, str] = field(default_factory=dict, hash=False)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, index: int | slice) -> Entry | tuple[Entry, ...]:
        return self.entries[index]

    def __str__(self) -> str:
        table = text_table([self._head(), *self._rows()])
        return f"{table}\n{self._foot()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._head(), self._rows(), foot=self._foot())

    def _head(self) -> tuple[str, ...]:
        head: tuple[str, ...] = _HEAD
        if self.prices:
            head = (*head, "price")
        if self.asked:
            head = (*head, "asked")
        return head

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for entry in self.entries:
            row = _row(entry)
            if self.prices:
                row = (*row, self.prices.get(entry.number, ""))
            if self.asked:
                text = self.asked.get(entry.number, "")
                one_line = " ".join(text.split())
                row = (*row, truncate(one_line, _MAX_TEXT))
            yield row

    def _foot(self) -> str:
        spent = spent_of(self.filter)
        bar = fraction_bar(spent_share(self.filter))
        return f"spent {spent} of {_whole_budget(self.filter)}  {bar}"


def _whole_budget(filter: Filter) -> Measure:  # noqa: A002 the field's own term
    """Return the whole budget in the measure in which the spent budget is shown."""
    if filter.adds:
        return filter.terms.budget
    full = replace(filter, used=filter.capacity, leaked=filter.terms.delta)
    return full.spent()


def _row(entry: Entry) -> tuple[str, ...]:
    """Return the cells of an entry, in the order of `_HEAD`."""
    event = "" if entry.event is None else _event_name(entry.event)
    if not event:
        event = _move_text(entry) if entry.refers is None else f"of {entry.refers}"
    part = "" if entry.part is None else str(entry.part)
    time = entry.time[:19].replace("T", " ")
    why = " ".join(entry.why.split())[:_MAX_WHY]
    return str(entry.number), time, entry.kind, entry.who, why, event, part


def _move_text(entry: Entry) -> str:
    """Return the target or the source of a ledger that was moved; empty for other entries."""
    terms = entry.terms or {}
    return " ".join(f"{name} {terms[name]}" for name in ("to", "from") if name in terms)


def _event_name(event: dict[str, object]) -> str:
    """Return a short name of an event; of a batch, its events with their counts."""
    inner = event.get("events")
    if not isinstance(inner, list):
        return str(event["event"])
    kinds = [_event_name(each) for each in inner]
    return ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))


def read_history(
    store: LedgerStore,
    filter: Filter,  # noqa: A002 the field's own term
    who: str | None,
    last: int | None,
    kinds: Kinds = None,
) -> History:
    """Return the newest `last` entries of a person and of some kinds; None stands for all.

    With a person and kinds, charges of the steps of a synthetic table are left out.
    """
    if who is not None and not isinstance(who, str):
        raise InvalidArgument(f"who is a name, got {type(who).__name__}")
    max_entries = None if last is None else whole(last, "last", least=1)
    kept: list[EntryWithBody] = []
    end = store.read(()).number
    while end > 0 and (max_entries is None or len(kept) < max_entries):
        size = _CHUNK
        if max_entries is not None and kinds is None:
            # Every line counts then, so no more are read than are still wanted.
            size = min(_CHUNK, max_entries - len(kept))
        lines = store.lines(1, end, Newest(size, who))
        chunk = [(read_line(stored.line), stored.body) for stored in lines]
        kept[:0] = _selected(chunk, who, kinds)
        # A short chunk is the last one: there are no more lines of this person before it.
        end = chunk[0][0].number - 1 if len(chunk) == size else 0
    newest = kept if max_entries is None else kept[-max_entries:]
    entries = tuple(entry for entry, _ in newest)
    asked: dict[int, str] = {}
    prices: dict[int, str] = {}
    for entry, body in newest:
        # Releases before 0.2.0 stored no price with a charge, and 0.1.0 no text.
        told = _told(entry, body)
        if told.get("asked"):
            asked[entry.number] = str(told["asked"])
        if "price" in told:
            prices[entry.number] = str(price_from_json(told["price"]))
    return History(entries, filter, asked, prices)


def own_numbers(store: LedgerStore, who: str, after: int) -> list[int]:
    """List the numbers of one person's entries of OWN_KINDS after a number, in order."""
    end = store.read(()).number
    numbers = []
    for stored in store.lines(after + 1, end, Newest(end, who)):
        # The hash of a line is checked where its entry is shown; here a few fields are enough.
        fields = json.loads(stored.line)
        if fields["who"] == who and _kind(fields["kind"], fields["key"]) in OWN_KINDS:
            numbers.append(int(fields["number"]))
    return numbers


def _kind(kind: str, key: str) -> str:
    """Return the kind of an entry as its person is told it: "step" for a step of a synthetic table.

    Only the first who asks for a table has its steps, so they would tell who was first.
    """
    # The key of a step is that of its synthesis, of the second format, and the name of the step.
    if kind == "charge" and key.startswith(SECOND_FORMAT) and key.count(":") == 2:
        return "step"
    return kind


def _selected(chunk: Sequence[EntryWithBody], who: str | None, kinds: Kinds) -> list[EntryWithBody]:
    """Return those of a chunk's entries that are of this person and of these kinds; None is all."""
    selected: list[EntryWithBody] = []
    for entry, body in chunk:
        # The store selects by text or by a prefix of the name; the entry itself decides.
        if who not in (None, entry.who):
            continue
        if who is not None and kinds is not None and _kind(entry.kind, entry.key) == "step":
            continue
        if kinds is None or entry.kind in kinds:
            selected.append((entry, body))
    return selected


def _told(entry: Entry, body: str | None) -> Json:
    """Return the question's text and price stored beside a charge or an `again`, by name.

    Empty for other entries. Refuses: a text without the hash in its entry, with LedgerCorrupt.
    """
    if entry.kind not in ("charge", "again") or body is None:
        return {}
    if digest(body) != entry.body_hash:
        raise LedgerCorrupt(f"the text of entry {entry.number} is not the one that was stored")
    told: Json = json.loads(body)
    return told
