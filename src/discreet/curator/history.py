"""The entries of one analyst as this analyst may see them: none of them refers to what others have asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..ledger import Entry, History
from .context import CuratorContext


def history_of(
    stand: CuratorContext, who: str, last: int | None, kinds: Collection[str] | None = None
) -> History:
    """List somebody's entries, all or of some kinds; where questions are not shared, each as `own_view` gives it."""
    found = stand.ledger.history(who, last, kinds=kinds)
    return found if stand.share_questions else replace(found, entries=tuple(map(own_view, found)))


def own_view(entry: Entry) -> Entry:
    """Return an entry without its place among those of others; a question that was asked again is a charge like any.

    Its hash is still that of the line in the ledger, as it stands in the receipt.

    >>> import discreet as dp
    >>> from discreet.curator.history import own_view
    >>> own_view(dp.Entry(5, "again", "", who="bob", refers=2)) == own_view(dp.Entry(5, "charge", "", who="bob"))
    True
    """
    seen = replace(entry, previous="", books="")
    return replace(seen, kind="charge", refers=None) if entry.kind == "again" else seen
