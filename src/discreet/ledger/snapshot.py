"""What a snapshot of a store means: the last entry, the books that it vouches for, and what became of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..errors import LedgerConflict, LedgerCorrupt
from .account_tree import changed_roll, check_roll, page_name
from .books import Books, read_books, vouch
from .clock import stamp
from .entry import Entry, read_line, seal
from .stores.store import ALLOWANCES, EVERYONE, ROLL, TERMS, Page, Snapshot, account_name


def names_for(who: str) -> tuple[str, ...]:
    """Name the texts that a decision about somebody needs."""
    return TERMS, ALLOWANCES, EVERYONE, account_name(who), ROLL, page_name(who)


def last_of(snapshot: Snapshot) -> Entry:
    """Read the last entry; it must be the one its number says.

    Refuses a store without a ledger, and a last line that was torn or changed.
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
    """Read the last line; one decision looks at it several times."""
    return read_line(line)


def books_at(snapshot: Snapshot, who: str, last: Entry) -> Books:
    """Read the books of somebody as they were written; the last entry must vouch for them.

    Refuses books that do not belong to the last entry: they were changed, or the last entries were cut off.
    """
    texts = snapshot.texts
    missing = [name for name in (TERMS, ALLOWANCES, EVERYONE) if name not in texts]
    if missing:
        raise LedgerCorrupt(f"the ledger has lost its {', '.join(missing)}; restore it from a copy")
    books = read_books(
        texts[TERMS], texts[ALLOWANCES], texts[EVERYONE], who, texts.get(account_name(who))
    )
    if vouch(texts) != last.books:
        raise LedgerCorrupt(
            f"the books are not those after entry {last.number}: they were changed, or entries were lost"
        )
    check_roll(texts, who)
    return books


def closed(last: Entry) -> LedgerConflict:
    """Return the refusal of a ledger that goes on elsewhere."""
    place = "" if last.terms is None else f" It goes on as {last.terms.get('to')}."
    return LedgerConflict(
        f"this ledger was closed for good on {last.time[:10]}; nothing was spent.{place} Use that one"
    )


def next_page(
    snapshot: Snapshot, books: Books, last: Entry, entry: Entry, body: str | None = None
) -> Page:
    """Return the page of the next entry: its number, time and place in the chain, and the books after it.

    Raises what the books raise for an entry that they do not grant.
    """
    if last.kind == "close":
        raise closed(last)
    number = last.number + 1
    key = entry.key or (f"#{number}" if entry.kind == "charge" else "")
    placed = replace(
        entry, number=number, time=stamp(snapshot.now, last.time), key=key, previous=last.hash
    )
    after = books.after(placed)
    changed = {}
    if after.shares is not books.shares:
        changed[ALLOWANCES] = after.shares.text()
    if after.everyone is not books.everyone:
        changed[EVERYONE] = after.everyone.text()
    if after.everyone is not books.everyone or after.own is not books.own:
        own = after.own.text()
        changed[account_name(books.who)] = own
        changed |= changed_roll(snapshot.texts, books.who, own) if ROLL in snapshot.texts else {}
    return Page(seal(replace(placed, books=vouch({**snapshot.texts, **changed}))), changed, body)


def read_found(found: Sequence[tuple[str, str | None]]) -> list[tuple[Entry, str | None]]:
    """Read the entries of one key, in order, with their bodies."""
    return [(read_line(line), body) for line, body in found]


def closing_of(
    number: int, entries: Sequence[tuple[Entry, str | None]]
) -> tuple[Entry, str | None] | None:
    """Return the answer of a charge, or its failure if it has no answer; None while it is pending."""
    ends = [
        (entry, body)
        for entry, body in entries
        if entry.refers == number and entry.kind in ("answer", "fail")
    ]
    answers = [end for end in ends if end[0].kind == "answer"]
    return next(iter(answers or ends), None)
