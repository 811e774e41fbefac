"""Account: amounts spent under one filter, on all the data and on each part, in one time window.

A part is a public group of one table's rows (`parts`), a window a calendar period after which the
budget begins anew. An account has a row of amounts for all the data (the common amounts) and one
for each part. The account of everyone is limited by the budget, that of an analyst by the
allowance. Amounts are stored apart from the filter, because an allowance may change. An amount
above a lowered allowance stays as it is, and nothing is left.

A filter admits an event by one of three rules (`discreet.privacy.filters.filter`). One is its tail:
the amounts of its kind, such as ρ, pay for the event. The others are the sum of ε, and the single
spend of the whole budget. An event admitted by one of those two is also recorded in the tail, at
its own price, not at the amount that was left. An allowance raised later then has only the tail
that its promise leaves.

In a ledger with blocks (days, weeks, …) a row is not a part but an interval of blocks. It has only
the amounts that were charged on exactly that interval. `block_sums` has the rule and its proof.

Where the filter also adds up ε (`discreet.privacy.filters.basic_composition`), so does the account.
Accounts of release 0.1.0 have no such sum. `life.upgrade` computes it from the entries; until then
the rule of sums admits nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf

from ..arithmetic.canonical import canonical_json
from ..data.blocks import OPEN, Interval
from ..data.unit import window_start
from ..errors import BudgetExceeded, DiscreetError, InvalidArgument, LedgerCorrupt
from ..frozen import frozen, replace
from ..privacy.events import Event, Repeated
from ..privacy.events.json import read_amount
from ..privacy.filters.basic_composition import Sum
from ..privacy.filters.filter import Filter
from ..privacy.filters.refusal import exceeded
from ..privacy.filters.rule import Amounts, FilterPrice
from ..privacy.measures import REPLACE, Neighbours, read_neighbours
from .block_sums import Reach, largest_sum
from .clock import read_time, write_time
from .terms import Window

_UNPRICED = Fraction(2**64)
"""Amount recorded for an event that the tail cannot price: above the capacity of any budget."""


@frozen
class Used:
    """Row of an account: amounts in the filter's measure, δ of events with their own δ, and Σε.

    `added` is empty if the account stores no Σε. It is (None,) once the rule of sums admits nothing
    any more, else (Σε,).
    """

    amounts: Amounts
    leaked: Fraction
    added: tuple[Sum, ...] = ()

    def under(self, filter: Filter) -> Filter:  # noqa: A002
        """Return the filter with these amounts spent, each cut to what the filter has in all."""
        if self.leaked > filter.terms.delta:
            # More δ was leaked than is kept for leaks, so the tail's δ is gone: no tail is left.
            amounts = filter.capacity
        else:
            # Amounts may exceed the capacity of a lowered allowance; the filter then is full.
            pairs = zip(self.amounts, filter.capacity, strict=True)
            amounts = tuple(min(used, capacity) for used, capacity in pairs)
        leaked = min(self.leaked, filter.terms.delta)
        added: Sum = Fraction()
        if filter.adds:
            # Without a stored sum (release 0.1.0) None makes the sum admit nothing, which is safe.
            added = self.added[0] if self.added else None
        return replace(filter, used=amounts, leaked=leaked, added=added)

    def plus(self, before: Filter, after: Filter, price: FilterPrice, *, paid: bool) -> Used:
        """Return the row after an event that took a filter from `before` to `after`.

        If the filter's tail has not paid for the event (`paid` is False), at least the whole price
        is recorded.
        """
        # Add the difference rather than copy `after.used`: amounts above the capacity stay.
        steps = zip(self.amounts, before.used, after.used, strict=True)
        amounts = tuple(used + new - old for used, old, new in steps)
        if not paid:
            # The filter is capped at its capacity; the account must record at least the price.
            owed = price.amounts or tuple(_UNPRICED for _ in amounts)
            prices = zip(amounts, self.amounts, owed, strict=True)
            amounts = tuple(max(capped, used + due) for capped, used, due in prices)
        leaked = after.leaked - before.leaked
        if not before.keeps(price):
            # The filter is capped at its δ here too; the account records the whole leak.
            leaked = price.leak
        added = (after.added,) if self.added else ()
        return Used(amounts, self.leaked + leaked, added)

    def full(self, filter: Filter) -> Used:  # noqa: A002
        """Return the row with each amount at least the filter's capacity: its tail is used up."""
        pairs = zip(self.amounts, filter.capacity, strict=True)
        amounts = tuple(max(used, capacity) for used, capacity in pairs)
        return replace(self, amounts=amounts)


@frozen
class Account:
    """Amounts spent since the window began: on all the data, and on each part that was charged.

    | field | meaning |
    |---|---|
    | `since` | start of the window; empty without windows |
    | `near` | the neighbour relation that the first event fixed; None before |
    | `common` | amounts of charges on all the data |
    | `parts` | amounts of each charged part, the common ones included |

    Guarantee: `after` grants an event only if every part that it touches has enough left. Under
    "replace" any two parts and the common events together stay within the budget.

    Refuses: BudgetExceeded for an event that does not fit; the account stays as it is.

    Law: tests/ledger/test_books.py::TestPartsAreChargedAsTheirMaximum,
    tests/ledger/test_sums.py::TestParts
    """

    since: str
    near: Neighbours | None
    common: Used
    parts: tuple[tuple[str, Used], ...] = ()
    reach: Reach | None = None
    """Blocks that one person may count in; None in a ledger without blocks."""

    def at(self, time: str, window: Window | None) -> Account:
        """Return the account at a time; in a new window nothing is spent, and `near` stays.

        A time before the account's window does not bring an old window back.
        """
        start = window_of(time, window)
        # Times are written so that text order is time order. A window that is over stays over:
        # an earlier time (a clock set back) must not make old budget available again.
        if start <= self.since:
            return self
        nothing = Used(
            tuple(Fraction() for _ in self.common.amounts),
            Fraction(),
            tuple(Fraction() for _ in self.common.added),
        )
        return Account(start, self.near, nothing)

    def under(self, filter: Filter, part: str | None) -> Filter:  # noqa: A002
        """Return the filter with the amounts spent on a part.

        Without a part each amount is the largest of any part. With blocks, `part` is an interval,
        and each amount is the largest of any person who may count in it.
        """
        fixed = self._fixed(filter)
        if self.reach is not None:
            return self._worst_person(self.reach, part).under(fixed)
        if part is not None:
            used = dict(self.parts).get(part, self.common)
            return used.under(fixed)
        # An event on all the data touches every part, so each amount is that of the worst part.
        return _worst([used for _, used in self.rows()]).under(fixed)

    def each(self, filter: Filter, part: str | None) -> list[Filter]:  # noqa: A002
        """Return the filters that must all admit an event on a part, or on all the data (None).

        These are one filter for each row that the event touches. Under "replace" and with blocks it
        is a single filter with the worst amounts.
        """
        fixed = self._fixed(filter)
        if self.reach is not None:
            return [self.under(filter, part)]
        # Under "replace" one decision is made for all parts, by the worst amounts of all.
        if fixed.neighbours == REPLACE:
            return [self.under(filter, None)]
        if part is not None:
            return [self.under(filter, part)]
        return [used.under(fixed) for _, used in self.rows()]

    def after(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002
        """Return the account after an event on a part, or on all the data.

        Raises BudgetExceeded if some part has too little left. Under "replace" an event on a part
        counts twice, and one decision is made for all parts: `parts` has both proofs.
        """
        fixed = self._fixed(filter)
        counted = event if part is None else count_for_part(event)
        rows = dict(self.rows())
        if self.reach is not None:
            return self._after_on_blocks(filter, counted, part)
        if part is None:
            touched = list(rows)
        else:
            # The first event on a part starts from the common amounts, which it has paid too.
            rows.setdefault(part, self.common)
            touched = [part]
        if fixed.adds and event.neighbours == REPLACE and len(rows) > 1:
            rows = _charge_together(rows, touched, fixed, counted)
        else:
            # A refusal of any row leaves this method before a new account is made.
            for name in touched:
                rows[name] = _charge_row(rows[name], fixed, counted)
        common = rows.pop("")
        parts = tuple(sorted(rows.items()))
        return replace(self, near=event.neighbours, common=common, parts=parts)

    def noted(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002
        """Return the account after an event, without refusing: a too large event fills it.

        For accounts that no allowance limits and that only record.
        """
        try:
            return self.after(filter, event, part)
        except BudgetExceeded:
            return replace(self.filled(filter), near=event.neighbours)

    def filled(self, filter: Filter) -> Account:  # noqa: A002
        """Return the account with the whole capacity of a filter spent, on every part."""
        no_sums = tuple(None for _ in self.common.added)
        full = Used(filter.capacity, filter.terms.delta, no_sums)
        if self.reach is not None:
            # Common amounts count for every person, so the rows of intervals need not change.
            return replace(self, common=full)
        parts = tuple((name, full) for name, _ in self.parts)
        return replace(self, common=full, parts=parts)

    def _worst_person(self, reach: Reach, part: str | None) -> Used:
        """Return the largest amounts charged to any person who may count in some of these blocks.

        `part` names the interval of blocks; None stands for all.
        """
        within = OPEN if part is None else read_interval(part)
        intervals = [(read_interval(name), used) for name, used in self.parts]
        amounts = []
        for place, common in enumerate(self.common.amounts):
            charged = [(interval, used.amounts[place]) for interval, used in intervals]
            amounts.append(common + largest_sum(charged, reach, within))
        leaks = [(interval, used.leaked) for interval, used in intervals]
        # Each amount by itself: its worst person may be another one, which is never too little.
        leaked = self.common.leaked + largest_sum(leaks, reach, within)
        return Used(tuple(amounts), leaked, self.common.added)

    def _after_on_blocks(self, filter: Filter, event: Event, part: str | None) -> Account:  # noqa: A002
        """Return the account after an event on an interval of blocks, or on all of them."""
        before = self.under(filter, part)
        price = before.cost(event)
        # Raises BudgetExceeded: what the worst person whom the event may touch has left decides.
        after = before.after(event)
        if part is None:
            common = self.common.plus(before, after, price, paid=True)
            return replace(self, near=event.neighbours, common=common)
        rows = dict(self.parts)
        nothing = Used(tuple(Fraction() for _ in self.common.amounts), Fraction())
        rows[part] = rows.get(part, nothing).plus(before, after, price, paid=True)
        return replace(self, near=event.neighbours, parts=tuple(sorted(rows.items())))

    def rows(self) -> Iterator[tuple[str, Used]]:
        """Yield name and amounts: the common ones under the empty name, then those of each part."""
        yield "", self.common
        yield from self.parts

    def text(self) -> str:
        """Write the account as canonical JSON, exactly."""
        rows = {name: _used_to_json(used) for name, used in self.rows()}
        common = rows.pop("")
        facts = {"since": self.since, "near": self.near, "common": common, "parts": rows}
        # Left out where there are no blocks: older accounts keep their texts and digests.
        if self.reach is not None:
            facts["reach"] = list(self.reach)
        return canonical_json(facts)

    def without_sums(self) -> Account:
        """Return the account in the form of release 0.1.0: without Σε."""
        common = replace(self.common, added=())
        parts = tuple((name, replace(used, added=())) for name, used in self.parts)
        return replace(self, common=common, parts=parts)

    def _fixed(self, filter: Filter) -> Filter:  # noqa: A002
        """Return the filter under the neighbour relation that the first event fixed, if any."""
        if self.near is None:
            return filter
        return replace(filter, neighbours=self.near)


def _worst(rows: Sequence[Used]) -> Used:
    """Return a row in which each amount is the largest of that amount in all rows."""
    columns = zip(*(used.amounts for used in rows), strict=True)
    amounts = tuple(max(column) for column in columns)
    leaked = max(used.leaked for used in rows)
    return Used(amounts, leaked, _worst_sum(rows))


def _worst_sum(rows: Sequence[Used]) -> tuple[Sum, ...]:
    """Return the field `added` of the worst row: the largest Σε.

    It is (None,) if some row has no usable sum, and empty if no row stores sums.
    """
    if not any(used.added for used in rows):
        return ()
    sums: list[Fraction] = []
    for used in rows:
        # A row without a sum admits nothing by the sum, so neither do all rows together.
        if not used.added or used.added[0] is None:
            return (None,)
        sums.append(used.added[0])
    return (max(sums),)


def count_for_part(event: Event) -> Event:
    """Return the event as the account of a part counts it: twice under "replace" (see `parts`)."""
    if event.neighbours == REPLACE:
        return Repeated(event, 2)
    return event


def _charge_together(
    rows: dict[str, Used],
    touched: Sequence[str],
    filter: Filter,  # noqa: A002
    event: Event,
) -> dict[str, Used]:
    """Return all rows after an event under "replace".

    The event is admitted by the tails of all parts, or by the sums of all parts; `parts` shows why
    a decision part by part is not sound. An event that only the sums admit exhausts every tail.
    """
    before = {name: used.under(filter) for name, used in rows.items()}
    # Rows that the event does not touch are asked too, at the price of nothing: a tail that is
    # exhausted in one part is exhausted for all.
    nothing = FilterPrice(tuple(Fraction() for _ in filter.capacity), Fraction(), Fraction())
    prices = dict.fromkeys(before, nothing)
    for name in touched:
        prices[name] = before[name].cost(event)
    paid = all(row.pays(prices[name]) for name, row in before.items())
    summed = all(row.sums(prices[name]) for name, row in before.items())
    for name in touched:
        keeps = before[name].keeps(prices[name])
        if keeps and (paid or summed):
            continue
        refusing = before[name]
        if keeps:
            # The amounts refuse, perhaps those of a part that the event does not touch.
            refusing = _worst(list(rows.values())).under(filter)
        raise exceeded(refusing, prices[name])
    after: dict[str, Used] = {}
    for name, used in rows.items():
        # From the first event that only the sums admit, all later ones go by the sums alone.
        after[name] = used if paid else used.full(filter)
    for name in touched:
        taken = before[name].taking(prices[name], event.neighbours, paid=paid)
        after[name] = rows[name].plus(before[name], taken, prices[name], paid=paid)
    return after


def _charge_row(used: Used, filter: Filter, event: Event) -> Used:  # noqa: A002
    """Return a row after an event; raise BudgetExceeded if `filter`, so far spent, refuses it."""
    before = used.under(filter)
    price = before.cost(event)
    after = before.after(event)
    paid = before.pays(price) and before.keeps(price)
    return used.plus(before, after, price, paid=paid)


def window_of(time: str, window: Window | None) -> str:
    """Return the start of the window that a time is in; empty text without windows.

    >>> from discreet.ledger.account import window_of
    >>> window_of("2026-05-14T09:30:00.000000Z", "month"), window_of("2026-05-14T09:30:00.000000Z", None)
    ('2026-05-01T00:00:00.000000Z', '')
    """
    if window is None:
        return ""
    start = window_start(read_time(time), window)
    return write_time(start)


def write_interval(interval: Interval) -> str:
    """Write an interval of numbered blocks as the name of a row; an open end is empty.

    >>> from math import inf
    >>> from discreet.ledger.account import read_interval, write_interval
    >>> write_interval((2974, inf)), read_interval("2974:")
    ('2974:', (2974, inf))
    """
    first, last = interval
    begin = "" if first == -inf else str(int(first))
    end = "" if last == inf else str(int(last))
    return f"{begin}:{end}"


def read_interval(name: str) -> Interval:
    """Read an interval from the name of a row."""
    begin, end = name.split(":")
    first = int(begin) if begin else -inf
    last = int(end) if end else inf
    return first, last


def fresh_account(filter: Filter, since: str, reach: Reach | None = None) -> Account:  # noqa: A002
    """Return an account on which nothing was spent."""
    added: tuple[Sum, ...] = (filter.added,) if filter.adds else ()
    if filter.adds and reach is not None:
        # On blocks the tail alone decides: None makes the sum of ε admit nothing.
        added = (None,)
    nothing = Used(filter.used, filter.leaked, added)
    return Account(since, filter.neighbours, nothing, reach=reach)


def _read_reach(data: object) -> Reach | None:
    match data:
        case None:
            return None
        case ["stays" | "most" as how, int(blocks)]:
            return how, blocks
    raise InvalidArgument("the blocks of an account are a word and a number")


@lru_cache(maxsize=1024)
def read_account(text: str) -> Account:
    """Read an account from its text, exactly.

    >>> from discreet.ledger.account import fresh_account, read_account
    >>> from discreet.privacy.filters.filter import open_filter
    >>> from discreet.privacy.measures import PureDP
    >>> account = fresh_account(open_filter(PureDP(1)), "")
    >>> read_account(account.text()) == account
    True

    Refuses: a text that is no account, with LedgerCorrupt.
    """
    try:
        data = json.loads(text)
        near = None if data["near"] is None else read_neighbours(data["near"])
        parts = [(name, _used_from_json(row)) for name, row in data["parts"].items()]
        since = str(data["since"])
        common = _used_from_json(data["common"])
        reach = _read_reach(data.get("reach"))
        if reach is not None:
            for name, _ in parts:
                read_interval(name)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "an account of this ledger cannot be read: it was torn or changed"
        ) from None
    # Names are unique in a JSON object, so amounts are never compared.
    return Account(since, near, common, tuple(sorted(parts)), reach)


def _used_to_json(used: Used) -> list[object]:
    """Write amounts as exact fractions: [[amount, …], leaked δ, Σε if kept]."""
    sums = [None if total is None else str(total) for total in used.added]
    amounts = [str(amount) for amount in used.amounts]
    return [amounts, str(used.leaked), *sums]


def _used_from_json(data: list[object]) -> Used:
    amounts, leaked, *added = data
    if not isinstance(amounts, list) or len(added) > 1:
        raise InvalidArgument("amounts are a list")
    sums = tuple(None if total is None else read_amount(total, "a sum") for total in added)
    exact = tuple(read_amount(amount, "an amount") for amount in amounts)
    return Used(exact, read_amount(leaked, "leaked"), sums)
