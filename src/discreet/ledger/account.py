"""An account: what was spent under one filter, on all the data and on each part, in one window of time.

The account of everyone stands under the budget, that of an analyst under the allowance; the amounts are kept apart from
the filter, because an allowance may change. An amount above a lowered allowance is kept as it is, and nothing is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.canonical import canonical_json
from ..data.unit import window_start
from ..errors import BudgetExceeded, DiscreetError, InvalidArgument, LedgerCorrupt
from ..privacy.events import Event, Repeated
from ..privacy.events.json import read_amount
from ..privacy.filters.filter import Filter
from ..privacy.filters.rule import Amounts
from ..privacy.neighbours import REPLACE, Neighbours, read_neighbours
from .charter import Window
from .clock import read_time, write_time

__all__ = ["Account", "Used", "count_for_part", "fresh_account", "narrow", "read_account", "window_of"]


@dataclass(frozen=True, slots=True)
class Used:
    """Amounts in the filter's own measure, and the δ that events leaked themselves."""

    amounts: Amounts
    leaked: Fraction

    def under(self, filter: Filter) -> Filter:  # noqa: A002 that is what it is
        """Return the filter with this much spent, at most all of it."""
        amounts = tuple(min(u, c) for u, c in zip(self.amounts, filter.capacity, strict=True))
        return replace(filter, used=amounts, leaked=min(self.leaked, filter.terms.delta))

    def plus(self, before: Filter, after: Filter) -> Used:
        """Add what a filter took for an event."""
        amounts = tuple(u + b - a for u, a, b in zip(self.amounts, before.used, after.used, strict=True))
        return Used(amounts, self.leaked + after.leaked - before.leaked)


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent since the window began: on all the data, and on each part that was asked about.

    The amounts of a part include the common ones; a part that was never asked about stands at the common ones.
    """

    since: str
    near: Neighbours | None
    common: Used
    parts: tuple[tuple[str, Used], ...] = ()

    def at(self, time: str, window: Window | None) -> Account:
        """Return the account as it stands at a time: a new window begins with nothing spent, the relation stays."""
        start = window_of(time, window)
        if start <= self.since:
            return self
        none = Used(tuple(Fraction() for _ in self.common.amounts), Fraction())
        return Account(start, self.near, none)

    def under(self, filter: Filter, part: str | None) -> Filter:  # noqa: A002 that is what it is
        """Return the filter as it stands for a part, or for all the data: there the worst part counts."""
        fixed = filter if self.near is None else replace(filter, neighbours=self.near)
        if part is not None:
            return dict(self.parts).get(part, self.common).under(fixed)
        rows = [used for _, used in self._rows()]
        worst = tuple(max(column) for column in zip(*(used.amounts for used in rows), strict=True))
        return Used(worst, max(used.leaked for used in rows)).under(fixed)

    def after(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002 that is what it is
        """Return the account after an event on a part, or on all the data.

        Raises BudgetExceeded if some part has no room for it. Under "replace" an event on a part counts twice: see
        `parts` for the proof.
        """
        fixed = filter if self.near is None else replace(filter, neighbours=self.near)
        if part is None:
            rows = [(name, _added(used, fixed, event)) for name, used in self._rows()]
            return replace(self, near=event.neighbours, common=rows[0][1], parts=tuple(rows[1:]))
        known = dict(self.parts)
        known[part] = _added(known.get(part, self.common), fixed, count_for_part(event))
        return replace(self, near=event.neighbours, parts=tuple(sorted(known.items())))

    def noted(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002 that is what it is
        """Return the account after an event that no allowance limits: what does not fit fills it."""
        try:
            return self.after(filter, event, part)
        except BudgetExceeded:
            full = Used(filter.capacity, filter.terms.delta)
            return replace(
                self, near=event.neighbours, common=full, parts=tuple((name, full) for name, _ in self.parts)
            )

    def text(self) -> str:
        """Write the account as one text, exactly."""
        rows = {name: [[str(a) for a in used.amounts], str(used.leaked)] for name, used in self._rows()}
        common = rows.pop("")
        return canonical_json({"since": self.since, "near": self.near, "common": common, "parts": rows})

    def _rows(self) -> Iterator[tuple[str, Used]]:
        yield "", self.common
        yield from self.parts


def count_for_part(event: Event) -> Event:
    """Return the event as the account of a part counts it."""
    return Repeated(event, 2) if event.neighbours == REPLACE else event


def narrow(budget: Filter, own: Filter) -> Filter:
    """Return the budget's filter with no more left than an allowance has."""
    room = zip(budget.capacity, budget.used, own.capacity, own.used, strict=True)
    used = tuple(max(bu, bc - (oc - ou)) for bc, bu, oc, ou in room)
    leak = min(budget.terms.delta - budget.leaked, own.terms.delta - own.leaked)
    return replace(budget, used=used, leaked=budget.terms.delta - leak)


def _added(used: Used, filter: Filter, event: Event) -> Used:  # noqa: A002 that is what it is
    before = used.under(filter)
    return used.plus(before, before.after(event))


def window_of(time: str, window: Window | None) -> str:
    """Return the start of the window a time falls in; without windows there is one, from the beginning.

    >>> from discreet.ledger.account import window_of
    >>> window_of("2026-05-14T09:30:00.000000Z", "month"), window_of("2026-05-14T09:30:00.000000Z", None)
    ('2026-05-01T00:00:00.000000Z', '')
    """
    return "" if window is None else write_time(window_start(read_time(time), window))


def fresh_account(filter: Filter, since: str) -> Account:  # noqa: A002 that is what it is
    """Return an account on which nothing was spent."""
    return Account(since, filter.neighbours, Used(filter.used, filter.leaked))


@lru_cache(maxsize=1024)
def read_account(text: str) -> Account:
    """Read an account from its text, exactly.

    >>> from discreet.ledger.account import fresh_account, read_account
    >>> from discreet.privacy.filters.filter import open_filter
    >>> from discreet.privacy.measures import PureDP
    >>> account = fresh_account(open_filter(PureDP(1)), "")
    >>> read_account(account.text()) == account
    True

    Refuses what was changed into something that is no account.
    """
    try:
        data = json.loads(text)
        near = None if data["near"] is None else read_neighbours(data["near"])
        parts = tuple(sorted((name, _used(used)) for name, used in data["parts"].items()))
        since, common = str(data["since"]), _used(data["common"])
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt("an account of this ledger cannot be read: it was torn or changed") from None
    return Account(since, near, common, parts)


def _used(data: list[object]) -> Used:
    amounts, leaked = data
    if not isinstance(amounts, list):
        raise InvalidArgument("amounts are a list")
    return Used(tuple(read_amount(a, "an amount") for a in amounts), read_amount(leaked, "leaked"))
