"""Readers of a store's snapshot: its last entry, its books, and the end of a charge.

`next_page` makes the page that writes the next entry: the line, and the texts that change with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..errors import LedgerConflict, LedgerCorrupt
from .account_tree import check_account, page_name, update_tree
from .books import Books, books_digest, read_books
from .clock import stamp
from .entry import Entry, read_line, seal
from .stores.store import (
    ACCOUNT_TREE,
    ALLOWANCES,
    EVERYONE,
    TERMS,
    EntryWithBody,
    LineWithBody,
    Page,
    Snapshot,
    account_name,
)


def names_for(who: str) -> tuple[str, ...]:
    """Return the names of the stored texts that a decision about a person needs."""
    return TERMS, ALLOWANCES, EVERYONE, account_name(who), ACCOUNT_TREE, page_name(who)


def last_of(snapshot: Snapshot) -> Entry:
    """Read the last entry; its number must be the one under which the store keeps it.

    Refuses: a store without a ledger, and a last line that was torn or changed; LedgerCorrupt.
    """
    if not snapshot.number:
        raise LedgerCorrupt("there is no ledger here any more: it was removed while it was open")
    entry = _read_last(snapshot.last)
    if entry.number != snapshot.number:
        raise LedgerCorrupt(
            f"entry {snapshot.number} says that it is entry {entry.number}: the ledger was changed"
        )
    return entry


@lru_cache(maxsize=64)
def _read_last(line: str) -> Entry:
    """Read the last line; cached, because one decision reads it several times."""
    return read_line(line)


def books_at(snapshot: Snapshot, who: str, last: Entry) -> Books:
    """Read the books of a person as they were written.

    Guarantee: digests in the last entry cover the books returned, the person's account included (of
    a ledger of release 0.1.0, which has no account tree, all but that account).

    Refuses: books that do not belong to the last entry, because they were changed or the last
    entries were cut off; LedgerCorrupt.

    Law: tests/ledger/test_verify.py::TestTheBooksMustBeThoseOfTheChain
    """
    texts = snapshot.texts
    missing = [name for name in (TERMS, ALLOWANCES, EVERYONE) if name not in texts]
    if missing:
        raise LedgerCorrupt(f"the ledger has lost its {', '.join(missing)}; restore it from a copy")
    own = texts.get(account_name(who))
    books = read_books(texts[TERMS], texts[ALLOWANCES], texts[EVERYONE], who, own)
    # The digest covers the root of the account tree, so it must hold before the tree is believed.
    if books_digest(texts) != last.books:
        raise LedgerCorrupt(
            f"the books are not those after entry {last.number}: they were changed, or entries were lost"
        )
    check_account(texts, who)
    return books


def closed(last: Entry) -> LedgerConflict:
    """Return the refusal of a ledger that was moved and goes on elsewhere."""
    target = "" if last.terms is None else f" It goes on as {last.terms.get('to')}."
    return LedgerConflict(
        f"this ledger was closed for good on {last.time[:10]}; nothing was spent.{target} Use that one"
    )


def next_page(
    snapshot: Snapshot, books: Books, last: Entry, entry: Entry, body: str | None = None
) -> Page:
    """Return the page of the next entry: number, time and previous hash, and the books after it.

    Raises the refusals of `Books.after` for an entry that is not granted.
    """
    if last.kind == "close":
        raise closed(last)
    number = last.number + 1
    key = entry.key
    if not key and entry.kind == "charge":
        # A charge without a key gets one of its own, so that its answer can be stored under it.
        key = f"#{number}"
    time = stamp(snapshot.now, last.time)
    linked = replace(entry, number=number, time=time, key=key, previous=last.hash)
    after = books.after(linked)
    changed = _changed_texts(snapshot, books, after)
    # The entry vouches for the texts as they are after it, changed and unchanged ones.
    books_after = books_digest({**snapshot.texts, **changed})
    sealed = seal(replace(linked, books=books_after))
    return Page(sealed, changed, body)


def _changed_texts(snapshot: Snapshot, books: Books, after: Books) -> dict[str, str]:
    """Return the texts that differ after an entry; unchanged books share their objects."""
    changed: dict[str, str] = {}
    if after.allowances is not books.allowances:
        changed[ALLOWANCES] = after.allowances.text()
    everyone_changed = after.everyone is not books.everyone
    if everyone_changed:
        changed[EVERYONE] = after.everyone.text()
    if everyone_changed or after.own is not books.own:
        own = after.own.text()
        changed[account_name(books.who)] = own
        if ACCOUNT_TREE in snapshot.texts:
            changed |= update_tree(snapshot.texts, books.who, own)
    return changed


def read_found(found: Sequence[LineWithBody]) -> list[EntryWithBody]:
    """Read the entries of one key, in order, with their bodies."""
    return [(read_line(line), body) for line, body in found]


def closing_of(number: int, entries: Sequence[EntryWithBody]) -> EntryWithBody | None:
    """Return the entry that ended the charge `number`: its answer, else its failure, else None."""
    failure = None
    for entry, body in entries:
        if entry.refers != number:
            continue
        # A chain may hold both a failure and an answer of a charge: the answer then counts.
        if entry.kind == "answer":
            return entry, body
        if entry.kind == "fail" and failure is None:
            failure = entry, body
    return failure


def require_allowance(snapshot: Snapshot, who: str) -> None:
    """Refuse a person without an allowance, who sees no stored answers either."""
    # Read as written: the sums that a ledger of 0.1.0 lacks do not matter for an allowance.
    books = books_at(snapshot, who, last_of(snapshot))
    books.allowances.of(who, books.terms.filter)


def written_entry(page: Page | None) -> Entry:
    """Return the entry of a page; a store that wrote nothing is not believed."""
    if page is None or page.entry is None:
        raise LedgerCorrupt("the store wrote nothing; nothing was spent")
    return page.entry
