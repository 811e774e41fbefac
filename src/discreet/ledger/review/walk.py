"""Walk a chain: every hash, every order, every charge priced again through fresh filters.

It decides by the same pure `books` that decided when the entry was written, and by nothing that the store keeps
beside the lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ...arithmetic.canonical import canonical_json, digest
from ...errors import BudgetExceeded, DiscreetError, LedgerCorrupt
from ...privacy.events.json import Json
from ..account import Account, fresh_account, window_of
from ..account_tree import changed_roll, numbers, whole_roll
from ..books import Books, Shares, open_books, vouch
from ..entry import Entry, EntryKind, read_line, seal, write_line
from ..stores.store import EVERYONE, account_name
from ..terms import Charter, read_charter
from .repaired_books import CountedCharge, mended

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
    again: dict[int, tuple[str, str]] = field(default_factory=dict)
    """What was asked apart, of which others were charged; it can only be stopped."""
    answered: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    exact: bool = True
    roll: dict[str, str] | None = None
    made: list[CountedCharge] = field(default_factory=list)
    """The charges, where there are windows: a repair of the clock counts some of them anew."""
    bare: set[int] = field(default_factory=set)
    """The answers whose bodies are not here."""

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
            self._bodied(entry, body)
        self._ends(entry)
        books = self._opened(entry) if number == 1 else self._priced(entry)
        self.terms, self.shares, self.everyone = books.terms, books.shares, books.everyone
        if entry.kind in ("charge", "again"):
            self._charged(entry, books)
        if entry.kind == "repair":
            self.everyone, self.owners, self.made = mended(books, self.owners, self.made, entry)
        if entry.kind in ("open", "repair", "resume", "upgrade"):
            self._enrol(entry)
        self.exact = self.exact and entry.books in self._vouched()
        self.last = entry
        return entry

    def write(self, kind: EntryKind, time: str, terms: Json) -> Entry:
        """Take in the next entry of a kind that costs nothing, as this release writes it, and return it."""
        if self.last is None:
            raise LedgerCorrupt(
                "the chain is empty; a ledger has at least the entry that opened it"
            )
        entry = Entry(self.last.number + 1, kind, time, terms=terms, previous=self.last.hash)
        if kind == "repair":
            self.everyone, self.owners, self.made = mended(
                self.books(""), self.owners, self.made, entry
            )
        self._enrol(entry)
        self.last = seal(replace(entry, books=vouch(self.texts())))
        return self.last

    def texts(self) -> dict[str, str]:
        """Return all texts that a store keeps beside the lines, with a roll."""
        accounts = {who: account.text() for who, account in self.owners.items()}
        roll = whole_roll(accounts) if self.roll is None else self.roll
        return self._common() | {account_name(who): text for who, text in accounts.items()} | roll

    def books(self, who: str) -> Books:
        """Return the books of somebody as they stand."""
        if self.terms is None or self.everyone is None:
            raise LedgerCorrupt(
                "the chain is empty; a ledger has at least the entry that opened it"
            )
        own = self.owners.get(who) or fresh_account(self.terms.filter, "")
        return Books(self.terms, self.shares, self.everyone, who, own)

    def _in_chain(self, entry: Entry, number: int, line: str) -> None:
        if entry.number != number:
            raise LedgerCorrupt(
                f"entry {number} is missing, or says that it is entry {entry.number}"
            )
        if write_line(entry) != line:
            raise LedgerCorrupt(f"entry {number} is not in its canonical form: it was changed")
        if (entry.kind == "open") != (number == 1):
            raise LedgerCorrupt(
                f"entry {number} is of kind {entry.kind!r}, but the first entry alone opens a ledger"
            )
        before = self.last
        if entry.previous != ("" if before is None else before.hash):
            raise LedgerCorrupt(
                f"entry {number} does not follow the one before it: its hash is another"
            )
        if before is not None and entry.time < before.time and entry.kind != "repair":
            raise LedgerCorrupt(f"entry {number} is earlier than the one before it")
        if before is not None and before.kind == "close" and entry.kind != "resume":
            raise LedgerCorrupt(f"entry {number} was written after the ledger was closed")

    def _bodied(self, entry: Entry, body: str | None) -> None:
        """Check an answer against its hash; note one that is not here, unless it stayed behind with an export."""
        if body is None and (entry.kind == "answer" or entry.body_hash is not None):
            self.bare.add(entry.number)
        elif entry.body_hash != (None if body is None else digest(body)):
            raise LedgerCorrupt(
                f"entry {entry.number} has another answer than the one that was stored"
            )
        if _leaves_answers(entry):
            self.bare.clear()

    def _charged(self, entry: Entry, books: Books) -> None:
        self.owners[entry.who] = books.own
        if books.terms.window is not None:
            self.made.append(CountedCharge(window_of(entry.time, books.terms.window), entry))
        if self.roll is not None:
            self.roll |= changed_roll(self.roll, entry.who, books.own.text())

    def _enrol(self, entry: Entry) -> None:
        """Begin the roll of people where the ledger does, and write it anew after a repair."""
        repair, behind = numbers(self.roll or {})
        repair = entry.number if entry.kind == "repair" else repair
        behind = entry.number if _leaves_answers(entry) else behind
        roll = whole_roll(
            {who: account.text() for who, account in self.owners.items()}, repair, behind
        )
        begun = entry.kind != "open" or entry.books == vouch(self._common() | roll)
        self.roll = roll if self.roll is not None or begun else None

    def _common(self) -> dict[str, str]:
        texts = self.books("").texts()
        del texts[account_name("")]
        return texts

    def _vouched(self) -> tuple[str, ...]:
        """Return what an entry may vouch for: the books, or those of 0.1.0, without a roll and without sums of ε."""
        texts = self._common()
        if self.roll is not None:
            return (vouch(texts | self.roll),)
        return vouch(texts), vouch(
            texts | {EVERYONE: self.books("").everyone.without_sums().text()}
        )

    def _opened(self, entry: Entry) -> Books:
        return open_books(read_charter(canonical_json(entry.terms)), "")

    def _priced(self, entry: Entry) -> Books:
        books = self.books(entry.who)
        try:
            return books.after(entry)
        except BudgetExceeded as refusal:
            if books.terms.kind in _ROUNDED:
                return self._loosely(books, entry, refusal)
            raise LedgerCorrupt(
                f"entry {entry.number} was charged beyond its budget: {refusal}"
            ) from None
        except DiscreetError as problem:
            raise LedgerCorrupt(
                f"entry {entry.number} could not have been written: {problem}"
            ) from None

    def _loosely(self, books: Books, entry: Entry, refusal: BudgetExceeded) -> Books:
        """Price once more with a billionth more room: another machine may have rounded the last digit the other way."""
        self.exact = False
        wide = tuple(c * SLACK for c in books.terms.filter.capacity)
        terms = replace(books.terms, filter=replace(books.terms.filter, capacity=wide))
        named = tuple(
            (
                who,
                None
                if share is None
                else replace(share, capacity=tuple(c * SLACK for c in share.capacity)),
            )
            for who, share in books.shares.named
        )
        try:
            after = replace(books, terms=terms, shares=replace(books.shares, named=named)).after(
                entry
            )
        except BudgetExceeded:
            raise LedgerCorrupt(
                f"entry {entry.number} was charged beyond its budget: {refusal}"
            ) from None
        return replace(after, terms=books.terms, shares=books.shares)

    def _ends(self, entry: Entry) -> None:
        """Note a charge, or that it ended: at most one answer, after the charge, of the same person and key."""
        if entry.kind == "charge":
            self.charges[entry.number] = (entry.who, entry.key)
            self.prices[entry.number] = _paid(entry)
        if (entry.refers is not None) != (entry.kind in ("answer", "fail", "again")):
            raise LedgerCorrupt(
                f"entry {entry.number}, of kind {entry.kind!r}, refers to {entry.refers}"
            )
        if entry.refers is None:
            return
        if entry.kind == "again":
            self._asked_again(entry, entry.refers)
            return
        asked = self.again.get(entry.refers) if entry.kind == "fail" else None
        if (asked or self.charges.get(entry.refers)) != (entry.who, entry.key):
            raise LedgerCorrupt(
                f"entry {entry.number} ends entry {entry.refers}, which is not its charge"
            )
        ended = self.answered if entry.kind == "answer" else self.failed
        if entry.refers in ended or (entry.kind == "fail" and entry.refers in self.answered):
            raise LedgerCorrupt(f"entry {entry.number} ends entry {entry.refers} once more")
        ended.add(entry.refers)

    def _asked_again(self, entry: Entry, number: int) -> None:
        """Check that somebody else was charged before for the very same."""
        who, key = self.charges.get(number, (entry.who, ""))
        if who == entry.who or key != entry.key or self.prices[number] != _paid(entry):
            raise LedgerCorrupt(
                f"entry {entry.number} asks entry {number} again, which is not the same charge"
            )
        self.again[entry.number] = (entry.who, entry.key)


def _paid(entry: Entry) -> str:
    """Return the digest of what was charged: the event and the part."""
    return digest(canonical_json([entry.event, entry.part]))


def _leaves_answers(entry: Entry) -> bool:
    """Return whether the ledger goes on here without the answers that were stored before."""
    return (
        entry.kind == "resume" and entry.terms is not None and entry.terms.get("answers") is False
    )
