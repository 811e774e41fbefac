"""Repair a ledger whose clock was set wrong, or whose last entries were lost: an entry in the chain says so.

No repair forgets a spend; `review.mend` says what the books are afterwards.
"""

from __future__ import annotations

import os
from functools import partial

from ...errors import InvalidArgument, LedgerCorrupt
from ...privacy.events.json import Json
from ..clock import SMALL_STEP, read_time, write_time
from ..entry import Entry
from ..names import read_who
from ..open import WAIT, open_store
from ..review.walk import Walk
from ..snapshot import closed
from ..stores.sqlite import LedgerInSqlite
from ..stores.sqlite_checks import noted_end
from ..stores.store import Page, Snapshot
from .optimistic import append_at_rest, following
from .upgrade import roll_as_kept


def repair_ledger(
    where: str | os.PathLike[str], *, name: str = "main", lost: bool = False
) -> Entry:
    """Repair a clock: go on at the time it is now, though the last entry is of a later one; give the entry of that.

    What was charged in windows that have not come counts in the present one. With `lost`: accept that the last entries
    of a file are gone; as nobody knows what they have spent, nothing is left of the budget, in this window if there are
    windows.

    Refuses a ledger that needs no such repair, and one that is closed; a chain that does not hold is LedgerCorrupt.
    """
    store = (
        LedgerInSqlite(where, timeout=WAIT, whole=False)
        if lost
        else open_store(where, read_who(name))
    )
    noted = noted_end(store.path) if isinstance(store, LedgerInSqlite) and lost else 0
    try:
        page = append_at_rest(store, partial(_loss, noted) if lost else _clock)
    finally:
        store.close()
    if page is None or page.entry is None:
        raise LedgerCorrupt("the store wrote nothing; the ledger is as it was")
    return page.entry


def _clock(walk: Walk, last: Entry, snapshot: Snapshot) -> Page:
    if last.kind == "close":
        raise closed(last)
    if (read_time(last.time) - snapshot.now).total_seconds() <= SMALL_STEP:
        raise InvalidArgument(
            f"the last entry is of {last.time}, which has come: this ledger's clock needs no repair"
        )
    time = write_time(snapshot.now)
    terms: Json = {"clock": last.time}
    if walk.exact or walk.books("").terms.window is not None:
        return _written(walk, time, terms)
    kept = roll_as_kept(
        snapshot, last.number + 1
    )  # this release prices otherwise; the books keep what they have
    return Page(following(last, "repair", time, terms, {**snapshot.texts, **kept}), kept)


def _loss(noted: int, walk: Walk, last: Entry, snapshot: Snapshot) -> Page:
    if noted <= last.number:
        raise InvalidArgument(
            f"this ledger ends with entry {last.number}, and no later one is noted: nothing is missing"
        )
    return _written(walk, max(write_time(snapshot.now), last.time), {"lost": noted})


def _written(walk: Walk, time: str, terms: Json) -> Page:
    entry = walk.write("repair", time, terms)
    return Page(entry, walk.texts())
