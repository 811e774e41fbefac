"""History of one analyst: the own ledger entries, without references to what others have asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import get_args

from ..ledger import Entry, History
from ..ledger.entry import EntryKind
from .context import CuratorContext


def history_of(
    context: CuratorContext, who: str, last: int | None, kinds: Collection[str] | None = None
) -> History:
    """List an analyst's entries, all or of some kinds.

    If questions are not shared, each entry is shown as `own_view` returns it. Entries "answer" are left
    out then: they follow the analyst's own runs alone, and so tell whether a colleague had asked first.
    """
    if context.share_questions:
        return context.ledger.history(who, last, kinds=kinds)
    seen = [kind for kind in get_args(EntryKind) if kind != "answer"]
    if kinds is not None:
        seen = [kind for kind in seen if kind in kinds]
    history = context.ledger.history(who, last, kinds=seen)
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
