"""Repair of a ledger whose clock was wrong, or whose last entries were lost.

A repair is an entry in the chain. No repair forgets spending; `review.repaired_books` defines the
books afterwards.

Law: tests/ledger/test_life.py::TestAClockThatWasWrong,
tests/ledger/test_life.py::TestEntriesThatWereLost
"""

from __future__ import annotations

import os
from functools import partial

from ...errors import InvalidArgument, LedgerCorrupt
from ...privacy.events.json import Json
from ..clock import SMALL_STEP, read_time, write_time
from ..entry import Entry, read_who
from ..open import WAIT, open_store
from ..review.chain_replay import ChainReplay
from ..snapshot import closed
from ..stores.sqlite import LedgerInSqlite
from ..stores.sqlite_checks import noted_end
from ..stores.store import Page, Snapshot
from .optimistic import append_if_unchanged, following_entry
from .upgrade import tree_as_stored


def repair_ledger(
    where: str | os.PathLike[str], *, name: str = "main", lost: bool = False
) -> Entry:
    """Repair a ledger and return the `repair` entry.

    Without `lost`: the clock was ahead, so the last entry has a time in the future. The ledger goes
    on at the present time. Charges in windows of the future count in the present one.

    With `lost`: accept that the last entries of a SQLite file are gone. Nobody knows what they have
    spent, so the whole budget counts as spent; with windows, that of the present window.

    Refuses: InvalidArgument for a ledger that needs no such repair, LedgerCorrupt for a chain that
    does not hold. Without `lost` LedgerConflict for a closed ledger.
    """
    if lost:
        page = _repair_loss(where)
    else:
        store = open_store(where, read_who(name))
        try:
            page = append_if_unchanged(store, _clock_page)
        finally:
            store.close()
    if page is None or page.entry is None:
        raise LedgerCorrupt("the store wrote nothing; the ledger is as it was")
    return page.entry


def _repair_loss(where: str | os.PathLike[str]) -> Page | None:
    """Write the `repair` entry of a SQLite file whose last entries are lost; return its page."""
    store = LedgerInSqlite(where, timeout=WAIT, whole=False)
    # Read before the repair is written, which notes its own, smaller number.
    noted = noted_end(store.path)
    try:
        return append_if_unchanged(store, partial(_loss_page, noted))
    finally:
        store.close()


def _clock_page(replay: ChainReplay, last: Entry, snapshot: Snapshot) -> Page:
    """Return the page of a `repair` entry at the present time, after entries with a future time.

    Refuses: LedgerConflict for a closed ledger; InvalidArgument if the last entry is at most five
    seconds ahead.
    """
    if last.kind == "close":
        raise closed(last)
    ahead = read_time(last.time) - snapshot.now
    if ahead.total_seconds() <= SMALL_STEP:
        raise InvalidArgument(
            f"the last entry is of {last.time}, which has come: this ledger's clock needs no repair"
        )
    time = write_time(snapshot.now)
    terms: Json = {"clock": last.time}
    has_windows = replay.books("").terms.window is not None
    if replay.exact or has_windows:
        return _repair_page(replay, time, terms)
    # This release prices otherwise than the one that wrote; the books keep their amounts.
    tree = tree_as_stored(snapshot, last.number + 1)
    entry = following_entry(last, "repair", time, terms, {**snapshot.texts, **tree})
    return Page(entry, tree)


def _loss_page(noted: int, replay: ChainReplay, last: Entry, snapshot: Snapshot) -> Page:
    """Return the page that counts the budget as spent, because entries up to `noted` are gone."""
    if noted <= last.number:
        raise InvalidArgument(
            f"this ledger ends with entry {last.number}, and no later one is noted: nothing is missing"
        )
    time = max(write_time(snapshot.now), last.time)
    return _repair_page(replay, time, {"lost": noted})


def _repair_page(replay: ChainReplay, time: str, terms: Json) -> Page:
    entry = replay.write("repair", time, terms)
    return Page(entry, replay.texts())
