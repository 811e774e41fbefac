"""Migration of a ledger of an earlier release: one `upgrade` entry before the first new entry.

| file version | made by | lacks |
|---|---|---|
| 1 | 0.1.0 | the account tree by which the chain vouches for each person's account; sums of ε |
| 2 | this release | |

Nothing that was written is touched. The chain is replayed first, so that the new tree vouches only
for accounts that the chain adds up to. A release that knows only the earlier format refuses the
ledger from then on, and does not spoil it.

Law: tests/ledger/test_life.py::TestAnEarlierRelease, tests/ledger/test_0_1_0.py::TestALedgerOf010
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...privacy.events.json import Json
from ..account_tree import build_tree, tree_numbers
from ..clock import stamp
from ..entry import Entry
from ..stores.store import ACCOUNT_TREE, LedgerStore, Page, Snapshot, accounts_in
from .optimistic import append_if_unchanged, following_entry

if TYPE_CHECKING:
    from ..review.chain_replay import ChainReplay


def upgrade_store(store: LedgerStore) -> None:
    """Add the account tree to a ledger of an earlier release; do nothing where it exists.

    Refuses: a chain that does not hold, with LedgerCorrupt.
    """
    snapshot = store.read((ACCOUNT_TREE,))
    if snapshot.number and ACCOUNT_TREE not in snapshot.texts:
        append_if_unchanged(store, _upgrade_page)


def _upgrade_page(replay: ChainReplay, last: Entry, snapshot: Snapshot) -> Page | None:
    # Another process may have upgraded the ledger since it was read.
    if ACCOUNT_TREE in snapshot.texts:
        return None
    time = stamp(snapshot.now, last.time)
    terms: Json = {"version": 2}
    if replay.exact:
        entry = replay.write("upgrade", time, terms)
        return Page(entry, replay.texts())
    # This release prices otherwise than the one that wrote; the books keep their amounts.
    tree = tree_as_stored(snapshot)
    entry = following_entry(last, "upgrade", time, terms, {**snapshot.texts, **tree})
    return Page(entry, tree)


def tree_as_stored(snapshot: Snapshot, repair: int = 0) -> dict[str, str]:
    """Return an account tree of the accounts exactly as the store has them."""
    previous_repair, behind = tree_numbers(snapshot.texts)
    return build_tree(accounts_in(snapshot.texts), repair or previous_repair, behind)
