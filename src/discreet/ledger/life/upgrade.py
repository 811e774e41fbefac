"""Bring a ledger of an earlier release forward: one entry in its chain, before the first that this release writes.

| file | made by | what it lacks |
|---|---|---|
| 1 | 0.1.0 | the roll by which the chain vouches for each person's account; sums of ε |
| 2 | this release | |

Nothing that was written is touched. The chain is walked first: nobody vouches for what it does not add up to. A release
that knows only the earlier form refuses the ledger from then on, and does not spoil it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...privacy.events.json import Json
from ..account_tree import numbers, whole_roll
from ..clock import stamp
from ..entry import Entry
from ..stores.store import ROLL, LedgerStore, Page, Snapshot, account_name
from .optimistic import append_at_rest, following

if TYPE_CHECKING:
    from ..review.walk import Walk


def upgrade_store(store: LedgerStore) -> None:
    """Write what an earlier release did not; nothing where nothing is missing.

    Raises LedgerCorrupt for a chain that does not hold.
    """
    found = store.read((ROLL,))
    if found.number and ROLL not in found.texts:
        append_at_rest(store, _upgraded)


def _upgraded(walk: Walk, last: Entry, snapshot: Snapshot) -> Page | None:
    if ROLL in snapshot.texts:
        return None
    time = stamp(snapshot.now, last.time)
    terms: Json = {"version": 2}
    if walk.exact:
        return Page(walk.write("upgrade", time, terms), walk.texts())
    kept = roll_as_kept(snapshot)
    return Page(following(last, "upgrade", time, terms, {**snapshot.texts, **kept}), kept)


def roll_as_kept(snapshot: Snapshot, repair: int = 0) -> dict[str, str]:
    """Return a roll of the accounts as they are: this release prices otherwise, and the books keep what they have."""
    first = account_name("")
    accounts = {
        name.removeprefix(first): text
        for name, text in snapshot.texts.items()
        if name.startswith(first)
    }
    before, behind = numbers(snapshot.texts)
    return whole_roll(accounts, repair or before, behind)
