"""The books: the whole decision of a ledger, as a frozen value and plain functions of it; no store, no clock.

`after(entry)` gives the books after an entry, or refuses it. The ledger decides by it before it writes, and whoever
verifies a chain decides by it again, entry by entry.
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
from .account import Account, fresh_account, read_account
from .entry import Entry
from .parts import label
from .stores.store import ALLOWANCES, EVERYONE, ROLL, TERMS, account_name
from .terms import OTHERS, Charter, read_charter


@frozen
class Shares:
    """The allowances in force: a filter each, None for one that was withdrawn."""

    named: tuple[tuple[str, Filter | None], ...]
    anyone: bool
    """Whether who is not named may spend up to the budget."""

    def of(self, who: str, budget: Filter) -> tuple[Filter, bool]:
        """Return the filter somebody stands under, and whether it is a limit of their own.

        Raises NotAllowed for one who has no allowance.
        """
        known = dict(self.named)
        share = known.get(who, known.get(OTHERS))
        if share is not None:
            return share, True
        if self.anyone and who not in known and OTHERS not in known:
            return budget, False
        raise NotAllowed(
            f"{who} has no allowance in this ledger; ask its steward for one: ledger.allow({who!r}, …)"
        )

    def text(self) -> str:
        """Write the allowances as one text, exactly."""
        named = {who: None if share is None else share.to_json() for who, share in self.named}
        return canonical_json({"named": named, "anyone": self.anyone})


@frozen
class Books:
    """What was promised and what has been spent, by everyone and by one person."""

    terms: Charter
    shares: Shares
    everyone: Account
    who: str
    own: Account

    def after(self, entry: Entry) -> Books:
        """Return the books after an entry of this person.

        Raises BudgetExceeded, NotAllowed or InvalidArgument for what cannot be granted; nothing changes then.
        """
        if entry.kind == "charge":
            return self._charged(read_event(canonical_json(entry.event)), entry)
        if entry.kind == "again":
            after = self._charged(read_event(canonical_json(entry.event)), entry, shared=False)
            return replace(self, own=after.own)
        if entry.kind == "allow":
            return replace(self, shares=self._shared(entry.who, entry.terms))
        return self

    def at(self, time: str) -> Books:
        """Return the books as they stand at a time: a new window begins with nothing spent."""
        window = self.terms.window
        return replace(self, everyone=self.everyone.at(time, window), own=self.own.at(time, window))

    def texts(self) -> dict[str, str]:
        """Write the books as the texts a store keeps; the account of this person is the last of them."""
        return {
            TERMS: self.terms.text(),
            ALLOWANCES: self.shares.text(),
            EVERYONE: self.everyone.text(),
            account_name(self.who): self.own.text(),
        }

    def filter(self, part: str | None) -> Filter:
        """Return the budget's filter as it stands."""
        return self.everyone.under(self.terms.filter, part)

    def own_filter(self, part: str | None) -> Filter:
        """Return the filter of this person's allowance as it stands."""
        return self.own.under(self.shares.of(self.who, self.terms.filter)[0], part)

    def _charged(self, event: Event, entry: Entry, *, shared: bool = True) -> Books:
        """Return the books after a charge; one that is not shared counts in this person's account alone."""
        now, part = self.at(entry.time), self.part(entry.part)
        share, limited = self.shares.of(self.who, self.terms.filter)
        place = "" if part is None else f" on part {entry.part!r}"
        everyone = now.everyone
        if shared:
            everyone = _after(everyone, self.terms.filter, event, part, f"the budget{place}")
        if limited:
            own = _after(now.own, share, event, part, f"the allowance of {self.who}{place}")
        else:
            own = now.own.noted(share, event, part)
        return replace(now, everyone=everyone, own=own)

    def part(self, part: object) -> str | None:
        """Name a part in the books; None is all the data.

        Refuses parts that the terms do not list.
        """
        if part is None:
            return None
        if self.terms.parts is None:
            raise InvalidArgument(
                f"this ledger has no parts, got part={part!r}; leave it out, or open one with parts="
            )
        return label(self.terms.parts.check(part))

    def _shared(self, who: str, terms: Json | None) -> Shares:
        given = None if terms is None else terms.get("allowance")
        share = None if given is None else Filter.from_json(given)
        named = dict(self.shares.named) | {who: share}
        return replace(self.shares, named=tuple(sorted(named.items(), key=lambda item: item[0])))


def _after(account: Account, filter: Filter, event: Event, part: str | None, whose: str) -> Account:  # noqa: A002
    try:
        return account.after(filter, event, part)
    except BudgetExceeded as refusal:
        raise BudgetExceeded(
            f"{whose} has no room: {refusal}", asked=refusal.asked, left=refusal.left
        ) from None


@lru_cache(maxsize=1024)
def read_event(text: str) -> Event:
    """Read an event from its text; the same few are charged again and again."""
    return from_json(json.loads(text))


def share_terms(share: Filter | None) -> Json:
    """Write what an `allow` entry states."""
    return {"allowance": None if share is None else share.to_json()}


def vouch(texts: Mapping[str, str]) -> str:
    """Return the hash by which an entry vouches for the books after it: terms, allowances, everyone's account, roll."""
    roll = (texts[ROLL],) if ROLL in texts else ()
    return digest(texts[TERMS], texts[ALLOWANCES], texts[EVERYONE], *roll)


def open_books(terms: Charter, who: str) -> Books:
    """Return the books of a new ledger."""
    named = () if terms.allowances is None else terms.allowances
    account = fresh_account(terms.filter, "")
    return Books(terms, Shares(named, terms.allowances is None), account, who, account)


def read_books(terms: str, shares: str, everyone: str, who: str, own: str | None) -> Books:
    """Read the books of one person from the texts a store keeps.

    Refuses texts that were torn or changed into something else, and amounts of another measure.
    """
    read = read_charter(terms)
    mine = fresh_account(read.filter, "") if own is None else read_account(own)
    books = Books(read, read_shares(shares), read_account(everyone), who, mine)
    wide = len(read.filter.capacity)
    for account in (books.everyone, books.own):
        rows = (account.common, *(used for _, used in account.parts))
        if any(len(used.amounts) != wide for used in rows):
            raise LedgerCorrupt(
                "an account of this ledger counts in another measure than its budget: it was changed"
            )
    return books


@lru_cache(maxsize=64)
def read_shares(text: str) -> Shares:
    """Read the allowances in force from their text, exactly.

    >>> from discreet.ledger.books import Shares, read_shares
    >>> read_shares(Shares((), True).text())
    Shares(named=(), anyone=True)
    """
    try:
        data = json.loads(text)
        named = (
            (who, None if s is None else Filter.from_json(s)) for who, s in data["named"].items()
        )
        return Shares(tuple(sorted(named, key=lambda item: item[0])), data["anyone"] is True)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "the allowances of this ledger cannot be read: they were torn or changed"
        ) from None
