"""Charge order: a request to charge, and its settlement, decided from one snapshot of the store.

The key of an order is its idempotency key: the same question is charged once.

    stored under the key of the order               settlement
    an answer                                       the same answer again, to everyone who asks
    a pending charge for the same event and part,   run under that charge of any person:
    made in the present window                      nothing of it has gone out, and of several
                                                    runs the first answer is stored
    otherwise                                       a new charge

`Ledger.settle` decides this inside the one transaction that would write the charge. However many
processes ask, one of them is charged.

An order apart (`apart=True`) must not show whether others have asked. If another person was charged
for its question, the order is refused as a new charge would be. If it is granted, an `again` entry
counts it in the asker's own account.

Keys have several formats. Those of the first are hashes of the planned events; `Lookup` finds their
answers by the question, and `fits` says whether one of them answers the order.

Guarantee: an answer goes out under exactly one charge for its event and its part; the answer
stored first under a key is returned for ever.

Refuses: LedgerCorrupt for a body without the hash in its entry; LedgerConflict for a closed ledger.

Law: tests/ledger/test_charge_order.py::TestAnOrder,
tests/ledger/test_schedules.py::test_two_askers_in_every_schedule_are_charged_once_and_told_the_same
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..arithmetic.canonical import canonical_json, digest
from ..data.columns.keys import KeyValue
from ..errors import BudgetExceeded, InvalidArgument, LedgerConflict, LedgerCorrupt
from ..frozen import field, frozen, replace
from ..privacy.events import Event
from ..privacy.events.json import Json, to_json
from ..privacy.measures import ApproxDP, PureDP
from ..privacy.shown_price import Price
from .account import window_of
from .account_tree import tree_numbers
from .books import Books
from .clock import stamp
from .entry import Entry, read_text, read_who
from .snapshot import closed, closing_of, last_of, next_page, read_found
from .stores.store import EntryWithBody, Lookup, Page, Since, Snapshot
from .terms import Window

Fits = Callable[[Entry, str], bool]
"""Whether a charge under another key (first format or `former`), with its answer, fits."""


class Overtaken(LedgerConflict):
    """What was to be charged was chosen before the asker paid for something that changes the choice."""


@frozen
class Watch:
    """Entries on which the choice of a charge depends: new ones under keys that begin with `starts`.

    `since` says after which number entries are new, and whose entries count.
    """

    since: Since
    starts: tuple[str, ...]


@frozen
class ChargeOrder:
    """Request to charge: the person, the event, and the key under which the answer is stored."""

    who: str
    why: str
    question: str
    key: str
    event: Event
    part: KeyValue | None = None
    fits: Fits | None = None
    text: str = field(kw_only=True)
    """Text of the question, stored beside the charge for the steward; empty if there is none."""
    former: str = field(default="", kw_only=True)
    """Key of the second format, under which an answer that `fits` may be stored."""
    spelled: str = field(default="", kw_only=True)
    """Fingerprint under which release 0.1.0 stored an answer that `fits`; that of `question` if empty."""
    apart: bool = field(kw_only=True)
    """Whether the order is apart (see the module): it counts in the asker's own account even if
    others were charged for the same question."""
    price: Price | None = field(default=None, kw_only=True)
    """Price as the asker was told it, stored beside the charge for its history."""
    watch: Watch | None = field(default=None, kw_only=True)
    """Entries that must not be there yet when the charge is written (optimistic locking)."""


@frozen
class Settlement:
    """Settlement of an order: its charge, and its answer unless it is still to be run.

    | field | meaning |
    |---|---|
    | `charge` | the entry that everyone's account was charged with |
    | `body` | the stored answer; None if the question is still to be run |
    | `fresh` | whether this call has just written the charge |
    | `own` | the `again` entry by which the asker pays for another person's charge, if any |
    | `ended` | the time at which the answer was stored |
    """

    charge: Entry
    body: str | None = None
    fresh: bool = False
    own: Entry | None = None
    ended: str = field(default="", compare=False)

    @property
    def entry(self) -> Entry:
        """The entry shown to the person who asked: the charge, or their own `again`."""
        if self.own is None:
            return self.charge
        return self.own


def lookup_of(order: ChargeOrder) -> Lookup:
    """Return the lookup of the ledger's lines that decide about an order."""
    question = "" if order.fits is None else order.spelled or order.question
    since = None if order.watch is None else order.watch.since
    return Lookup(order.key, question, order.former, since=since)


def entry_of(order: ChargeOrder) -> Entry:
    """Return the entry that charges an order, not yet linked into the chain.

    Refuses: names and texts that no store can hold, with InvalidArgument.
    """
    text = text_of(order)
    return Entry(
        0,
        "charge",
        "",
        who=read_who(order.who),
        why=read_text(order.why, "why"),
        question=read_text(order.question, "question"),
        key=read_text(order.key, "key"),
        part=order.part,
        event=to_json(order.event),
        body_hash=digest(text) if text else None,
    )


def again_entry(order: ChargeOrder, charge: Entry) -> Entry:
    """Return the entry that counts another person's charge in the account of one who asks apart."""
    asked = entry_of(order)
    # Event, part, question and key are those of the charge: it is the same release.
    return replace(
        asked,
        kind="again",
        refers=charge.number,
        part=charge.part,
        event=charge.event,
        question=charge.question,
        key=charge.key,
    )


def text_of(order: ChargeOrder) -> str | None:
    """Return the body of a charge as JSON: the text of the question, and its price if it is known.

    None if there is no text.
    """
    if not order.text:
        return None
    body: Json = {"asked": order.text}
    if order.price is not None:
        body["price"] = order.price.to_json()
    return canonical_json(body)


def restate_refusal(order: ChargeOrder, refusal: BudgetExceeded) -> BudgetExceeded:
    """Return the refusal with the order's own price in place of the amount that the filter counts.

    A filter may count an event as more than it costs alone. The refusal then says both, where the
    price alone would look as if it fitted. A refusal for the event's own δ stays as it is.
    """
    price = order.price
    filter_words = f"asked for {refusal.asked}"
    message = str(refusal)
    # A δ of its own that does not fit is named by itself: it is a part of the price.
    if price is None or filter_words not in message:
        return refusal
    words = f"asked for {price}"
    if isinstance(price.charged, PureDP | ApproxDP) and isinstance(refusal.left, ApproxDP):
        looks_fitting = price.charged.epsilon <= refusal.left.epsilon
        if looks_fitting:
            words += f", counted as {refusal.asked} beside other questions"
    message = message.replace(filter_words, words, 1)
    return BudgetExceeded(message, asked=price.amount, left=refusal.left)


def find_settlement(
    order: ChargeOrder, snapshot: Snapshot, window: Window | None
) -> Settlement | None:
    """Return the stored answer of an order, or a pending charge to run it under.

    A closed ledger returns its answers and refuses everything else.
    """
    answered = find_answer(order, snapshot)
    if answered is not None:
        return answered
    last = last_of(snapshot)
    if last.kind == "close":
        raise closed(last)
    return find_pending(order, snapshot, window)


def settlement_for_asker(
    order: ChargeOrder, settlement: Settlement | None, snapshot: Snapshot
) -> Settlement | None:
    """Return the settlement that the person who asks may use now.

    None for an order apart that this person has not paid for yet, even if others have.
    """
    if settlement is None or not order.apart or settlement.charge.who == order.who:
        return settlement
    entries = read_found(snapshot.found)
    own = _again_of(order.who, settlement.charge, entries)
    if own is None:
        return None
    return replace(settlement, own=own)


def _again_of(who: str, charge: Entry, entries: Sequence[EntryWithBody]) -> Entry | None:
    """Return the `again` by which `who` has paid for another person's charge, or None.

    An `again` that has ended, because it was stopped, does not count.
    """
    for entry, _ in entries:
        repeats = entry.kind == "again" and entry.refers == charge.number
        if not repeats or entry.who != who:
            continue
        # An `again` that was stopped has ended; the person must ask, and pay, anew.
        if closing_of(entry.number, entries) is None:
            return entry
    return None


def find_paid(who: str, key: str, snapshot: Snapshot, *, apart: bool) -> Settlement | None:
    """Return the first stored answer under a key; with `apart`, the first that `who` has paid for.

    `find_answer` prefers that answer to all others, whatever event would be charged today. So the
    question need not be planned. None if there is no such answer.

    Refuses: an answer without the hash in its entry, with LedgerCorrupt.
    """
    entries = read_found(snapshot.found)
    paid_by_asker = _paid_by(who, entries)
    ended: dict[int, tuple[Entry, EntryWithBody]] = {}
    for charge, end in _charges(entries):
        if charge.key != key or end is None or end[0].kind != "answer":
            continue
        if apart and charge.number not in paid_by_asker:
            continue
        if not is_behind(end, snapshot):
            ended[end[0].number] = (charge, end)
    if not ended:
        return None
    charge, (answer, body) = ended[min(ended)]
    own = None
    if apart and charge.who != who:
        own = _again_of(who, charge, entries)
    return Settlement(charge, check_body(answer, body), own=own, ended=answer.time)


def find_answer(order: ChargeOrder, snapshot: Snapshot) -> Settlement | None:
    """Return the stored answer to an order, the same one for ever.

    Several answers can be stored, because a slow run may end after its question was planned anew.
    The one returned is the first in this order:

    1. for an order apart, answers that this person has paid for;
    2. answers under the key of the order, before those under another key that `fits` accepts;
    3. of those under another key, answers to the very same event;
    4. the answer that was stored first.

    For an order apart an answer of others counts only under the very same key, if they paid for
    the very same event. So nothing that this person sees depends on whether others have asked.

    Refuses: an answer without the hash in its entry, with LedgerCorrupt.
    """
    if not snapshot.found:
        return None
    entries = read_found(snapshot.found)
    order_entry = entry_of(order)
    paid_by_asker = _paid_by(order.who, entries)
    ranked: dict[tuple[bool, bool, bool, int], Settlement] = {}
    for charge, end in _charges(entries):
        if end is None or end[0].kind != "answer" or is_behind(end, snapshot):
            continue
        answer = end[0]
        body = check_body(*end)
        same_key = charge.key == order.key
        by_others = order.apart and charge.number not in paid_by_asker
        # A key or an event of another release would show that somebody asked before.
        if by_others and not (same_key and _priced(charge) == _priced(order_entry)):
            continue
        if not same_key and (order.fits is None or not order.fits(charge, body)):
            continue
        other_event = not same_key and charge.event != order_entry.event
        # False sorts before True; the number makes every rank unique.
        rank = (by_others, not same_key, other_event, answer.number)
        ranked[rank] = Settlement(charge, body, ended=answer.time)
    if not ranked:
        return None
    return ranked[min(ranked)]


def find_pending(
    order: ChargeOrder, snapshot: Snapshot, window: Window | None
) -> Settlement | None:
    """Return a charge that was neither answered nor failed, for exactly the event to be run now.

    Event and part must be the same, also if another release planned it: the run must be the one
    that was paid for. A charge of an earlier window is left alone: an answer that goes out now is
    paid for now.
    """
    if not snapshot.found:
        return None
    entries = read_found(snapshot.found)
    wanted = _priced(entry_of(order))
    pending: list[Entry] = []
    for charge, end in _charges(entries):
        if end is None and _priced(charge) == wanted and is_present(charge, snapshot, window):
            pending.append(charge)
    if not pending:
        return None
    if order.apart:
        # A person who asks apart runs under a charge of their own if there is one.
        paid_by_asker = _paid_by(order.who, entries)
        pending.sort(key=lambda charge: charge.number not in paid_by_asker)
    return Settlement(pending[0])


def _paid_by(who: str, entries: Sequence[EntryWithBody]) -> set[int | None]:
    """Return the numbers of the charges that a person has paid for.

    These are the person's own charges, and those of others by an `again` that was not stopped.
    """
    paid: set[int | None] = set()
    for entry, _ in entries:
        if entry.who != who:
            continue
        if entry.kind == "charge":
            paid.add(entry.number)
        elif entry.kind == "again" and closing_of(entry.number, entries) is None:
            paid.add(entry.refers)
    return paid


def _priced(charge: Entry) -> str:
    """Return the event and the part of a charge as one text: together they decide its price."""
    return canonical_json([charge.event, charge.part])


def stored_answer(snapshot: Snapshot, number: int | None = None) -> tuple[Entry, str] | None:
    """Return a charge and its answer's body from the lines of a key; None if there is no answer.

    Without a number it is the first answer. With the number of a charge it is the answer of that
    charge. With the number of an `again` it is that entry, and the answer of the charge it repeats.

    Refuses: an answer without its charge, or a body without the hash in its entry; LedgerCorrupt.
    """
    entries = read_found(snapshot.found)
    charges = {entry.number: entry for entry, _ in entries if entry.kind in ("charge", "again")}
    wanted = None if number is None else charges.get(number)
    charge_number = number
    if wanted is not None and wanted.kind == "again":
        # The answer refers to the charge of the other person, not to the `again`.
        charge_number = wanted.refers
    for entry, body in entries:
        if entry.kind != "answer":
            continue
        if number is not None and entry.refers != charge_number:
            continue
        if is_behind((entry, body), snapshot):
            continue
        if entry.refers not in charges:
            raise LedgerCorrupt(
                f"the answer in entry {entry.number} is not the one that was stored"
            )
        return wanted or charges[entry.refers], check_body(entry, body)
    return None


def pending_charge(snapshot: Snapshot, who: str | None, window: Window | None) -> Entry | None:
    """Return a charge of the present window that neither was answered nor failed.

    This person has paid for it, as the charge or by an `again`; None is anybody.
    """
    entries = read_found(snapshot.found)
    paid = None if who is None else _paid_by(who, entries)
    for charge, end in _charges(entries):
        if end is None and (paid is None or charge.number in paid):
            if is_present(charge, snapshot, window):
                return charge
    return None


def is_behind(answer: EntryWithBody, snapshot: Snapshot) -> bool:
    """Return whether an answer's body is missing because an export without answers was imported.

    A missing body of a later entry is not excused: reading it is refused elsewhere.
    """
    entry, body = answer
    if body is not None:
        return False
    _, behind = tree_numbers(snapshot.texts)
    return entry.number <= behind


def is_present(charge: Entry, snapshot: Snapshot, window: Window | None) -> bool:
    """Return whether a charge counts in the present window; always True without windows."""
    if window is None:
        return True
    now = stamp(snapshot.now, last_of(snapshot).time)
    repair, _ = tree_numbers(snapshot.texts)
    # Before a repair of the clock times may be wrong, so no such charge is taken as present.
    if charge.number <= repair:
        return False
    return window_of(charge.time, window) == window_of(now, window)


def decide_order(
    order: ChargeOrder, snapshot: Snapshot, settlement: Settlement | None, books: Books
) -> tuple[Settlement | None, Page | None]:
    """Return the settlement of an order and the page to write for it, while nobody else can write.

    | found for the order | settlement, page |
    |---|---|
    | a settlement that this person may use (`settlement_for_asker`) | that settlement, None |
    | for an order apart only one that others have paid for | that settlement, an `again` |
    | none | None, a new charge |

    For an order apart the page of a new charge is always made first, so that the refusals are the
    same whether others have asked or not.

    Refuses: with Overtaken a charge of which `watch` finds new entries.
    """
    settled = settlement_for_asker(order, settlement, snapshot)
    if settled is not None:
        return settled, None
    if order.watch is not None and any(
        key.startswith(order.watch.starts) for key in snapshot.newer
    ):
        raise Overtaken("the same was paid for meanwhile; nothing was spent, ask again")
    last = last_of(snapshot)
    text = text_of(order)
    # This may raise BudgetExceeded, and must do so before the cheaper `again` is considered.
    page = next_page(snapshot, books, last, entry_of(order), text)
    if settlement is None:
        return None, page
    again = again_entry(order, settlement.charge)
    return settlement, next_page(snapshot, books, last, again, text)


def _charges(entries: Sequence[EntryWithBody]) -> Iterator[tuple[Entry, EntryWithBody | None]]:
    """Yield each charge with the entry that ended it, its answer or failure; None if pending."""
    for entry, _ in entries:
        if entry.kind == "charge":
            yield entry, closing_of(entry.number, entries)


def check_body(entry: Entry, body: str | None) -> str:
    """Return the body of an answer if it has the hash in its entry; else LedgerCorrupt."""
    if body is None or digest(body) != entry.body_hash:
        raise LedgerCorrupt(f"the answer in entry {entry.number} is not the one that was stored")
    return body


def read_charge(charge: object) -> Entry:
    """Return an entry; refuse other types with InvalidArgument."""
    if not isinstance(charge, Entry):
        raise InvalidArgument(
            f"an entry is expected, as `charge` gives it, got {type(charge).__name__}"
        )
    return charge
