"""What the books are after a repair: of a clock that was set wrong, or of a file whose last entries were lost.

**A clock.** Entries were written under a clock that was ahead, so the ledger stands in a time that has not come. With a
window, what was charged then began a window too early, and the books of the true window were put away. After the
repair everything that was charged in this window or in one that has not come counts in this window; what no longer fits
into one budget fills it. So no spend is forgotten, and nothing is counted in a window that has passed.

**A loss.** Nobody knows what the lost entries have spent; it was at most all, so all of it counts as spent, until the
next window begins, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...arithmetic.canonical import canonical_json
from ...frozen import frozen, replace
from ..account import Account, fresh_account, window_of
from ..books import Books, read_event
from ..entry import Entry
from ..terms import Charter


@frozen
class CountedCharge:
    """A charge, or a loss, and the window that it counts in: that of its time, unless that time had not come."""

    since: str
    entry: Entry


def mended(
    books: Books, owners: Mapping[str, Account], made: Sequence[CountedCharge], entry: Entry
) -> tuple[Account, dict[str, Account], list[CountedCharge]]:
    """Return everyone's account, those of people, and the charges by window, after a repair."""
    terms = books.terms
    if entry.terms is not None and "lost" in entry.terms:
        full = books.everyone.at(entry.time, terms.window).filled(terms.filter)
        lost = (
            []
            if terms.window is None
            else [CountedCharge(window_of(entry.time, terms.window), entry)]
        )
        return full, dict(owners), [*made, *lost]
    if terms.window is None:
        return books.everyone, dict(owners), list(made)
    start = window_of(entry.time, terms.window)
    counted = [replace(one, since=min(one.since, start)) for one in made]
    present = [one.entry for one in counted if one.since == start]
    people = dict(owners)
    for who in {one.who for one in present if one.kind != "repair"}:
        people[who] = _again(terms, owners[who], start, [one for one in present if one.who == who])
    everyone = [
        one for one in present if one.kind == "charge"
    ]  # an `again` counts in its asker's account alone
    account = _again(terms, books.everyone, start, everyone)
    unknown = any(
        one.kind == "repair" for one in present
    )  # after a loss: what was spent is at most all
    return account.filled(terms.filter) if unknown else account, people, counted


def _again(terms: Charter, account: Account, start: str, charges: Sequence[Entry]) -> Account:
    """Count charges into one window, under the same relation of neighbours as before."""
    counted = replace(fresh_account(terms.filter, start), near=account.near)
    for charge in charges:
        part = None if charge.part is None else canonical_json(charge.part)
        counted = counted.noted(terms.filter, read_event(canonical_json(charge.event)), part)
    return counted
