"""An account: what was spent under one filter, on all the data and on each part, in one window of time.

The account of everyone stands under the budget, that of an analyst under the allowance; the amounts are kept apart from
the filter, because an allowance may change. An amount above a lowered allowance is kept as it is, and nothing is left.
So is what the sum of ε admitted, or one question as all there is, though the tail did not pay for it: at its own price,
not at what was left. An allowance that is raised later then has the tail that its promise leaves, and no more.

Where the filter adds up ε too (see `discreet.privacy.filters.basic_composition`), so does the account. Accounts of
release 0.1.0 have no such sum: `recount` finds it in the entries, and until then the sum admits nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.canonical import canonical_json
from ..data.unit import window_start
from ..errors import BudgetExceeded, DiscreetError, InvalidArgument, LedgerCorrupt
from ..frozen import frozen, replace
from ..privacy.events import Event, Repeated
from ..privacy.events.json import read_amount
from ..privacy.filters.basic_composition import Sum
from ..privacy.filters.filter import Filter
from ..privacy.filters.refusal import exceeded
from ..privacy.filters.rule import Amounts, FilterPrice
from ..privacy.neighbours import REPLACE, Neighbours, read_neighbours
from .clock import read_time, write_time
from .terms import Window

_UNPRICED = Fraction(2**64)
"""What is used of a tail that cannot price an event: more than any budget comes to."""


@frozen
class Used:
    """Amounts in the filter's own measure, the δ that events leaked themselves, and Σε where it is kept.

    `added` is empty where no sum is kept; it holds None once the sum admits nothing any more.
    """

    amounts: Amounts
    leaked: Fraction
    added: tuple[Sum, ...] = ()

    def under(self, filter: Filter) -> Filter:  # noqa: A002 that is what it is
        """Return the filter with this much spent, at most all of it; who leaked the tail's δ too has no tail."""
        whole = self.leaked > filter.terms.delta
        amounts = tuple(
            c if whole else min(u, c) for u, c in zip(self.amounts, filter.capacity, strict=True)
        )
        added = self.added[0] if self.added else None
        return replace(
            filter,
            used=amounts,
            leaked=min(self.leaked, filter.terms.delta),
            added=added if filter.adds else Fraction(),
        )

    def plus(self, before: Filter, after: Filter, price: FilterPrice, *, paid: bool) -> Used:
        """Add what a filter took for an event; of what its tail has not paid, the whole price."""
        amounts = tuple(
            u + b - a for u, a, b in zip(self.amounts, before.used, after.used, strict=True)
        )
        if not paid:
            owed = price.amounts or tuple(_UNPRICED for _ in amounts)
            amounts = tuple(
                max(new, u + a) for new, u, a in zip(amounts, self.amounts, owed, strict=True)
            )
        leaked = after.leaked - before.leaked if before.keeps(price) else price.leak
        return Used(amounts, self.leaked + leaked, (after.added,) if self.added else ())

    def full(self, filter: Filter) -> Used:  # noqa: A002 that is what it is
        """Return this with the amounts of the tail used up."""
        amounts = tuple(max(u, c) for u, c in zip(self.amounts, filter.capacity, strict=True))
        return replace(self, amounts=amounts)


@frozen
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
        none = Used(
            tuple(Fraction() for _ in self.common.amounts),
            Fraction(),
            tuple(Fraction() for _ in self.common.added),
        )
        return Account(start, self.near, none)

    def under(self, filter: Filter, part: str | None) -> Filter:  # noqa: A002 that is what it is
        """Return the filter as it stands for a part, or for all the data: there the worst part counts."""
        fixed = self._fixed(filter)
        if part is not None:
            return dict(self.parts).get(part, self.common).under(fixed)
        rows = [used for _, used in self._rows()]
        worst = tuple(max(column) for column in zip(*(used.amounts for used in rows), strict=True))
        added = [used.added for used in rows if used.added]
        known = [one for (one,) in added if one is not None]
        sums: tuple[Sum, ...] = (max(known) if len(known) == len(rows) else None,) if added else ()
        return Used(worst, max(used.leaked for used in rows), sums).under(fixed)

    def each(self, filter: Filter, part: str | None) -> list[Filter]:  # noqa: A002 that is what it is
        """Return the filters that must all admit an event on a part, or on all the data."""
        fixed = self._fixed(filter)
        if part is not None and fixed.neighbours != REPLACE:
            return [self.under(filter, part)]
        rows = [used.under(fixed) for _, used in self._rows()]
        return rows if fixed.neighbours != REPLACE else [self.under(filter, None)]

    def after(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002 that is what it is
        """Return the account after an event on a part, or on all the data.

        Raises BudgetExceeded if some part has no room for it. Under "replace" an event on a part counts twice, and one
        decision is made for all parts: see `parts` for both proofs.
        """
        fixed = self._fixed(filter)
        counted = event if part is None else count_for_part(event)
        known = dict(self._rows())
        if part is not None:
            known.setdefault(part, self.common)
        touched = list(known) if part is None else [part]
        if fixed.adds and event.neighbours == REPLACE and len(known) > 1:
            rows = _together(known, touched, fixed, counted)
        else:
            rows = known | {name: _added(known[name], fixed, counted) for name in touched}
        common = rows.pop("")
        return replace(
            self, near=event.neighbours, common=common, parts=tuple(sorted(rows.items()))
        )

    def noted(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002 that is what it is
        """Return the account after an event that no allowance limits: what does not fit fills it."""
        try:
            return self.after(filter, event, part)
        except BudgetExceeded:
            return replace(self.filled(filter), near=event.neighbours)

    def filled(self, filter: Filter) -> Account:  # noqa: A002 that is what it is
        """Return the account with all of a filter spent, on every part."""
        full = Used(filter.capacity, filter.terms.delta, tuple(None for _ in self.common.added))
        return replace(self, common=full, parts=tuple((name, full) for name, _ in self.parts))

    def text(self) -> str:
        """Write the account as one text, exactly."""
        rows = {name: _written(used) for name, used in self._rows()}
        common = rows.pop("")
        return canonical_json(
            {"since": self.since, "near": self.near, "common": common, "parts": rows}
        )

    def without_sums(self) -> Account:
        """Return the account as release 0.1.0 kept it."""
        parts = tuple((name, replace(used, added=())) for name, used in self.parts)
        return replace(self, common=replace(self.common, added=()), parts=parts)

    def _fixed(self, filter: Filter) -> Filter:  # noqa: A002 that is what it is
        return filter if self.near is None else replace(filter, neighbours=self.near)

    def _rows(self) -> Iterator[tuple[str, Used]]:
        yield "", self.common
        yield from self.parts


def count_for_part(event: Event) -> Event:
    """Return the event as the account of a part counts it."""
    return Repeated(event, 2) if event.neighbours == REPLACE else event


def _together(
    known: dict[str, Used],
    touched: Sequence[str],
    filter: Filter,  # noqa: A002 that is what it is
    event: Event,
) -> dict[str, Used]:
    """Return all rows after an event under "replace": admitted by the tails of all parts, or by the sums of all.

    What only the sums admit exhausts the tail of every part: whether the tails pay is asked of the worst of them.
    """
    before = {name: used.under(filter) for name, used in known.items()}
    prices = {name: before[name].cost(event) for name in touched}
    nothing = FilterPrice(tuple(Fraction() for _ in filter.capacity), Fraction(), Fraction())
    paid = all(row.pays(prices.get(name, nothing)) for name, row in before.items())
    summed = all(row.sums(prices.get(name, nothing)) for name, row in before.items())
    for name in touched:
        if not (paid or summed) or not before[name].keeps(prices[name]):
            worst = max(before.values(), key=lambda row: row.used)
            raise exceeded(
                before[name] if before[name].keeps(prices[name]) else worst, prices[name]
            )
    rows = {name: used if paid else used.full(filter) for name, used in known.items()}
    taken = {
        name: before[name].taking(prices[name], event.neighbours, paid=paid) for name in touched
    }
    return rows | {
        name: known[name].plus(before[name], after, prices[name], paid=paid)
        for name, after in taken.items()
    }


def _added(used: Used, filter: Filter, event: Event) -> Used:  # noqa: A002 that is what it is
    before = used.under(filter)
    price, after = before.cost(event), before.after(event)
    return used.plus(before, after, price, paid=before.pays(price) and before.keeps(price))


def window_of(time: str, window: Window | None) -> str:
    """Return the start of the window a time falls in; without windows there is one, from the beginning.

    >>> from discreet.ledger.account import window_of
    >>> window_of("2026-05-14T09:30:00.000000Z", "month"), window_of("2026-05-14T09:30:00.000000Z", None)
    ('2026-05-01T00:00:00.000000Z', '')
    """
    return "" if window is None else write_time(window_start(read_time(time), window))


def fresh_account(filter: Filter, since: str) -> Account:  # noqa: A002 that is what it is
    """Return an account on which nothing was spent."""
    added: tuple[Sum, ...] = (filter.added,) if filter.adds else ()
    return Account(since, filter.neighbours, Used(filter.used, filter.leaked, added))


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
        raise LedgerCorrupt(
            "an account of this ledger cannot be read: it was torn or changed"
        ) from None
    return Account(since, near, common, parts)


def _written(used: Used) -> list[object]:
    sums = [None if one is None else str(one) for one in used.added]
    return [[str(a) for a in used.amounts], str(used.leaked), *sums]


def _used(data: list[object]) -> Used:
    amounts, leaked, *added = data
    if not isinstance(amounts, list) or len(added) > 1:
        raise InvalidArgument("amounts are a list")
    sums = tuple(None if one is None else read_amount(one, "a sum") for one in added)
    return Used(
        tuple(read_amount(a, "an amount") for a in amounts), read_amount(leaked, "leaked"), sums
    )
