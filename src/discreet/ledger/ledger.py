"""Ledger: the durable record of charges, in the order reserve, run, release.

`charge` reserves the budget, the caller runs the question, `finish` stores the answer, and only
then is it given out. A charge is one conditional durable write. A crash before it costs nothing; a
crash after it may waste budget. No crash, race or full disk lets an answer out without its charge.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Self

from ..arithmetic.canonical import digest
from ..arithmetic.rational import whole
from ..data.columns.keys import KeyValue
from ..errors import BudgetExceeded, InvalidArgument, NotAllowed
from ..privacy.events import Event
from ..privacy.events.json import to_json
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from ..privacy.shown_price import Price, price_charge
from ..show.table import html_table
from . import charge_order, failpoints, review
from .account import count_for_part
from .balance import left_by_block, left_of, remaining_of, spent_of
from .books import Books, allowance_terms
from .charge_order import ChargeOrder, Settlement
from .clock import stamp
from .entry import Entry, EntryKind, read_line, read_text, read_who
from .life.upgrade import KnownSums, upgrade_store
from .snapshot import (
    closing_of,
    last_of,
    names_for,
    next_page,
    read_found,
    require_allowance,
    written_entry,
)
from .stores.store import (
    ACCOUNT_TREE,
    NOTHING,
    Decide,
    LedgerStore,
    Lookup,
    Page,
    Snapshot,
    step_of,
)
from .streams import StreamBooks
from .terms import Charter, allowance, read_allowance_name

_NOBODY = "nobody"


class Ledger(StreamBooks):
    """Promised budget and everything that was charged against it; made by `open_ledger`.

    >>> import discreet as dp
    >>> ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    >>> entry = ledger.charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann", why="a first look")
    >>> entry.number, ledger.spent(), ledger.left()
    (2, PureDP(0.25), PureDP(0.75))

    Guarantee: everything that is ever released under the charges of this ledger keeps the budget,
    in every window if there is one. Of processes that charge at the same time, each decides on the
    charges of all others.

    Refuses: BudgetExceeded, NotAllowed, InvalidArgument, LedgerConflict, LedgerUnavailable and
    LedgerCorrupt. A refused call has spent nothing, unless a commit was cut off: it may stand.

    Law: tests/ledger/test_books.py::TestTheLedgerIsThePlainModel,
    tests/ledger/test_race.py::TestManyProcesses,
    tests/ledger/test_kill.py::test_a_death_at_any_point_never_lets_an_answer_out_without_its_charge
    """

    def __init__(self, store: LedgerStore, terms: Charter) -> None:
        self._store = store
        self._sums = KnownSums()
        self._upgraded = False
        self.terms = terms

    def price(self, event: Event, *, part: KeyValue | None = None) -> Measure:
        """Return the price of an event now, in the measure of the budget's filter; changes nothing.

        >>> import discreet as dp
        >>> dp.open_ledger(":memory:", dp.ZCDP(1)).price(dp.Gaussian(scale=10, sensitivity=1).event)
        ZCDP(0.005)

        Refuses: events without a finite price in that measure, and parts that are not listed.
        """
        books, part_label = self._books_and_part(None, part)
        counted = event if part_label is None else count_for_part(event)
        return books.filter(part_label).price(counted)

    def shown_price(
        self, event: Event, spend: Measure | None = None, *, part: KeyValue | None = None
    ) -> Price:
        """Return the price of an event as explanations, receipts and pages show it.

        It is in the measure of `spend`, the budget that the question named. Without one it is in
        the measure of the ledger's budget.

        >>> import discreet as dp
        >>> ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
        >>> print(ledger.shown_price(dp.Laplace(scale=2, sensitivity=1).event, dp.PureDP("1/2")))
        ε = 0.5 [ρ = 0.106531]

        Refuses: as `price`.
        """
        books, part_label = self._books_and_part(None, part)
        counted = event if part_label is None else count_for_part(event)
        taken = books.filter(part_label).price(counted)
        return price_charge(event, spend, counted=counted, taken=taken, budget=self.terms.budget)

    def filter(self, who: str | None = None, part: KeyValue | None = None) -> Filter:
        """Return the filter as it stands now: the budget's, or with `who` that person's allowance.

        A charge must pass both. The filter is a frozen value: a planner can ask it whether an event
        fits, but only `charge` decides.
        """
        books, part_label = self._books_and_part(who, part)
        if who is None:
            return books.filter(part_label)
        return books.own_filter(part_label)

    def admits(self, event: Event, *, who: str, part: KeyValue | None = None) -> bool:
        """Return whether a charge would be granted now; others may spend before it is made."""
        books, time = self._present(read_who(who))
        probe = Entry(1, "charge", time, who=who, part=part, event=to_json(event))
        try:
            books.after(probe)
        except (BudgetExceeded, NotAllowed):
            return False
        return True

    def charge(
        self,
        event: Event,
        *,
        who: str,
        why: str = "",
        question: str = "",
        key: str = "",
        part: KeyValue | None = None,
    ) -> Entry:
        """Reserve: charge an event before it is run, in one conditional durable write.

        Returns the entry of the charge. `question` is the fingerprint of the question, `key` the
        name under which the answer is found again.

        | raised | reason |
        |---|---|
        | BudgetExceeded | the event does not fit; `asked` and `left`, and whose budget it is |
        | NotAllowed | the person has no allowance |
        | InvalidArgument | the filter cannot price the event, or an argument is wrong |
        | LedgerConflict, LedgerCorrupt | others were first, or it was closed; the store was changed |
        | LedgerUnavailable | the store is locked, full or out of reach, or the clock is behind |

        Nothing is spent then, unless a commit was cut off (LedgerUnavailable): it may stand.
        """
        order = ChargeOrder(who, why, question, key, event, part, text="", apart=False)
        return self._append(charge_order.entry_of(order))

    def find(self, order: ChargeOrder) -> Settlement | None:
        """Return the stored answer of an order, or a pending charge to run it under, or None.

        Nothing is written. Raises NotAllowed for a person without an allowance, also if others have
        paid, and LedgerConflict for a closed ledger without such an answer.
        """
        snapshot = self._store.read(names_for(order.who), charge_order.lookup_of(order))
        settlement = self._find(order, snapshot)
        return charge_order.settlement_for_asker(order, settlement, snapshot)

    def find_paid(self, who: str, key: str, *, apart: bool) -> Settlement | None:
        """Return the first stored answer under a key that a person may read again without a charge.

        It is the answer that `find` returns for an order of this key, whatever event is planned
        today. With `apart` only answers count that this person has paid for. None if there is no
        such answer, and for a person without an allowance, whom `find` refuses.
        """
        snapshot = self._store.read(names_for(who), Lookup(key))
        if not snapshot.found:
            return None
        try:
            require_allowance(snapshot, who)
        except NotAllowed:
            return None
        return charge_order.find_paid(who, key, snapshot, apart=apart)

    def last_number(self) -> int:
        """Return the number of the last entry; 0 of a ledger that has none yet."""
        return self._store.read(()).number

    def keys(self, starts: Collection[str], who: str | None = None) -> list[str]:
        """List the keys that begin with one of `starts` (texts of equal length), in sorted order.

        `who` selects the entries of one person: then the time this takes tells nothing of others.
        """
        if not self.last_number():
            return []
        return self._store.keys(starts, who)

    def settle(self, order: ChargeOrder) -> Settlement:
        """Find the settlement of an order, or charge it, in one transaction: one charge for all.

        An order apart that another person was charged for is refused as if it were new; if it is
        granted it counts in the asker's own account. Raises the errors of `charge` and `find`;
        nothing changes then.
        """
        entry = charge_order.entry_of(order)
        settlements: list[Settlement] = []

        def decide(snapshot: Snapshot) -> Page | None:
            # A store calls this twice if another process makes its file meanwhile: the last counts.
            settlements.clear()
            books = self._sums.books(snapshot, entry.who)
            known = self._find(order, snapshot)
            settlement, page = charge_order.decide_order(order, snapshot, known, books)
            if settlement is not None:
                settlements.append(settlement)
            return page

        try:
            page = self._write(entry, charge_order.lookup_of(order), decide)
        except BudgetExceeded as refusal:
            raise charge_order.restate_refusal(order, refusal) from None
        if not settlements:
            return Settlement(written_entry(page), fresh=True)
        settlement = settlements[0]
        if page is None:
            return settlement
        # The page holds an `again`: this person now pays for a charge of another person.
        return replace(settlement, own=page.entry)

    def finish(self, charge: Entry, body: str) -> Entry:
        """Release: store the answer of a charge durably, and return its entry. The first end wins.

        If the charge has ended already, nothing is written and the entry of that end is returned.
        The caller must then give out *that* answer, `body(charge)`, or tell of the failure, and
        forget its own: one charge pays for one end.

        Refuses: an entry that is no charge of this ledger, with InvalidArgument.

        Law:
        tests/ledger/test_ledger.py::TestReserveRunRelease::test_the_first_answer_of_a_charge_wins
        """
        if not isinstance(body, str):
            raise InvalidArgument(f"the body of an answer is JSON text, got {type(body).__name__}")
        return self._close(charge, "answer", body)

    def fail(self, charge: Entry) -> Entry:
        """Record that the run failed after the charge.

        The charge stays: the failure itself may tell something about the data. If the charge has
        ended already, its end is returned; an answer is then given out instead of the failure.
        """
        return self._close(charge, "fail", None)

    def answer(self, key: str, number: int | None = None) -> tuple[Entry, str] | None:
        """Return a charge under a key and its stored answer; None if there is none.

        Without a number it is the first answer under the key. With one it is the answer of the
        charge (or `again`) of that number.
        """
        return charge_order.stored_answer(self._found(key), number)

    def body(self, charge: Entry) -> str | None:
        """Return the answer that was stored under a charge, if there is one."""
        entries = read_found(self._found(charge_order.read_charge(charge).key).found)
        end = closing_of(charge.number, entries)
        return end and end[1]

    def pending(self, key: str, who: str | None) -> Entry | None:
        """Return a charge of this key, paid for by this person, that was neither answered nor failed.

        Its process died, or still runs. Nothing went out under it, so it may be run again without a
        new charge. A charge of an earlier window is left alone.
        """
        return charge_order.pending_charge(self._found(key), who, self.terms.window)

    def allow(self, who: str, budget: Measure | None) -> Entry:
        """Set the allowance of a person, new, larger or smaller; None withdraws it.

        The name "*" is everyone who is not named. Amounts spent before stay spent. An allowance
        limits the spending of one analyst. The promise to the people in the data is the budget.

        Refuses: measures that the ledger does not count in, with InvalidArgument.
        """
        name = read_allowance_name(who)
        opened = None if budget is None else allowance(self.terms.filter, budget)
        return self._append(Entry(0, "allow", "", who=name, terms=allowance_terms(opened)))

    def left(self, who: str | None = None, part: KeyValue | None = None) -> Measure:
        """Return the budget left; with `who`, what that person can spend, never more than is left.

        For an (ε, δ) budget whose filter also adds up ε, it is the largest single question that
        fits; `room` has more detail. Without a part the worst part counts.
        """
        books, part_label = self._books_and_part(who, part)
        return left_of(books, part_label, own=who is not None)

    def left_by_block(self, who: str | None = None, *, last: int = 53) -> list[tuple[str, Measure]]:
        """List the budget left on the `last` blocks up to the last charged, and on all later ones.

        Each is an interval of blocks with the same budget left: `2027-01-04/2027-01-31`. Nothing
        is listed in a ledger without blocks.

        >>> import discreet as dp
        >>> weeks = dp.Blocks("visits", "day", "week", stays=2)
        >>> ledger = dp.open_ledger(":memory:", dp.PureDP(1), blocks=weeks)
        >>> laplace = dp.Laplace(scale=4, sensitivity=1)
        >>> charge = ledger.charge(laplace.event, who="ann", part="2027-01-04/2027-01-10")
        >>> ledger.left_by_block()
        [('2027-01-04/2027-01-17', PureDP(0.75)), ('2027-01-18/..', PureDP(1))]
        """
        books, _ = self._books_and_part(who, None)
        return left_by_block(books, whole(last, "last", least=1), own=who is not None)

    def room(self, who: str | None = None, part: KeyValue | None = None) -> RemainingBudget:
        """Return the largest pure ε, the largest μ and the δ for keys that fit the budget now.

        Refuses: all but (ε, δ) budgets whose filter also adds up ε; `left` serves the others.
        """
        books, part_label = self._books_and_part(who, part)
        return remaining_of(books, part_label, own=who is not None)

    def spent(self, who: str | None = None, part: KeyValue | None = None) -> Measure:
        """Return the amount spent in the present window, in the budget's measure.

        It is the filter's own accounting and not a guarantee; the guarantee is `promise`.
        """
        return spent_of(self.filter(who, part))

    def promise(self) -> Measure:
        """Return the guarantee for everything ever released, in every window: the budget."""
        return self.terms.budget

    def history(
        self, who: str | None = None, last: int | None = None, *, kinds: review.history.Kinds = None
    ) -> review.history.History:
        """List the entries, oldest first, with the texts of the questions.

        `who` selects the entries of one person, `kinds` those of some kinds, and `last` the newest
        of them, that many.
        """
        return review.history.read_history(self._store, self.filter(), who, last, kinds)

    def own_numbers(self, who: str, after: int = 0) -> list[int]:
        """List the numbers above `after` of the entries that one person sees as their own."""
        return review.history.own_numbers(self._store, who, after)

    def entries(self) -> Iterator[tuple[Entry, str | None]]:
        """Iterate over all entries with the texts stored beside them, up to the one last now.

        Refuses: a line that was torn or changed, with LedgerCorrupt.
        """
        end = self._store.read(()).number
        for stored in self._store.lines(1, end):
            yield read_line(stored.line), stored.body

    def verify(
        self,
        progress: review.verify.Progress | None = None,
        *,
        checkpoint: review.verdict.Checkpoint | None = None,
    ) -> review.verdict.Verdict:
        """Replay the chain: check every hash, price every charge again, compare with the books.

        `checkpoint` is a `(number, hash)` noted earlier, from `Verdict.checkpoint`. A ledger that
        was restored from an older copy, or written anew, does not contain it.

        Refuses: a chain that does not hold, with LedgerCorrupt, which names the entry.
        """
        return review.verify.verify_store(self._store, progress, checkpoint)

    def export(self, path: str | os.PathLike[str], *, answers: bool = False) -> int:
        """Write all entries as lines of JSON to a new file and return their number.

        With `answers` the texts stored beside the entries (answers, questions, values of streams)
        are written too. `verify_export` and `import_ledger` read the file.
        """
        return review.export.export_lines(self._store, path, answers=answers)

    def backup(self, path: str | os.PathLike[str]) -> review.verdict.Checkpoint:
        """Copy a SQLite ledger to a new file while it is in use; return the checkpoint of the copy.

        Restoring the copy forgets everything charged since. Keep a checkpoint, and verify against
        it after a restore.

        Refuses: other stores, which have their own backups; `export` works for all.
        """
        return review.export.backup_file(self._store, path)

    def close(self) -> None:
        """Release the store's connection."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _find(self, order: ChargeOrder, snapshot: Snapshot) -> Settlement | None:
        """Find the settlement of an order; refuse a person without an allowance first."""
        require_allowance(snapshot, read_who(order.who))
        return charge_order.find_settlement(order, snapshot, self.terms.window)

    def _books_and_part(self, who: str | None, part: KeyValue | None) -> tuple[Books, str | None]:
        """Read the books of a person, or of nobody in particular, and the label of a part."""
        person = _NOBODY if who is None else read_who(who)
        books, _ = self._present(person)
        return books, books.part(part)

    def _present(self, who: str) -> tuple[Books, str]:
        """Read the books of a person as they are now, and the time of the store."""
        self._sums.prepare(self._store, who)
        snapshot = self._store.read(names_for(who))
        time = stamp(snapshot.now, last_of(snapshot).time)
        return self._sums.books(snapshot, who).at(time), time

    def _append(self, entry: Entry) -> Entry:
        """Write an entry that depends on the books alone."""

        def decide(snapshot: Snapshot) -> Page:
            books = self._sums.books(snapshot, entry.who)
            return next_page(snapshot, books, last_of(snapshot), entry)

        return written_entry(self._write(entry, NOTHING, decide))

    def _write(self, entry: Entry, lookup: Lookup, decide: Decide) -> Page | None:
        """Let the store decide and write in one exclusive transaction.

        A ledger of an earlier release is upgraded first. Upgrade and sums may replay the whole
        chain, so both run before the transaction, while others can still write.
        """
        if not self._upgraded:
            upgrade_store(self._store)
            self._upgraded = True
        self._sums.prepare(self._store, entry.who)
        step = step_of(entry)
        failpoints.passed(f"{step}:before")
        page = self._store.append(names_for(entry.who), lookup, decide)
        # From here on the write is durable, whatever happens to this process.
        failpoints.passed(f"{step}:after")
        return page

    def _close(self, charge: Entry, kind: EntryKind, body: str | None) -> Entry:
        """End a charge once, by an answer or a failure; return the entry of its first end."""
        entry = Entry(
            0,
            kind,
            "",
            who=charge_order.read_charge(charge).who,
            question=charge.question,
            key=charge.key,
            refers=charge.number,
        )
        ends: list[Entry] = []

        def decide(snapshot: Snapshot) -> Page | None:
            entries = read_found(snapshot.found)
            # The hash, not the number: an entry of another ledger may have the same number.
            if not any(known.hash == charge.hash for known, _ in entries):
                raise InvalidArgument(
                    f"entry {charge.number} is no charge of this ledger; give what `charge` returned"
                )
            end = closing_of(charge.number, entries)
            if end is not None:
                ends.append(end[0])
                return None
            hashed = entry if body is None else replace(entry, body_hash=digest(body))
            books = self._sums.books(snapshot, charge.who)
            return next_page(snapshot, books, last_of(snapshot), hashed, body)

        page = self._write(entry, Lookup(charge.key), decide)
        if ends:
            return ends[0]
        return written_entry(page)

    def _found(self, key: str) -> Snapshot:
        """Read the lines of a key; the account tree says which answers an import left out."""
        return self._store.read((ACCOUNT_TREE,), Lookup(read_text(key, "key")))

    def __repr__(self) -> str:
        return f"<Ledger of {self.terms.budget}, counted as {self.terms.kind}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: budget, spent, left, and how charges are counted."""
        facts = [
            ("budget", str(self.terms.budget)),
            ("spent", str(self.spent())),
            ("left", str(self.left())),
            ("counted as", str(self.terms.kind)),
        ]
        return html_table(("ledger", ""), facts)
