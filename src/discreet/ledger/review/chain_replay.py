"""Replay of a chain: check every hash and the order of the entries, price every charge again.

The replay decides by the same pure `books` that decided when the entry was written. It reads the
lines and the texts stored beside them, but not the stored accounts.

Guarantee: a chain that was replayed to its end has only entries that could have been written in
this order. Each charge was within the budget and the allowance of its time. For kinds that price in
floats, a charge may be above by a billionth, as machines round differently.

Refuses: LedgerCorrupt, which names the entry.

Law: tests/ledger/test_verify.py::TestAForgedChainMustStillMakeSense,
tests/ledger/test_verify.py::TestThePricesOfAnotherRelease
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ...arithmetic.canonical import canonical_json, digest
from ...errors import BudgetExceeded, DiscreetError, LedgerCorrupt
from ...privacy.events.json import Json
from ...privacy.filters.filter import Filter
from ..account import Account, fresh_account, window_of
from ..account_tree import build_tree, tree_numbers, update_tree
from ..books import Allowances, Books, books_digest, open_books
from ..entry import Entry, EntryKind, read_line, seal, write_line
from ..stores.store import EVERYONE, account_name
from ..stream_entries import NOTES, StreamReplay, replay_charge
from ..stream_entries import PREFIX as STREAM
from ..terms import Charter, read_charter
from .repaired_books import CountedCharge, repair_books

_ROUNDED = ("zcdp", "renyi", "gdp", "residue")
"""Kinds of filters that price through floating-point bounds."""
SLACK = 1 + Fraction(1, 10**9)
"""Factor far above the difference between the mathematical libraries of two machines."""
_EMPTY = "the chain is empty; a ledger has at least the entry that opened it"


@dataclass(slots=True)
class ChainReplay:
    """State of a replay: the last entry, the accounts, and the charges with their ends.

    An end is an answer or a failure.
    """

    last: Entry | None = None
    terms: Charter | None = None
    allowances: Allowances = field(default_factory=lambda: Allowances((), True))
    everyone: Account | None = None
    owners: dict[str, Account] = field(default_factory=dict)
    """Accounts of people, by name."""
    charges: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Person and key of each charge, by its number."""
    prices: dict[int, str] = field(default_factory=dict)
    """Digest of event and part of each charge, by its number."""
    again: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Person and key of each `again`; it can be stopped, but has no answer of its own."""
    answered: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    exact: bool = True
    """Whether the digest of books in every entry so far is that of the replayed books."""
    tree: dict[str, str] | None = None
    """Texts of the account tree; None before a ledger of release 0.1.0 was upgraded."""
    made: list[CountedCharge] = field(default_factory=list)
    """The charges, if there are windows: a repair of the clock counts some of them anew."""
    streams: dict[int, StreamReplay] = field(default_factory=dict)
    """The streams, by the number of their charge."""
    missing_bodies: set[int] = field(default_factory=set)
    """Numbers of the entries whose bodies are not here."""

    def step(self, line: str, body: str | None, *, bodies: bool) -> Entry:
        """Check the next line, count it in the accounts and return its entry.

        `body` is the text stored beside the line. With `bodies=False` it is not compared with the
        hash in the entry, and may be missing.

        Refuses: a line that could not have been written here, with LedgerCorrupt.
        """
        number = 1 if self.last is None else self.last.number + 1
        try:
            entry = read_line(line)
        except LedgerCorrupt as problem:
            raise LedgerCorrupt(f"entry {number}: {problem}") from None
        self._check_chain(entry, number, line)
        if bodies:
            self._check_body(entry, body)
        self._check_ends(entry)
        self._check_stream(entry, body)
        books = self._open(entry) if number == 1 else self._price(entry)
        self.terms = books.terms
        self.allowances = books.allowances
        self.everyone = books.everyone
        if entry.kind in ("charge", "again"):
            self._count(entry, books)
        if entry.kind == "repair":
            self._repair(books, entry)
        # After the accounts: the tree and the digest are those after this entry.
        if entry.kind in ("open", "repair", "resume", "upgrade"):
            self._rebuild_tree(entry)
        self.exact = self.exact and entry.books in self._possible_digests()
        self.last = entry
        return entry

    def write(self, kind: EntryKind, time: str, terms: Json) -> Entry:
        """Append an entry that costs nothing, as this release writes it, and return it."""
        if self.last is None:
            raise LedgerCorrupt(_EMPTY)
        entry = Entry(self.last.number + 1, kind, time, terms=terms, previous=self.last.hash)
        if kind == "repair":
            self._repair(self.books(""), entry)
        self._rebuild_tree(entry)
        # The digest covers the books after the repair and the tree, so both come first.
        self.last = seal(replace(entry, books=books_digest(self.texts())))
        return self.last

    def texts(self) -> dict[str, str]:
        """Return all texts that a store keeps beside the lines, with an account tree."""
        accounts = self._account_texts()
        texts = self._common_texts()
        for who, text in accounts.items():
            texts[account_name(who)] = text
        tree = build_tree(accounts) if self.tree is None else self.tree
        return texts | tree

    def books(self, who: str) -> Books:
        """Return the books of a person after the entries so far."""
        if self.terms is None or self.everyone is None:
            raise LedgerCorrupt(_EMPTY)
        own = self.owners.get(who)
        if own is None:
            own = fresh_account(self.terms.filter, "", self.terms.reach)
        return Books(self.terms, self.allowances, self.everyone, who, own)

    def _check_chain(self, entry: Entry, number: int, line: str) -> None:
        """Check number, form, previous hash and time of an entry."""
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
        expected_hash = "" if before is None else before.hash
        if entry.previous != expected_hash:
            raise LedgerCorrupt(
                f"entry {number} does not follow the one before it: its hash is another"
            )
        if before is None:
            return
        # Only a repair of the clock may go back in time.
        if entry.time < before.time and entry.kind != "repair":
            raise LedgerCorrupt(f"entry {number} is earlier than the one before it")
        if before.kind == "close" and entry.kind != "resume":
            raise LedgerCorrupt(f"entry {number} was written after the ledger was closed")

    def _check_body(self, entry: Entry, body: str | None) -> None:
        """Check a body against the hash in its entry; record the entry if its body is missing.

        A `resume` entry of an import without answers clears the record of all entries before it.
        """
        needs_body = entry.kind == "answer" or entry.body_hash is not None
        if body is None and needs_body:
            self.missing_bodies.add(entry.number)
        elif body is not None and digest(body) != entry.body_hash:
            raise LedgerCorrupt(
                f"entry {entry.number} has another answer than the one that was stored"
            )
        if _leaves_answers(entry):
            self.missing_bodies.clear()

    def _count(self, entry: Entry, books: Books) -> None:
        """Record a granted charge in the account of its person, and in the account tree."""
        self.owners[entry.who] = books.own
        if books.terms.window is not None:
            start = window_of(entry.time, books.terms.window)
            self.made.append(CountedCharge(start, entry))
        if self.tree is not None:
            self.tree |= update_tree(self.tree, entry.who, books.own.text())

    def _repair(self, books: Books, entry: Entry) -> None:
        everyone, owners, made = repair_books(books, self.owners, self.made, entry)
        self.everyone = everyone
        self.owners = owners
        self.made = made

    def _rebuild_tree(self, entry: Entry) -> None:
        """Build the account tree from all accounts; ledgers of 0.1.0 have one after the upgrade."""
        repair, behind = tree_numbers(self.tree or {})
        if entry.kind == "repair":
            repair = entry.number
        if _leaves_answers(entry):
            behind = entry.number
        tree = build_tree(self._account_texts(), repair, behind)
        if self.tree is None and entry.kind == "open":
            # A ledger of release 0.1.0 was opened without a tree, and its digest shows it.
            with_tree = books_digest(self._common_texts() | tree)
            if entry.books != with_tree:
                return
        self.tree = tree

    def _account_texts(self) -> dict[str, str]:
        return {who: account.text() for who, account in self.owners.items()}

    def _common_texts(self) -> dict[str, str]:
        """Return the terms, the allowances and everyone's account as a store keeps them."""
        texts = self.books("").texts()
        del texts[account_name("")]
        return texts

    def _possible_digests(self) -> tuple[str, ...]:
        """Return the digests that an entry may state for the books after it.

        Before the upgrade these are two: books of 0.1.0 have no tree, and no sums of ε either
        unless a later release has written them.
        """
        texts = self._common_texts()
        if self.tree is not None:
            return (books_digest(texts | self.tree),)
        without_sums = self.books("").everyone.without_sums().text()
        old_texts = texts | {EVERYONE: without_sums}
        return books_digest(texts), books_digest(old_texts)

    def _open(self, entry: Entry) -> Books:
        charter = read_charter(canonical_json(entry.terms))
        return open_books(charter, "")

    def _price(self, entry: Entry) -> Books:
        """Return the books after an entry; refuse one that could not have been granted."""
        books = self.books(entry.who)
        try:
            return books.after(entry)
        except BudgetExceeded as refusal:
            if books.terms.kind in _ROUNDED:
                return self._price_with_slack(books, entry, refusal)
            raise LedgerCorrupt(
                f"entry {entry.number} was charged beyond its budget: {refusal}"
            ) from None
        except DiscreetError as problem:
            raise LedgerCorrupt(
                f"entry {entry.number} could not have been written: {problem}"
            ) from None

    def _price_with_slack(self, books: Books, entry: Entry, refusal: BudgetExceeded) -> Books:
        """Price again with a billionth more capacity.

        Another machine may have rounded the last digit the other way when the entry was granted.
        """
        self.exact = False
        terms = replace(books.terms, filter=_with_slack(books.terms.filter))
        named = []
        for who, allowance in books.allowances.named:
            wider = None if allowance is None else _with_slack(allowance)
            named.append((who, wider))
        allowances = replace(books.allowances, named=tuple(named))
        wide_books = replace(books, terms=terms, allowances=allowances)
        try:
            after = wide_books.after(entry)
        except BudgetExceeded:
            raise LedgerCorrupt(
                f"entry {entry.number} was charged beyond its budget: {refusal}"
            ) from None
        # Only this one decision is wider; the capacities themselves stay.
        return replace(after, terms=books.terms, allowances=books.allowances)

    def _check_ends(self, entry: Entry) -> None:
        """Record a charge; check and record its end (an answer or a failure), or an `again`.

        An end refers to an earlier charge of the same person and key, a failure also to an `again`.
        A charge has at most one answer, which may follow a failure.
        """
        if entry.kind == "charge":
            self.charges[entry.number] = (entry.who, entry.key)
            self.prices[entry.number] = _priced(entry)
        if (entry.refers is not None) != (entry.kind in ("answer", "fail", "again", *NOTES)):
            raise LedgerCorrupt(
                f"entry {entry.number}, of kind {entry.kind!r}, refers to {entry.refers}"
            )
        if entry.refers is None or entry.kind in NOTES:
            return
        if entry.kind == "again":
            self._check_again(entry, entry.refers)
            return
        charge = self.charges.get(entry.refers)
        if entry.kind == "fail" and entry.refers in self.again:
            # An `again` can be stopped; it cannot be answered.
            charge = self.again[entry.refers]
        if charge != (entry.who, entry.key):
            raise LedgerCorrupt(
                f"entry {entry.number} ends entry {entry.refers}, which is not its charge"
            )
        ended = self.answered if entry.kind == "answer" else self.failed
        # An answer may follow a failure, but nothing follows an answer.
        if entry.refers in ended or entry.refers in self.answered:
            raise LedgerCorrupt(f"entry {entry.number} ends entry {entry.refers} once more")
        ended.add(entry.refers)

    def _check_stream(self, entry: Entry, body: str | None) -> None:
        """Follow the streams: each period sealed and published once, in order, none after a stop."""
        if entry.kind == "charge" and entry.key.startswith(STREAM):
            self.streams[entry.number] = replay_charge(entry, body)
        if entry.kind not in NOTES or entry.refers is None:
            return
        stream = self.streams.get(entry.refers)
        if stream is None or not stream.step(entry):
            raise LedgerCorrupt(
                f"entry {entry.number}, of kind {entry.kind!r}, does not follow in its stream"
            )

    def _check_again(self, entry: Entry, number: int) -> None:
        """Check that another person was charged before for the same event, part and key."""
        # A charge that does not exist is taken as one of the same person, which is refused.
        who, key = self.charges.get(number, (entry.who, ""))
        if who == entry.who or key != entry.key or self.prices[number] != _priced(entry):
            raise LedgerCorrupt(
                f"entry {entry.number} asks entry {number} again, which is not the same charge"
            )
        self.again[entry.number] = (entry.who, entry.key)


def _with_slack(filter: Filter) -> Filter:  # noqa: A002 the field's own term
    """Return a filter with a billionth more capacity."""
    capacity = tuple(amount * SLACK for amount in filter.capacity)
    return replace(filter, capacity=capacity)


def _priced(entry: Entry) -> str:
    """Return the digest of the event and the part that were charged."""
    return digest(canonical_json([entry.event, entry.part]))


def _leaves_answers(entry: Entry) -> bool:
    """Return whether the ledger was imported without the answers that were stored before."""
    if entry.kind != "resume" or entry.terms is None:
        return False
    return entry.terms.get("answers") is False
