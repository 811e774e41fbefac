"""History of one analyst: the own ledger entries, without references to what others have asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..ledger import Entry, History
from .context import CuratorContext


def history_of(
    context: CuratorContext, who: str, last: int | None, kinds: Collection[str] | None = None
) -> History:
    """List an analyst's entries, all or of some kinds.

    If questions are not shared, each entry is shown as `own_view` returns it.
    """
    history = context.ledger.history(who, last, kinds=kinds)
    if context.share_questions:
        return history
    return replace(history, entries=tuple(map(own_view, history)))


def own_view(entry: Entry) -> Entry:
    """Return an entry without its place among those of others.

    A question that a colleague asked first (`again`) looks like any other charge. The hash is still that
    of the line in the ledger, as it stands in the receipt.

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
