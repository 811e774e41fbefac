"""Books after a repair: of a clock that was wrong, or of a file whose last entries were lost.

**A clock.** Entries were written under a clock that was ahead, so the last entry has a time in the
future. With windows, charges then began a window too early, and the books of the true window were
dropped. After the repair all charges of the present window and of windows in the future count in
the present one. If together they do not fit, the whole budget of the window counts as spent. So no
spending is forgotten, and no charge is moved to a window that has passed.

**A loss.** Nobody knows what the lost entries have spent. It was at most the whole budget, so the
whole budget counts as spent, until the next window begins, if there is one.

Law: tests/ledger/test_life.py::TestAClockThatWasWrong,
tests/ledger/test_life.py::TestEntriesThatWereLost,
tests/ledger/test_life.py::test_a_loss_is_not_forgotten_by_a_repair_of_the_clock
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...arithmetic.canonical import canonical_json
from ...frozen import frozen, replace
from ..account import Account, fresh_account, window_of
from ..books import Books, read_event
from ..entry import Entry
from ..terms import Charter


@frozen
class CountedCharge:
    """Entry of a charge, an `again` or a loss, and the start `since` of the window it counts in."""

    since: str
    entry: Entry


Repaired: TypeAlias = tuple[Account, dict[str, Account], list[CountedCharge]]
"""Everyone's account, the accounts of people, and the counted charges."""


def repair_books(
    books: Books, owners: Mapping[str, Account], made: Sequence[CountedCharge], entry: Entry
) -> Repaired:
    """Return everyone's account, the accounts of people, and the counted charges after a repair.

    `entry` is the `repair` entry, `owners` the accounts by person, `made` the charges so far with
    the windows that they count in.
    """
    if entry.terms is not None and "lost" in entry.terms:
        return _after_loss(books, owners, made, entry)
    terms = books.terms
    if terms.window is None:
        # Without windows time decides nothing, so the accounts stay as they are.
        return books.everyone, dict(owners), list(made)
    start = window_of(entry.time, terms.window)
    # Charges of windows that have not come move back to the present one; older ones stay.
    counted = [replace(charge, since=min(charge.since, start)) for charge in made]
    present = [charge.entry for charge in counted if charge.since == start]
    people = dict(owners)
    for who in {charge.who for charge in present if charge.kind != "repair"}:
        own = [charge for charge in present if charge.who == who]
        people[who] = _recount(terms, owners[who], start, own)
    # An `again` counts in the account of its asker alone, so only charges count for everyone.
    charges = [charge for charge in present if charge.kind == "charge"]
    everyone = _recount(terms, books.everyone, start, charges)
    if any(charge.kind == "repair" for charge in present):
        # A loss in this window stays: unknown spending is at most the whole budget.
        everyone = everyone.filled(terms.filter)
    return everyone, people, counted


def _after_loss(
    books: Books, owners: Mapping[str, Account], made: Sequence[CountedCharge], entry: Entry
) -> Repaired:
    """Return the accounts after a loss: the whole budget of the present window is spent."""
    terms = books.terms
    full = books.everyone.at(entry.time, terms.window).filled(terms.filter)
    counted = list(made)
    if terms.window is not None:
        # Recorded beside the charges, so that a later repair of the clock does not forget it.
        counted.append(CountedCharge(window_of(entry.time, terms.window), entry))
    return full, dict(owners), counted


def _recount(terms: Charter, account: Account, start: str, charges: Sequence[Entry]) -> Account:
    """Count charges into one window, under the same relation of neighbours as before."""
    counted = replace(fresh_account(terms.filter, start), near=account.near)
    for charge in charges:
        part = None if charge.part is None else canonical_json(charge.part)
        event = read_event(canonical_json(charge.event))
        # `noted` never refuses: charges that do not fit fill the account.
        counted = counted.noted(terms.filter, event, part)
    return counted
