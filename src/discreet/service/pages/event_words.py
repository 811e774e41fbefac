"""An event of a ledger in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

__all__ = ["event_words"]


def event_words(event: Mapping[str, object]) -> str:
    """Name an event; a batch by what is in it.

    >>> event_words({"event": "batch", "events": [{"event": "laplace-noise"}, {"event": "laplace-noise"}]})
    '2 × laplace noise'
    """
    inner = event.get("events")
    if not isinstance(inner, list):
        return str(event.get("event", "")).replace("-", " ")
    counts = Counter(event_words(one) for one in inner)
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())
