"""How much of a budget is spent, as a share of it."""

from __future__ import annotations

from ..privacy.filters.filter import Filter

__all__ = ["share_of"]


def share_of(filter: Filter) -> float:  # noqa: A002 that is what it is
    """Return the largest share spent of any amount that a filter counts.

    >>> from discreet.ledger.share import share_of
    >>> from discreet.privacy.filters.filter import open_filter
    >>> from discreet.privacy.measures import PureDP
    >>> share_of(open_filter(PureDP(1)))
    0.0
    """
    pairs = [*zip(filter.used, filter.capacity, strict=True), (filter.leaked, filter.terms.delta)]
    return max((float(used / most) for used, most in pairs if most), default=0.0)
