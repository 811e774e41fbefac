"""Group privacy of events: an event whose price is a promise to several units together."""

from __future__ import annotations

from ...arithmetic.rational import whole
from ..events import Event
from .boxes import approx_measure
from .gdp import gaussian_measure
from .group import group_promise, regrouped, stated_measure
from .pure import pure_measure
from .zcdp import zcdp_measure


def group_event(event: Event, size: int) -> Event:
    """Restate an event for groups of `size` units, by an event at least as bad for the group.

    Additive noise meets K times the sensitivity (exactly: the answer moves K times as far). The
    log-odds of an exponential selection move K times as far. A composition is the composition of
    the grouped events. Anything else is known to the group only by its promise.

    >>> from discreet.privacy import group_event
    >>> from discreet.privacy.events import LaplaceNoise
    >>> group_event(LaplaceNoise(2, 1), 3).sensitivity
    Fraction(3, 1)

    Guarantee: the price of the returned event is a promise to every group of `size` units.

    Refuses: InvalidArgument for an event without a known pure, Gaussian, zCDP or (ε, δ) promise.

    Law: tests/privacy/test_group.py::TestEvents
    """
    checked_size = whole(size, "size", least=1)
    if checked_size == 1:
        return event
    return regrouped(event, checked_size, _group_promise)


def _group_promise(event: Event, size: int) -> Event:
    """Promise in the strongest measure in which a promise of the event is known."""
    return group_promise(
        event, size, pure_measure, stated_measure, gaussian_measure, zcdp_measure, approx_measure
    )
