"""Group privacy of events: an event that bounds the exposure of several units together."""

from __future__ import annotations

from ...arithmetic.rational import whole
from ..events import Event, Promise
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from .boxes import price_approx
from .gdp import price_gdp
from .group import group_privacy, no_promise, regrouped
from .pure import price_pure
from .zcdp import price_zcdp


def group_event(event: Event, size: int) -> Event:
    """Restate an event for groups of `size` units, by an event at least as bad for the group.

    Additive noise meets K times the sensitivity (exactly: the answer moves K times). The log-odds
    of an exponential selection move K times. A composition is the composition of the grouped
    events. Anything else is known to the group only by its promise.

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
    measure = _measure_of(event)
    if measure is None:
        raise no_promise(event, size)
    return Promise(group_privacy(measure, size), neighbours=event.neighbours)


def _measure_of(event: Event) -> Measure | None:
    """Return a promise of the event, in the strongest measure in which one is known."""
    pure = price_pure(event)
    if pure is not None:
        return PureDP(pure)
    if isinstance(event, Promise):
        return event.measure
    square = price_gdp(event)
    if square is not None:
        return GaussianDP.of_square(square)
    rho = price_zcdp(event)
    if rho is not None:
        return ZCDP(rho)
    box = price_approx(event)
    if box is not None:
        return ApproxDP(*box)
    return None
