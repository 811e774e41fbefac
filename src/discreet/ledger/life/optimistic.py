"""Optimistic locking (optimistic concurrency control) for writes that need the whole chain.

A replay of the chain may take minutes, so it runs outside any transaction. The write then happens
only if the last entry is still the one of the replay; otherwise the replay begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...errors import LedgerConflict
from ...privacy.events.json import Json
from .. import review
from ..books import books_digest
from ..entry import Entry, EntryKind, seal
from ..stores.store import NOTHING, LedgerStore, Page, Snapshot

if TYPE_CHECKING:
    from ..review.chain_replay import ChainReplay

_ATTEMPTS = 8
"""Replays before LedgerConflict: a ledger that is charged all the time would never be unchanged."""
MakePage: TypeAlias = "Callable[[ChainReplay, Entry, Snapshot], Page | None]"


def append_if_unchanged(store: LedgerStore, make: MakePage) -> Page | None:
    """Verify a ledger, then write the page that `make` returns, if no one has written meanwhile.

    `make` gets the replay, the last entry and a snapshot of all texts. If it returns None, nothing
    is written.

    Guarantee: `make` sees texts and a last entry that the replay has verified.

    Refuses: LedgerCorrupt for a chain that does not hold; LedgerConflict if others wrote during
    each of eight replays.
    """
    for _ in range(_ATTEMPTS):
        replay = review.verify.replay_store(store)
        overtaken: list[int] = []
        page = store.append(None, NOTHING, partial(_decide, replay, make, overtaken))
        if not overtaken:
            return page
    raise LedgerConflict(
        "others write to this ledger all the time; nothing was changed. Let them wait, and try again"
    )


def _decide(
    replay: ChainReplay, make: MakePage, overtaken: list[int], snapshot: Snapshot
) -> Page | None:
    """Make the page if nobody has written since the replay; called under the write lock."""
    last = replay.last
    if last is None or snapshot.number != last.number:
        overtaken.append(snapshot.number)
        return None
    return make(replay, last, snapshot)


def following_entry(
    last: Entry, kind: EntryKind, time: str, terms: Json, texts: Mapping[str, str]
) -> Entry:
    """Return the sealed entry after the last one, with the digest of the given texts as `books`."""
    entry = Entry(
        last.number + 1,
        kind,
        time,
        terms=terms,
        books=books_digest(texts),
        previous=last.hash,
    )
    return seal(entry)
