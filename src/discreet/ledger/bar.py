"""How much of a budget is spent, drawn in characters."""

from __future__ import annotations

from ..privacy.filters.filter import Filter

__all__ = ["bar", "share_of"]

WIDE = 20


def bar(share: float) -> str:
    """Draw a share; anything spent shows, and only a full bar is full.

    >>> from discreet.ledger.bar import bar
    >>> bar(0.25), bar(1e-9), bar(0.999999)
    ('█████░░░░░░░░░░░░░░░ 25 %', '█░░░░░░░░░░░░░░░░░░░ 1 %', '███████████████████░ 99 %')
    """
    full = WIDE if share >= 1 else min(WIDE - 1, max(int(WIDE * share), 1 if share > 0 else 0))
    percent = 100 if share >= 1 else min(99, max(round(100 * share), 1 if share > 0 else 0))
    return f"{'█' * full}{'░' * (WIDE - full)} {percent} %"


def share_of(filter: Filter) -> float:  # noqa: A002 that is what it is
    """Return the largest share spent of any amount that a filter counts.

    >>> from discreet.ledger.bar import share_of
    >>> from discreet.privacy.filters.filter import open_filter
    >>> from discreet.privacy.measures import PureDP
    >>> share_of(open_filter(PureDP(1)))
    0.0
    """
    pairs = [*zip(filter.used, filter.capacity, strict=True), (filter.leaked, filter.terms.delta)]
    return max((float(used / most) for used, most in pairs if most), default=0.0)
