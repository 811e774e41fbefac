"""An order: what is to be charged, and what a ledger finds for it, decided from one look at the store.

    an answer is stored under its key                   it is given again, to whoever asks
    a charge of its key is pending, for the same event  it is run under that charge, whoever was charged: nothing of it
                                                        has gone out, and of all who run it the first answer is kept
    otherwise                                           it is charged

`Ledger.settle` decides this inside the one transaction that would write the charge, so however many processes ask,
one of them is charged. Keys of the first format hash the planned events; their answers are looked for by the question,
and `fits` says whether one of them is what is asked for now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..arithmetic.canonical import canonical_json, digest
from ..data.columns.keys import KeyValue
from ..errors import InvalidArgument, LedgerCorrupt
from ..frozen import field, frozen, replace
from ..privacy.events import Event
from ..privacy.events.json import to_json
from .account import window_of
from .account_tree import numbers
from .books import Books
from .clock import stamp
from .entry import Entry
from .names import read_text, read_who
from .snapshot import closed, closing_of, last_of, next_page, read_found
from .stores.store import Lookup, Page, Snapshot
from .terms import Window

Fits = Callable[[Entry, str], bool]
"""Whether a charge with a key of the first format, and its stored answer, are what is asked for now."""


@frozen
class ChargeOrder:
    """What is to be charged: to whom, for which event, and the key under which the answer is stored."""

    who: str
    why: str
    question: str
    key: str
    event: Event
    part: KeyValue | None = None
    fits: Fits | None = None
    text: str = field(kw_only=True)
    """What was asked, in words; kept beside the charge for the steward. Nothing if there are no words for it."""
    apart: bool = field(kw_only=True)
    """Whether what somebody else was charged for counts in this person's own account, as if nobody had asked it."""


@frozen
class Settlement:
    """What a ledger holds for an order: its charge, and its answer unless it is still to be run.

    `fresh` says that it was charged just now, by the one who is told so and by nobody else. `own` is the entry of one
    who asked apart what somebody else was charged for. `ended` is when the answer was stored.
    """

    charge: Entry
    body: str | None = None
    fresh: bool = False
    own: Entry | None = None
    ended: str = field(default="", compare=False)

    @property
    def entry(self) -> Entry:
        """The entry that its asker is shown: the charge, or their own."""
        return self.charge if self.own is None else self.own


def lookup_of(order: ChargeOrder) -> Lookup:
    """Return which lines decide about an order."""
    return Lookup(order.key, order.question if order.fits is not None else "")


def entry_of(order: ChargeOrder) -> Entry:
    """Return the entry that charges an order, still without its place in the chain.

    Refuses names and texts that no store can hold.
    """
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
        body_hash=digest(text) if (text := text_of(order)) else None,
    )


def find_standing(
    order: ChargeOrder, snapshot: Snapshot, window: Window | None
) -> Settlement | None:
    """Return what stands for an order: an answer, or a charge to run it under.

    A closed ledger gives its answers and refuses the rest.
    """
    found, last = find_answer(order, snapshot), last_of(snapshot)
    if found is None and last.kind == "close":
        raise closed(last)
    return found or find_pending(order, snapshot, window)


def text_of(order: ChargeOrder) -> str | None:
    """Return what is kept beside a charge: the words of what was asked, as JSON that every store can hold."""
    return canonical_json({"asked": order.text}) if order.text else None


def again_of(order: ChargeOrder, charge: Entry) -> Entry:
    """Return the entry that counts somebody else's charge in the account of one who asks the same, apart."""
    asked = replace(
        entry_of(order), kind="again", refers=charge.number, part=charge.part, event=charge.event
    )
    return replace(asked, question=charge.question, key=charge.key)


def own_of(
    order: ChargeOrder, standing: Settlement | None, snapshot: Snapshot
) -> Settlement | None:
    """Return what stands for an order as its asker may have it; None if only others have asked it, and it is apart."""
    if standing is None or not order.apart or standing.charge.who == order.who:
        return standing
    entries = read_found(snapshot.found)
    for entry, _ in entries:
        asked = (entry.kind, entry.who, entry.refers) == (
            "again",
            order.who,
            standing.charge.number,
        )
        if asked and closing_of(entry.number, entries) is None:
            return replace(standing, own=entry)
    return None


def find_answer(order: ChargeOrder, snapshot: Snapshot) -> Settlement | None:
    """Return the stored answer to an order, the same one for ever.

    Of several (a slow run may end after its question was planned anew) it is the one that was stored first under the
    key; of those with a key of the first format one for the very same event, if there is one, else the first. Of one
    who asks apart it is what they have paid for, and of others only what was paid for by the very same event: nothing
    that is seen then hangs on whether others have asked.

    Refuses an answer that is not the one that its entry vouches for.
    """
    if not snapshot.found:
        return None
    entries, wanted = read_found(snapshot.found), _paid_for(entry_of(order))
    mine = _mine(order, entries)
    found: list[tuple[tuple[bool, bool, bool, int], Settlement]] = []
    for charge, end in _charges(entries):
        if end is None or end[0].kind != "answer" or is_behind(end, snapshot):
            continue
        body, own, others = check_body(*end), charge.key == order.key, charge.number not in mine
        if order.apart and others and own and _paid_for(charge) != wanted:
            continue
        if own or (order.fits is not None and order.fits(charge, body)):
            rank = (
                order.apart and others,
                not own,
                not own and charge.event != to_json(order.event),
                end[0].number,
            )
            found.append((rank, Settlement(charge, body, ended=end[0].time)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _mine(order: ChargeOrder, entries: Sequence[tuple[Entry, str | None]]) -> set[int | None]:
    """Return the numbers of the charges that the asker has paid for: own ones, and others by an `again` that stands."""
    own = [
        entry
        for entry, _ in entries
        if entry.who == order.who and entry.kind in ("charge", "again")
    ]
    charges = {entry.number for entry in own if entry.kind == "charge"}
    return charges | {
        e.refers for e in own if e.kind == "again" and closing_of(e.number, entries) is None
    }


def _paid_for(charge: Entry) -> str:
    return canonical_json([charge.event, charge.part])


def find_pending(
    order: ChargeOrder, snapshot: Snapshot, window: Window | None
) -> Settlement | None:
    """Return a charge that pays for just what is to be run now, and that was neither answered nor failed.

    The event and the part must be the same: what is run must be what was paid for, also if it was planned by another
    release. A charge of an earlier window is left alone: what goes out now is paid for now.
    """
    if not snapshot.found:
        return None
    entries, wanted = read_found(snapshot.found), _paid_for(entry_of(order))
    mine, found = _mine(order, entries), list[Entry]()
    for charge, end in _charges(entries):
        if end is None and _paid_for(charge) == wanted and is_present(charge, snapshot, window):
            found.append(charge)
    if order.apart:  # one's own first
        found.sort(key=lambda charge: charge.number not in mine)
    return Settlement(found[0]) if found else None


def stored_answer(snapshot: Snapshot, number: int | None = None) -> tuple[Entry, str] | None:
    """Return the first answer among the lines of a key, with its charge; or that of the charge of this number.

    Refuses an answer without its charge, or that is not the one that its entry vouches for.
    """
    entries = read_found(snapshot.found)
    charges = {entry.number: entry for entry, _ in entries if entry.kind in ("charge", "again")}
    wanted = None if number is None else charges.get(number)
    paid = wanted.refers if wanted is not None and wanted.kind == "again" else number
    for entry, body in entries:
        asked = entry.kind == "answer" and (number is None or entry.refers == paid)
        if asked and not is_behind((entry, body), snapshot):
            if entry.refers not in charges:
                raise LedgerCorrupt(
                    f"the answer in entry {entry.number} is not the one that was stored"
                )
            return wanted or charges[entry.refers], check_body(entry, body)
    return None


def pending_charge(snapshot: Snapshot, who: str, window: Window | None) -> Entry | None:
    """Return a charge of somebody among the lines of a key that has not ended, in the present window."""
    for charge, end in _charges(read_found(snapshot.found)):
        if end is None and charge.who == who and is_present(charge, snapshot, window):
            return charge
    return None


def is_behind(answer: tuple[Entry, str | None], snapshot: Snapshot) -> bool:
    """Return whether an answer stayed behind when the ledger was imported from an export without answers."""
    return answer[1] is None and answer[0].number <= numbers(snapshot.texts)[1]


def is_present(charge: Entry, snapshot: Snapshot, window: Window | None) -> bool:
    """Return whether a charge counts in the present window; after a repair of the clock nobody knows of older ones."""
    if window is None:
        return True
    now = stamp(snapshot.now, last_of(snapshot).time)
    return charge.number > numbers(snapshot.texts)[0] and window_of(
        charge.time, window
    ) == window_of(now, window)


def decide_order(
    order: ChargeOrder, snapshot: Snapshot, standing: Settlement | None, books: Books
) -> tuple[Settlement | None, Page | None]:
    """Return what stands for an order, and what is to be written for it, while nobody else can write.

    Of one who asks apart, the page of a new charge is made first, whoever asked before, so that the same is refused.
    """
    known = own_of(order, standing, snapshot)
    if known is not None:
        return known, None
    last, text = last_of(snapshot), text_of(order)
    page = next_page(snapshot, books, last, entry_of(order), text)
    if standing is None:
        return None, page
    return standing, next_page(snapshot, books, last, again_of(order, standing.charge), text)


def _charges(
    entries: Sequence[tuple[Entry, str | None]],
) -> Iterator[tuple[Entry, tuple[Entry, str | None] | None]]:
    """List the charges, each with what ended it."""
    for entry, _ in entries:
        if entry.kind == "charge":
            yield entry, closing_of(entry.number, entries)


def check_body(entry: Entry, body: str | None) -> str:
    """Return the body of an answer if it is the one that its entry vouches for."""
    if body is None or digest(body) != entry.body_hash:
        raise LedgerCorrupt(f"the answer in entry {entry.number} is not the one that was stored")
    return body


def read_charge(charge: object) -> Entry:
    """Refuse what is no entry."""
    if not isinstance(charge, Entry):
        raise InvalidArgument(
            f"an entry is expected, as `charge` gives it, got {type(charge).__name__}"
        )
    return charge
