"""Write what needs a look at the whole chain: walk it outside any transaction, write if nobody has written since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...errors import LedgerConflict
from ...privacy.events.json import Json
from .. import review
from ..books import vouch
from ..entry import Entry, EntryKind, seal
from ..stores.store import NOTHING, LedgerStore, Page, Snapshot

if TYPE_CHECKING:
    from ..review.walk import Walk

_TRIES = 8


def append_at_rest(
    store: LedgerStore, make: Callable[[Walk, Entry, Snapshot], Page | None]
) -> Page | None:
    """Verify a ledger and write a page that was made from the walk, the last entry and all texts; None writes nothing.

    Raises LedgerCorrupt for a chain that does not hold, LedgerConflict if others do not stop writing.
    """
    for _ in range(_TRIES):
        walk = review.verify.walk_store(store)
        last, overtaken = walk.last, list[bool]()

        def decide(snapshot: Snapshot, walk: Walk = walk, last: Entry | None = last) -> Page | None:
            if last is None or snapshot.number != last.number:
                overtaken.append(True)  # noqa: B023 decided before the next round begins
                return None
            return make(walk, last, snapshot)

        page = store.append(None, NOTHING, decide)
        if not overtaken:
            return page
    raise LedgerConflict(
        "others write to this ledger all the time; nothing was changed. Let them wait, and try again"
    )


def following(
    last: Entry, kind: EntryKind, time: str, terms: Json, texts: Mapping[str, str]
) -> Entry:
    """Return the entry after the last one, vouching for the texts that stand after it."""
    entry = Entry(last.number + 1, kind, time, terms=terms, books=vouch(texts), previous=last.hash)
    return seal(entry)
