"""Books: terms, allowances and accounts of a ledger, and the decision whether an entry is granted.

The books are frozen values with pure functions; no store and no clock is used here.
`Books.after(entry)` returns the books after an entry, or refuses the entry. The ledger decides by
it before it writes. A verification replays the chain and decides by it again, entry by entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from ..arithmetic.canonical import canonical_json, digest
from ..errors import BudgetExceeded, DiscreetError, InvalidArgument, LedgerCorrupt, NotAllowed
from ..frozen import frozen, replace
from ..privacy.events import Event
from ..privacy.events.json import Json, from_json
from ..privacy.filters.filter import Filter
from .account import Account, fresh_account, read_account, write_interval
from .entry import Entry
from .parts import label
from .stores import store
from .terms import OTHERS, Charter, read_charter


@frozen
class Allowances:
    """The allowances in force: a filter for each name, None for an allowance that was withdrawn."""

    named: tuple[tuple[str, Filter | None], ...]
    anyone: bool
    """Whether a person without an allowance may spend up to the budget."""

    def of(self, who: str, budget: Filter) -> tuple[Filter, bool]:
        """Return the filter that limits a person, and whether it is an allowance.

        That is the person's own allowance, else the one of "*". If there is none, it is the budget
        where anyone may spend up to it.

        Refuses: a person whose allowance was withdrawn, or who has none where one is needed;
        NotAllowed.
        """
        filters = dict(self.named)
        # A withdrawn allowance is None here, so it falls through to the refusal below.
        allowance = filters.get(who, filters.get(OTHERS))
        if allowance is not None:
            return allowance, True
        withdrawn = who in filters or OTHERS in filters
        if self.anyone and not withdrawn:
            return budget, False
        raise NotAllowed(
            f"{who} has no allowance in this ledger; ask its steward for one: ledger.allow({who!r}, …)"
        )

    def text(self) -> str:
        """Write the allowances as canonical JSON, exactly."""
        named = {who: _filter_to_json(allowance) for who, allowance in self.named}
        return canonical_json({"named": named, "anyone": self.anyone})


@frozen
class Books:
    """Terms, allowances in force, the account of everyone, and the account of one person `who`.

    Guarantee: `after` grants a charge only if the budget's filter and the person's allowance
    both admit it. The same entries lead to the same books on every store.

    Refuses: BudgetExceeded, NotAllowed and InvalidArgument; the books stay as they are.

    Law: tests/ledger/test_books.py::TestTheLedgerIsThePlainModel
    """

    terms: Charter
    allowances: Allowances
    everyone: Account
    who: str
    own: Account

    def after(self, entry: Entry) -> Books:
        """Return the books after an entry of this person.

        | kind of entry | change |
        |---|---|
        | `charge` | the event counts for everyone and for the person |
        | `again` | the event counts for the person alone: everyone has paid with the charge |
        | `allow` | the allowance that the entry names |
        | all others | none |

        Raises BudgetExceeded, NotAllowed or InvalidArgument for an entry that is not granted;
        nothing changes then.
        """
        if entry.kind == "charge":
            event = read_event(canonical_json(entry.event))
            return self._charged(event, entry)
        if entry.kind == "again":
            # Everyone's account has paid for this event already, with the charge it refers to.
            event = read_event(canonical_json(entry.event))
            charged = self._charged(event, entry, shared=False)
            return replace(self, own=charged.own)
        if entry.kind == "allow":
            return replace(self, allowances=self._allowed(entry.who, entry.terms))
        return self

    def at(self, time: str) -> Books:
        """Return the books as they are at a time: a new window begins with nothing spent."""
        window = self.terms.window
        everyone = self.everyone.at(time, window)
        own = self.own.at(time, window)
        return replace(self, everyone=everyone, own=own)

    def texts(self) -> dict[str, str]:
        """Write the books as the texts a store keeps; the account of this person comes last."""
        return {
            store.TERMS: self.terms.text(),
            store.ALLOWANCES: self.allowances.text(),
            store.EVERYONE: self.everyone.text(),
            store.account_name(self.who): self.own.text(),
        }

    def filter(self, part: str | None) -> Filter:
        """Return the budget's filter with everyone's spending."""
        return self.everyone.under(self.terms.filter, part)

    def own_filter(self, part: str | None) -> Filter:
        """Return the filter of this person's allowance with this person's spending."""
        allowance, _ = self.allowances.of(self.who, self.terms.filter)
        return self.own.under(allowance, part)

    def part(self, part: object) -> str | None:
        """Return the name of a part's row in the accounts; None stands for all the data.

        In a ledger with blocks a part is an interval of whole blocks, as `Blocks.label` writes it.

        Refuses: a part that the terms do not list, and any part in a ledger without parts and
        blocks; InvalidArgument.
        """
        if part is None:
            return None
        if self.terms.blocks is not None:
            return write_interval(self.terms.blocks.read(part))
        if self.terms.parts is None:
            raise InvalidArgument(
                f"this ledger has no parts, got part={part!r}; leave it out, or open one with parts="
            )
        return label(self.terms.parts.check(part))

    def _charged(self, event: Event, entry: Entry, *, shared: bool = True) -> Books:
        """Return the books after a charge; with `shared=False` it counts for this person alone."""
        now = self.at(entry.time)
        part = self.part(entry.part)
        allowance, limited = self.allowances.of(self.who, self.terms.filter)
        suffix = "" if part is None else f" on {self.terms.part_words(entry.part)}"
        everyone = now.everyone
        # The budget decides first, so a refusal names the budget when both would refuse.
        if shared:
            everyone = _after(everyone, self.terms.filter, event, part, f"the budget{suffix}")
        if limited:
            whose = f"the allowance of {self.who}{suffix}"
            own = _after(now.own, allowance, event, part, whose)
        else:
            # Without an allowance the person's account only records and cannot refuse.
            own = now.own.noted(allowance, event, part)
        return replace(now, everyone=everyone, own=own)

    def _allowed(self, who: str, terms: Json | None) -> Allowances:
        """Return the allowances after an `allow` entry; None withdraws one."""
        given = None if terms is None else terms.get("allowance")
        allowance = None if given is None else Filter.from_json(given)
        named = dict(self.allowances.named)
        named[who] = allowance
        return replace(self.allowances, named=_sorted_by_name(named))


def _after(
    account: Account,
    filter: Filter,  # noqa: A002
    event: Event,
    part: str | None,
    whose: str,
) -> Account:
    """Return the account after a charge; a refusal begins with `whose` budget has no room."""
    try:
        return account.after(filter, event, part)
    except BudgetExceeded as refusal:
        raise BudgetExceeded(
            f"{whose} has no room: {refusal}", asked=refusal.asked, left=refusal.left
        ) from None


@lru_cache(maxsize=1024)
def read_event(text: str) -> Event:
    """Read an event from its text; cached, because the same few events are charged repeatedly."""
    return from_json(json.loads(text))


def allowance_terms(allowance: Filter | None) -> Json:
    """Return the terms of an `allow` entry."""
    return {"allowance": _filter_to_json(allowance)}


def books_digest(texts: Mapping[str, str]) -> str:
    """Return the digest of the books that an entry holds, so that they cannot be changed unnoticed.

    It covers the terms, the allowances, everyone's account and the root of the account tree.
    Ledgers of release 0.1.0 have no account tree; their entries hash three texts.
    """
    hashed = [texts[store.TERMS], texts[store.ALLOWANCES], texts[store.EVERYONE]]
    if store.ACCOUNT_TREE in texts:
        hashed.append(texts[store.ACCOUNT_TREE])
    return digest(*hashed)


def open_books(terms: Charter, who: str) -> Books:
    """Return the books of a new ledger."""
    allowances = Allowances(terms.allowances or (), terms.allowances is None)
    account = fresh_account(terms.filter, "", terms.reach)
    return Books(terms, allowances, account, who, account)


def read_books(terms: str, allowances: str, everyone: str, who: str, own: str | None) -> Books:
    """Read the books of one person from the texts a store keeps.

    Refuses: texts that were torn or changed, and amounts of another measure, with LedgerCorrupt.
    """
    charter = read_charter(terms)
    own_account = fresh_account(charter.filter, "", charter.reach)
    if own is not None:
        own_account = read_account(own)
    books = Books(charter, read_allowances(allowances), read_account(everyone), who, own_account)
    _check_measure(books.everyone, charter.filter)
    _check_measure(books.own, charter.filter)
    return books


def _check_measure(account: Account, budget: Filter) -> None:
    """Refuse an account that has more or fewer amounts than its filter counts."""
    expected = len(budget.capacity)
    for _, used in account.rows():
        if len(used.amounts) != expected:
            raise LedgerCorrupt(
                "an account of this ledger counts in another measure than its budget: it was changed"
            )


@lru_cache(maxsize=64)
def read_allowances(text: str) -> Allowances:
    """Read the allowances in force from their text, exactly.

    >>> from discreet.ledger.books import Allowances, read_allowances
    >>> read_allowances(Allowances((), True).text())
    Allowances(named=(), anyone=True)
    """
    try:
        data = json.loads(text)
        named: dict[str, Filter | None] = {}
        for who, stored in data["named"].items():
            named[who] = None if stored is None else Filter.from_json(stored)
        return Allowances(_sorted_by_name(named), data["anyone"] is True)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "the allowances of this ledger cannot be read: they were torn or changed"
        ) from None


def _sorted_by_name(named: Mapping[str, Filter | None]) -> tuple[tuple[str, Filter | None], ...]:
    """Return the pairs in the order of their names: filters themselves have no order."""
    return tuple((who, named[who]) for who in sorted(named))


def _filter_to_json(allowance: Filter | None) -> Json | None:
    if allowance is None:
        return None
    return allowance.to_json()
