"""The ledger: what has been spent, for good. Reserve, run, release: charge first, then answer, then finish.

A charge is one conditional durable write. A crash before it costs nothing, a crash after it may waste budget, and no
crash, race or full disk lets an answer out without its charge.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Self

from ..arithmetic.canonical import digest
from ..data.columns.keys import KeyValue
from ..errors import BudgetExceeded, InvalidArgument, LedgerCorrupt, NotAllowed
from ..privacy.events import Event
from ..privacy.events.json import to_json
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from . import failpoints, review
from .account import count_for_part
from .balance import left_of, room_of, spent_of
from .books import Books, share_terms
from .charge_order import (
    ChargeOrder,
    Settlement,
    decide_order,
    entry_of,
    find_standing,
    lookup_of,
    own_of,
    pending_charge,
    read_charge,
    stored_answer,
)
from .clock import stamp
from .entry import Entry, EntryKind
from .legacy_sums import KnownSums
from .life.upgrade import upgrade_store
from .names import read_text, read_who
from .snapshot import closing_of, last_of, names_for, next_page, read_found
from .stores.store import NOTHING, ROLL, Decide, LedgerStore, Lookup, Page, Snapshot, step_of
from .terms import OTHERS, Charter, allowance

_NOBODY = "nobody"


class Ledger:
    """What was promised and what has been spent; made by `open_ledger`.

    >>> import discreet as dp
    >>> ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    >>> entry = ledger.charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann", why="a first look")
    >>> entry.number, ledger.spent(), ledger.left()
    (2, PureDP(0.25), PureDP(0.75))
    """

    def __init__(self, store: LedgerStore, terms: Charter) -> None:
        self._store = store
        self._sums, self._forward, self.terms = KnownSums(), False, terms

    def price(self, event: Event, *, part: KeyValue | None = None) -> Measure:
        """Return what the budget's filter would take for an event now, in its own measure; changes nothing.

        >>> import discreet as dp
        >>> dp.open_ledger(":memory:", dp.ZCDP(1)).price(dp.Gaussian(scale=10, sensitivity=1).event)
        ZCDP(0.005)

        Refuses events without a finite price in it, and parts that are not listed.
        """
        books, place = self._placed(None, part)
        return books.filter(place).price(event if place is None else count_for_part(event))

    def filter(self, who: str | None = None, part: KeyValue | None = None) -> Filter:
        """Return the filter that would decide now, as a frozen value: the budget's, or that of somebody's allowance.

        A planner asks it what fits; only `charge` decides.
        """
        books, place = self._placed(who, part)
        return books.filter(place) if who is None else books.own_filter(place)

    def admits(self, event: Event, *, who: str, part: KeyValue | None = None) -> bool:
        """Return whether a charge would be granted now; by the time it is made somebody else may have spent."""
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
        """Reserve: charge an event before it is run, in one conditional durable write, and give its entry.

        `question` is its fingerprint, `key` the name under which the answer is to be found again. Raises BudgetExceeded
        (with what was asked and what is left; its message says whose) and NotAllowed; refuses what the filter cannot
        price. LedgerConflict: others were first. LedgerUnavailable: the store is locked, full or out of reach. Nothing
        changes then.
        """
        return self._append(
            entry_of(ChargeOrder(who, why, question, key, event, part, text="", apart=False))
        )

    def find(self, order: ChargeOrder) -> Settlement | None:
        """Return what stands here for an order: its stored answer, or a pending charge to run it under, or None.

        Raises NotAllowed for one who has no allowance: he is refused also what was paid for by others.
        """
        snapshot = self._store.read(names_for(order.who), lookup_of(order))
        return own_of(order, self._standing(order, snapshot), snapshot)

    def settle(self, order: ChargeOrder) -> Settlement:
        """Find what stands here for an order, or else charge it, in one transaction: one charge, whoever asks.

        What one asks apart and another was charged for is refused as if it were new, else counted in one's own account.
        Raises what `charge` and `find` raise; nothing changes then.
        """
        entry, found = entry_of(order), list[Settlement]()

        def decide(snapshot: Snapshot) -> Page | None:
            books = self._sums.books(snapshot, entry.who)
            standing, page = decide_order(order, snapshot, self._standing(order, snapshot), books)
            found[:] = [] if standing is None else [standing]
            return page

        page = self._write(entry, lookup_of(order), decide)
        standing = found[0] if found else Settlement(_written(page), fresh=True)
        return replace(standing, own=page.entry) if found and page else standing

    def finish(self, charge: Entry, body: str) -> Entry:
        """Release: store the answer of a charge durably, and give its entry. The first end wins.

        If a charge has ended already, nothing is written and the entry of that end is returned. The caller must then
        give out *that* answer, `body(charge)`, or tell of the failure, and forget its own: one charge pays for one end.

        Refuses an entry that is no charge of this ledger.
        """
        if not isinstance(body, str):
            raise InvalidArgument(f"the body of an answer is JSON text, got {type(body).__name__}")
        return self._close(charge, "answer", body)

    def fail(self, charge: Entry) -> Entry:
        """Note that the run failed after the charge; the charge stays, since what a failure shows was paid for.

        If a charge has ended already, its end is returned: an answer is then to be given instead of the failure.
        """
        return self._close(charge, "fail", None)

    def answer(self, key: str, number: int | None = None) -> tuple[Entry, str] | None:
        """Return the stored answer of a key: the entry of its charge, or the one of this number, and the body."""
        return stored_answer(self._found(key), number)

    def body(self, charge: Entry) -> str | None:
        """Return the answer that was stored under a charge, if there is one."""
        end = closing_of(read_charge(charge).number, read_found(self._found(charge.key).found))
        return None if end is None else end[1]

    def pending(self, key: str, who: str) -> Entry | None:
        """Return a charge of this key and person that was neither answered nor failed: its process died, or still runs.

        Nothing went out under it, so it may be run again without a new charge. One of an earlier window is left alone.
        """
        return pending_charge(self._found(key), who, self.terms.window)

    def allow(self, who: str, budget: Measure | None) -> Entry:
        """Return somebody a new, a larger or a smaller allowance; None withdraws it. "*" is everyone who is not named.

        What was spent before stays spent. An allowance limits a share; the promise is the budget's alone. Refuses
        measures that the ledger does not count in.
        """
        name = who if who == OTHERS else read_who(who)
        share = None if budget is None else allowance(self.terms.filter, budget)
        return self._append(Entry(0, "allow", "", who=name, terms=share_terms(share)))

    def left(self, who: str | None = None, part: KeyValue | None = None) -> Measure:
        """Return what is left for everyone, or for somebody: never more than there is for everyone.

        Of an (ε, δ) budget, the largest of one question; `room` says in which ways. Without a part, in the worst one.
        """
        return left_of(*self._placed(who, part), own=who is not None)

    def room(self, who: str | None = None, part: KeyValue | None = None) -> RemainingBudget:
        """Return the largest pure ε, the largest μ and the δ for keys that fit an (ε, δ) budget now; refuses others."""
        return room_of(*self._placed(who, part), own=who is not None)

    def spent(self, who: str | None = None, part: KeyValue | None = None) -> Measure:
        """Return what was spent, in the budget's measure and in the present window: book-keeping, not a guarantee."""
        return spent_of(self.filter(who, part))

    def promise(self) -> Measure:
        """Return what holds for everything that is ever released (in every window, if there is one): the budget."""
        return self.terms.budget

    def history(
        self, who: str | None = None, last: int | None = None, *, kinds: review.history.Kinds = None
    ) -> review.history.History:
        """List the entries, oldest first: all, those of somebody, of some kinds, the last few; with what was asked."""
        return review.history.read_history(self._store, self.filter(), who, last, kinds)

    def verify(
        self,
        progress: review.verify.Progress | None = None,
        *,
        checkpoint: review.verdict.Checkpoint | None = None,
    ) -> review.verdict.Verdict:
        """Walk the chain: check every hash, re-price every charge through fresh filters, compare with the books.

        `checkpoint` is a `(number, hash)` that was noted earlier, from `Verdict.checkpoint`: a ledger that was restored
        from an older copy, or written anew, does not contain it. Raises LedgerCorrupt, saying which entry.
        """
        return review.verify.verify_store(self._store, progress, checkpoint)

    def export(self, path: str | os.PathLike[str], *, answers: bool = False) -> int:
        """Write all entries as lines of JSON to a new file, for `verify_export`, `import_ledger`; give their number."""
        return review.export.export_lines(self._store, path, answers=answers)

    def backup(self, path: str | os.PathLike[str]) -> review.verdict.Checkpoint:
        """Copy a SQLite ledger to a new file while it is in use; give the checkpoint of the copy.

        Putting it back forgets what was charged since: keep a checkpoint, and verify against it after a restore.
        Refuses other stores: they have their own means, and `export` works for all.
        """
        return review.export.backup_file(self._store, path)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _standing(self, order: ChargeOrder, snapshot: Snapshot) -> Settlement | None:
        books = self._sums.books(snapshot, read_who(order.who))
        books.shares.of(books.who, books.terms.filter)  # raises NotAllowed
        return find_standing(order, snapshot, self.terms.window)

    def _placed(self, who: str | None, part: KeyValue | None) -> tuple[Books, str | None]:
        """Read the books of somebody, and how they name a part."""
        books = self._present(_NOBODY if who is None else read_who(who))[0]
        return books, books.part(part)

    def _present(self, who: str) -> tuple[Books, str]:
        """Read the books of somebody as they stand now, and what time it is."""
        self._sums.prepare(self._store, who)
        snapshot = self._store.read(names_for(who))
        time = stamp(snapshot.now, last_of(snapshot).time)
        return self._sums.books(snapshot, who).at(time), time

    def _append(self, entry: Entry) -> Entry:
        def decide(snapshot: Snapshot) -> Page:
            return next_page(
                snapshot, self._sums.books(snapshot, entry.who), last_of(snapshot), entry
            )

        return _written(self._write(entry, NOTHING, decide))

    def _write(self, entry: Entry, lookup: Lookup, decide: Decide) -> Page | None:
        """Let the store decide and write, in one turn; a ledger of an earlier release is brought forward first."""
        if not self._forward:
            upgrade_store(self._store)
            self._forward = True
        self._sums.prepare(self._store, entry.who)
        step = step_of(entry)
        failpoints.passed(f"{step}:before")
        page = self._store.append(names_for(entry.who), lookup, decide)
        failpoints.passed(f"{step}:after")
        return page

    def _close(self, charge: Entry, kind: EntryKind, body: str | None) -> Entry:
        """End a charge, once."""
        entry = Entry(
            0,
            kind,
            "",
            who=read_charge(charge).who,
            question=charge.question,
            key=charge.key,
            refers=charge.number,
        )
        ended: list[Entry] = []

        def decide(snapshot: Snapshot) -> Page | None:
            entries = read_found(snapshot.found)
            if not any(known.hash == charge.hash for known, _ in entries):
                raise InvalidArgument(
                    f"entry {charge.number} is no charge of this ledger; give what `charge` returned"
                )
            end = closing_of(charge.number, entries)
            if end is not None:
                ended.append(end[0])
                return None
            hashed = entry if body is None else replace(entry, body_hash=digest(body))
            return next_page(
                snapshot, self._sums.books(snapshot, charge.who), last_of(snapshot), hashed, body
            )

        page = self._write(entry, Lookup(charge.key), decide)
        return ended[0] if ended else _written(page)

    def _found(self, key: str) -> Snapshot:
        return self._store.read((ROLL,), Lookup(read_text(key, "key")))

    def __repr__(self) -> str:
        return f"<Ledger of {self.terms.budget}, counted as {self.terms.kind}>"


def _written(page: Page | None) -> Entry:
    if page is None or page.entry is None:
        raise LedgerCorrupt("the store wrote nothing; nothing was spent")
    return page.entry
