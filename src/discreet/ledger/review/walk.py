"""Walk a chain: every hash, every order, every charge priced again through fresh filters.

It decides by the same pure `books` that decided when the entry was written, and by nothing that the store keeps
beside the lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ...arithmetic.canonical import canonical_json, digest
from ...errors import BudgetExceeded, DiscreetError, LedgerCorrupt
from ..account import Account, fresh_account
from ..books import Books, Shares, open_books, vouch
from ..charter import Charter, read_charter
from ..entry import Entry, read_line, write_line
from ..stores.store import EVERYONE

__all__ = ["SLACK", "Walk"]

_ROUNDED = ("zcdp", "renyi", "gdp", "residue")  # kinds that price through floating-point bounds
SLACK = 1 + Fraction(1, 10**9)  # far above what two machines' mathematical libraries differ by


@dataclass(slots=True)
class Walk:
    """Where a walk stands: the last entry, the accounts, and which charges were ended."""

    last: Entry | None = None
    terms: Charter | None = None
    shares: Shares = field(default_factory=lambda: Shares((), True))
    everyone: Account | None = None
    owners: dict[str, Account] = field(default_factory=dict)
    charges: dict[int, tuple[str, str]] = field(default_factory=dict)
    prices: dict[int, str] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    exact: bool = True

    def step(self, line: str, body: str | None, *, bodies: bool) -> Entry:
        """Check the next line and take it into the accounts.

        Raises LedgerCorrupt, saying which entry.
        """
        number = 1 if self.last is None else self.last.number + 1
        try:
            entry = read_line(line)
        except LedgerCorrupt as problem:
            raise LedgerCorrupt(f"entry {number}: {problem}") from None
        self._in_chain(entry, number, line)
        if bodies:
            _check_body(entry, body)
        self._ends(entry)
        books = self._opened(entry) if number == 1 else self._priced(entry)
        self.terms, self.shares, self.everyone = books.terms, books.shares, books.everyone
        if entry.kind in ("charge", "again"):
            self.owners[entry.who] = books.own
        self.exact = self.exact and entry.books in _vouched(books)
        self.last = entry
        return entry

    def books(self, who: str) -> Books:
        """Return the books of somebody as they stand."""
        if self.terms is None or self.everyone is None:
            raise LedgerCorrupt("the chain is empty; a ledger has at least the entry that opened it")
        own = self.owners.get(who) or fresh_account(self.terms.filter, "")
        return Books(self.terms, self.shares, self.everyone, who, own)

    def _in_chain(self, entry: Entry, number: int, line: str) -> None:
        if entry.number != number:
            raise LedgerCorrupt(f"entry {number} is missing, or says that it is entry {entry.number}")
        if write_line(entry) != line:
            raise LedgerCorrupt(f"entry {number} is not in its canonical form: it was changed")
        if (entry.kind == "open") != (number == 1):
            raise LedgerCorrupt(f"entry {number} is of kind {entry.kind!r}, but the first entry alone opens a ledger")
        before = self.last
        if entry.previous != ("" if before is None else before.hash):
            raise LedgerCorrupt(f"entry {number} does not follow the one before it: its hash is another")
        if before is not None and entry.time < before.time:
            raise LedgerCorrupt(f"entry {number} is earlier than the one before it")

    def _opened(self, entry: Entry) -> Books:
        return open_books(read_charter(canonical_json(entry.terms)), "")

    def _priced(self, entry: Entry) -> Books:
        books = self.books(entry.who)
        try:
            return books.after(entry)
        except BudgetExceeded as refusal:
            if books.terms.kind in _ROUNDED:
                return self._loosely(books, entry, refusal)
            raise LedgerCorrupt(f"entry {entry.number} was charged beyond its budget: {refusal}") from None
        except DiscreetError as problem:
            raise LedgerCorrupt(f"entry {entry.number} could not have been written: {problem}") from None

    def _loosely(self, books: Books, entry: Entry, refusal: BudgetExceeded) -> Books:
        """Price once more with a billionth more room: another machine may have rounded the last digit the other way."""
        self.exact = False
        wide = tuple(c * SLACK for c in books.terms.filter.capacity)
        terms = replace(books.terms, filter=replace(books.terms.filter, capacity=wide))
        named = tuple(
            (who, None if share is None else replace(share, capacity=tuple(c * SLACK for c in share.capacity)))
            for who, share in books.shares.named
        )
        try:
            after = replace(books, terms=terms, shares=replace(books.shares, named=named)).after(entry)
        except BudgetExceeded:
            raise LedgerCorrupt(f"entry {entry.number} was charged beyond its budget: {refusal}") from None
        return replace(after, terms=books.terms, shares=books.shares)

    def _ends(self, entry: Entry) -> None:
        """Note a charge, or that it ended: at most one answer, after the charge, of the same person and key."""
        if entry.kind == "charge":
            self.charges[entry.number] = (entry.who, entry.key)
            self.prices[entry.number] = _paid(entry)
        if (entry.refers is not None) != (entry.kind in ("answer", "fail", "again")):
            raise LedgerCorrupt(f"entry {entry.number}, of kind {entry.kind!r}, refers to {entry.refers}")
        if entry.refers is None:
            return
        if entry.kind == "again":
            self._asked_again(entry, entry.refers)
            return
        if self.charges.get(entry.refers) != (entry.who, entry.key):
            raise LedgerCorrupt(f"entry {entry.number} ends entry {entry.refers}, which is not its charge")
        ended = self.answered if entry.kind == "answer" else self.failed
        if entry.refers in ended or (entry.kind == "fail" and entry.refers in self.answered):
            raise LedgerCorrupt(f"entry {entry.number} ends entry {entry.refers} once more")
        ended.add(entry.refers)

    def _asked_again(self, entry: Entry, number: int) -> None:
        """Check that somebody else was charged before for the very same."""
        who, key = self.charges.get(number, (entry.who, ""))
        if who == entry.who or key != entry.key or self.prices[number] != _paid(entry):
            raise LedgerCorrupt(f"entry {entry.number} asks entry {number} again, which is not the same charge")


def _paid(entry: Entry) -> str:
    """Return the digest of what was charged: the event and the part."""
    return digest(canonical_json([entry.event, entry.part]))


def _vouched(books: Books) -> tuple[str, str]:
    """Return what an entry may vouch for: the books, or the books as release 0.1.0 kept them, without sums of ε."""
    texts = books.texts()
    return vouch(texts), vouch(texts | {EVERYONE: books.everyone.without_sums().text()})


def _check_body(entry: Entry, body: str | None) -> None:
    if entry.kind == "answer" and body is None:
        raise LedgerCorrupt(f"entry {entry.number} has lost its answer")
    if entry.body_hash != (None if body is None else digest(body)):
        raise LedgerCorrupt(f"entry {entry.number} has another answer than the one that was stored")
