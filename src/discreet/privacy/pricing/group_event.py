"""Events for groups: what several units together are exposed to."""

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
    """Restate an event for groups of `size` units: an event at least as bad as what the group is exposed to.

    Additive noise meets K times the sensitivity (exactly: the answer moves K times); the log-odds of an exponential
    selection move K times; a composition is the composition of the grouped events. Anything else is known to the
    group only by its promise.

    >>> from discreet.privacy import group_event
    >>> from discreet.privacy.events import LaplaceNoise
    >>> group_event(LaplaceNoise(2, 1), 3).sensitivity
    Fraction(3, 1)

    Refuses an event of which neither a pure, zCDP nor Gaussian promise is known.
    """
    k = whole(size, "size", least=1)
    if k == 1:
        return event
    return regrouped(event, k, _promised)


def _promised(event: Event, k: int) -> Event:
    measure: Measure | None = None
    if (pure := price_pure(event)) is not None:
        measure = group_privacy(PureDP(pure), k)
    elif isinstance(event, Promise):
        measure = group_privacy(event.measure, k)
    elif (square := price_gdp(event)) is not None:
        measure = group_privacy(GaussianDP.of_square(square), k)
    elif (rho := price_zcdp(event)) is not None:
        measure = group_privacy(ZCDP(rho), k)
    elif (box := price_approx(event)) is not None:
        measure = group_privacy(ApproxDP(*box), k)
    if measure is None:
        raise no_promise(event, k)
    return Promise(measure, neighbours=event.neighbours)
