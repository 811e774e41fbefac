"""Short text of a ledger entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...ledger.entry import Entry
from ...privacy.filters.filter import Filter

_LIFE = {
    "close": "closed for good",
    "resume": "goes on here",
    "repair": "repaired by a steward",
    "upgrade": "brought forward to this release",
}


def entry_words(entry: Entry) -> str:
    """Return what an entry did: the event that was charged, the allowance that was given, the charge that was ended.

    >>> import discreet as dp
    >>> from discreet.service.pages.entry_text import entry_words
    >>> entry_words(dp.Entry(3, "answer", "", refers=2))
    'of 2'
    >>> entry_words(dp.Entry(4, "allow", "", terms={"allowance": None}))
    'allowance withdrawn'
    >>> entry_words(dp.Entry(5, "again", "", refers=2))
    'the question of entry 2, in the own account only'
    >>> entry_words(dp.Entry(6, "close", "", terms={"to": "new.ledger"}))
    'closed for good, goes on as new.ledger'
    """
    if entry.kind == "again":
        return f"the question of entry {entry.refers}, in the own account only"
    if entry.event is not None:
        return event_words(entry.event)
    if entry.kind == "allow" and entry.terms is not None:
        share = entry.terms.get("allowance")
        return (
            "allowance withdrawn"
            if share is None
            else f"at most {Filter.from_json(share).promise()}"
        )
    if entry.kind in _LIFE:
        return _LIFE[entry.kind] + _place(entry.terms or {})
    return "" if entry.refers is None else f"of {entry.refers}"


def _place(terms: Mapping[str, object]) -> str:
    """Say where a ledger went or came from, if that is written down."""
    words = {"to": ", goes on as", "from": ", from"}
    return "".join(f"{said} {terms[name]}" for name, said in words.items() if terms.get(name))


def event_words(event: Mapping[str, object]) -> str:
    """Name an event; a batch by what is in it.

    >>> from discreet.service.pages.entry_text import event_words
    >>> event_words({"event": "batch", "events": [{"event": "laplace-noise"}, {"event": "laplace-noise"}]})
    '2 × laplace noise'
    """
    inner = event.get("events")
    if not isinstance(inner, list):
        return str(event.get("event", "")).replace("-", " ")
    counts = Counter(event_words(one) for one in inner)
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())
