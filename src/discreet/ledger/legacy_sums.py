"""Σε of a ledger that release 0.1.0 has written: found in its entries, never begun at 0.

Its accounts hold what the filter counts and no sum of ε. Without one the sum admits nothing, which is sound; so whoever
has the time to walk the chain does, and the first charge after that writes the sums into the books.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..errors import LedgerCorrupt
from . import review
from .account import Account
from .books import Books
from .snapshot import books_at, last_of, names_for
from .stores.store import LedgerStore, Snapshot


def lacks_sums(books: Books) -> bool:
    """Return whether an account of these books was written without the sum that its filter decides by."""
    return books.terms.filter.adds and not (books.everyone.common.added and books.own.common.added)


@dataclass(slots=True)
class KnownSums:
    """What was found in the entries up to a number, by person; nobody's sums are looked for twice at one number."""

    found: dict[str, tuple[int, Account, Account]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def prepare(self, store: LedgerStore, who: str) -> None:
        """Find the sums of somebody's books, if they are missing; outside any transaction, since it may take long."""
        if who in self.whole:
            return
        snapshot = store.read(names_for(who))
        if not snapshot.number or not lacks_sums(books_at(snapshot, who, last_of(snapshot))):
            self.whole.add(who)
            return
        walk = review.walk.Walk()
        try:
            for found in store.lines(1, snapshot.number):
                walk.step(found.line, None, bodies=False)
            books = walk.books(who)
        except (
            LedgerCorrupt
        ):  # a chain that does not hold has no sums to speak of; `verify` says what is wrong
            return
        self.found[who] = (snapshot.number, books.everyone, books.own)

    def books(self, snapshot: Snapshot, who: str) -> Books:
        """Read the books of somebody, with the sums if they were found at this very entry."""
        last = last_of(snapshot)
        books = books_at(snapshot, who, last)
        number, everyone, own = self.found.get(who, (0, books.everyone, books.own))
        if number != last.number or not lacks_sums(books):
            return books
        return replace(
            books, everyone=_with_sums(books.everyone, everyone), own=_with_sums(books.own, own)
        )


def _with_sums(kept: Account, walked: Account) -> Account:
    """Return the account with the sums that a walk added up; amounts stay as the books have them."""
    if kept.common.added or kept.since != walked.since:
        return kept
    known = dict(walked.parts)
    parts = tuple(
        (name, replace(used, added=known[name].added if name in known else (None,)))
        for name, used in kept.parts
    )
    return replace(kept, common=replace(kept.common, added=walked.common.added), parts=parts)
