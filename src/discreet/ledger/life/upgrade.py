"""Upgrade of ledgers of release 0.1.0, before the first new entry is written (migration).

| file version | made by | lacks |
|---|---|---|
| 1 | 0.1.0 | the account tree by which the chain vouches for each person's account; sums of ε |
| 2 | this release | nothing |

**Account tree.** One `upgrade` entry adds it. Nothing that was written is touched. The chain is
replayed first, so that the new tree vouches only for accounts that the chain adds up to. A release
that knows only the earlier format refuses the ledger from then on, and does not spoil it.

**Sums of ε.** A filter over (ε, δ) also admits an event by the sum of all ε so far
(`discreet.privacy.filters.basic_composition`). The accounts of 0.1.0 store no such sum; without one
that rule admits nothing, which is sound. So the chain is replayed outside any transaction, and the
first charge after that writes the sums of all entries into the books.

Law: tests/ledger/test_life.py::TestAnEarlierRelease, tests/ledger/test_0_1_0.py::TestALedgerOf010,
tests/ledger/test_sums.py::TestALedgerOf010
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...errors import LedgerCorrupt
from ...privacy.events.json import Json
from .. import review
from ..account import Account, Used
from ..account_tree import build_tree, tree_numbers
from ..books import Books
from ..clock import stamp
from ..entry import Entry
from ..snapshot import books_at, last_of, names_for
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
    """Return the page with an `upgrade` entry and the account tree; None if the tree exists."""
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


def lacks_sums(books: Books) -> bool:
    """Return whether the filter adds up ε, but one of the two accounts stores no sum."""
    if not books.terms.filter.adds:
        return False
    both_summed = books.everyone.common.added and books.own.common.added
    return not both_summed


@dataclass(slots=True)
class KnownSums:
    """Cache of sums found in the entries, by person, each valid for one last entry."""

    found: dict[str, tuple[int, Account, Account]] = field(default_factory=dict)
    """By person: the number of the last entry, everyone's account and the person's account."""
    complete: set[str] = field(default_factory=set)
    """People whose books were seen with sums; books never lose them."""

    def prepare(self, store: LedgerStore, who: str) -> None:
        """Find the sums of a person's books if they are missing.

        Call it outside any transaction: a replay of the whole chain may take long.
        """
        if who in self.complete:
            return
        snapshot = store.read(names_for(who))
        if not snapshot.number or not lacks_sums(books_at(snapshot, who, last_of(snapshot))):
            self.complete.add(who)
            return
        replay = review.chain_replay.ChainReplay()
        try:
            for stored in store.lines(1, snapshot.number):
                replay.step(stored.line, None, bodies=False)
            books = replay.books(who)
        except LedgerCorrupt:
            # A chain that does not hold has no sums; `verify` tells the reason.
            return
        self.found[who] = (snapshot.number, books.everyone, books.own)

    def books(self, snapshot: Snapshot, who: str) -> Books:
        """Read a person's books, with the sums of the replay if it ended at this very entry."""
        last = last_of(snapshot)
        books = books_at(snapshot, who, last)
        number, everyone, own = self.found.get(who, (0, books.everyone, books.own))
        # Others may have charged since the replay: sums of another entry would be too small.
        if number != last.number or not lacks_sums(books):
            return books
        return replace(
            books,
            everyone=_with_sums(books.everyone, everyone),
            own=_with_sums(books.own, own),
        )


def _with_sums(kept: Account, replayed: Account) -> Account:
    """Return the account with the sums of a replay; amounts stay as the books have them."""
    if kept.common.added or kept.since != replayed.since:
        return kept
    known = dict(replayed.parts)
    parts: list[tuple[str, Used]] = []
    for name, used in kept.parts:
        # None: a part without a known sum admits nothing by the sum, which is safe.
        added = known[name].added if name in known else (None,)
        parts.append((name, replace(used, added=added)))
    common = replace(kept.common, added=replayed.common.added)
    return replace(kept, common=common, parts=tuple(parts))
