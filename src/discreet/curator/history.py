"""History of one analyst: their ledger entries, without references to what others have asked.

Where the steward lets analysts share questions, the entries are shown as the ledger holds them.
"""

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
    """List an analyst's entries, the last `last` of them or all, of some kinds or of all.

    If questions are not shared, each entry is shown as `own_view` returns it. Entries of kind
    "answer" are left out then: only the analyst's own runs have one, so a missing one would tell
    that a colleague had asked first.
    """
    if context.share_questions:
        return context.ledger.history(who, last, kinds=kinds)
    seen = [kind for kind in get_args(EntryKind) if kind != "answer"]
    if kinds is not None:
        seen = [kind for kind in seen if kind in kinds]
    history = context.ledger.history(who, last, kinds=seen)
    return replace(history, entries=tuple(map(own_view, history)))


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
