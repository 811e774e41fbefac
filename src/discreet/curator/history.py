"""History of one analyst: their ledger entries, without references to what others have asked.

Entries have the ledger's numbers, or in a service numbers of the analyst's own: as if the ledger
had been opened for this analyst alone.

Where the steward lets analysts share questions, the entries are shown as the ledger holds them.

Law: tests/service/test_beside_a_colleague.py
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import TYPE_CHECKING, get_args

from ..frozen import field, frozen, replace
from ..ledger import Entry, History, Ledger
from ..ledger.entry import EntryKind
from ..ledger.review.history import OWN_KINDS

if TYPE_CHECKING:
    from .context import CuratorContext

FIRST_OWN = 2
"""Own number of an analyst's first entry: the first entry of a ledger opens it."""


@frozen
class EntryNumbers:
    """Numbers of entries as their analyst is told them; with `own` the analyst's own.

    The numbers of the ledger tell how much others have asked between two questions. `known` caches
    the ledger's numbers of each analyst's entries, which only grow.
    """

    ledger: Ledger
    own: bool = False
    known: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The word with which a receipt says whose numbers it has; "" for the ledger's."""
        if self.own:
            return "own"
        return ""

    def of(self, entry: Entry) -> int:
        """Return the number of an entry as its analyst is told it."""
        if not self.own:
            return entry.number
        numbers = self._numbers(entry.who, entry.number)
        return bisect_left(numbers, entry.number) + FIRST_OWN

    def in_ledger(self, who: str, number: int) -> int:
        """Return the ledger's number of an entry from the number that its analyst was told; 0 if none."""
        if not self.own:
            return number
        place = number - FIRST_OWN
        numbers = self._numbers(who, 0)
        if place >= len(numbers):
            # Other processes write to the ledger too: it is asked again before a number is unknown.
            del self.known[who]
            numbers = self._numbers(who, 0)
        if 0 <= place < len(numbers):
            return numbers[place]
        return 0

    def _numbers(self, who: str, least: int) -> list[int]:
        """Return the ledger's numbers of an analyst's entries, at least up to `least`."""
        numbers = self.known.get(who, [])
        last = max(numbers, default=0)
        if not numbers or last < least:
            numbers = [*numbers, *self.ledger.own_numbers(who, last)]
            self.known[who] = numbers
        return numbers


def history_of(
    context: CuratorContext, who: str, last: int | None, kinds: Collection[str] | None = None
) -> History:
    """List an analyst's entries, the last `last` of them or all, of some kinds or of all.

    If questions are not shared, each entry is shown as `own_view` returns it. Entries of kind
    "answer" are left out then: only the analyst's own runs have one, so a missing one would tell
    that a colleague had asked first. With own numbers the budget is the analyst's, not that of all.
    """
    ledger = context.ledger
    if context.share_questions:
        return ledger.history(who, last, kinds=kinds)
    numbers = context.numbers
    seen = get_args(EntryKind)
    if numbers.own:
        seen = OWN_KINDS
    listed = [kind for kind in seen if kind != "answer" and (kinds is None or kind in kinds)]
    history = ledger.history(who, last, kinds=listed)
    filter_shown = history.filter
    if numbers.own:
        filter_shown = ledger.filter(who)
    told = {entry.number: numbers.of(entry) for entry in history}
    entries = [replace(own_view(entry), number=told[entry.number]) for entry in history]
    return replace(
        history,
        entries=tuple(entries),
        filter=filter_shown,
        asked={told[number]: text for number, text in history.asked.items()},
        prices={told[number]: text for number, text in history.prices.items()},
    )


def own_view(entry: Entry) -> Entry:
    """Return an entry without the fields that tell of other analysts' entries.

    An entry of kind "again" (a colleague had asked the question first) looks like any other
    charge. The fields `previous` and `books` are emptied. The hash is still that of the ledger's
    line, as the receipt states it.

    >>> import discreet as dp
    >>> from discreet.curator.history import own_view
    >>> own_view(dp.Entry(5, "again", "", who="bob", refers=2)) == own_view(dp.Entry(5, "charge", "", who="bob"))
    True
    """
    # `previous` and `books` change with every entry of others, so they would tell of them.
    seen = replace(entry, previous="", books="")
    if entry.kind == "again":
        return replace(seen, kind="charge", refers=None)
    return seen
