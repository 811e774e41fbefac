"""Composition: what several events cost together.

| the events are | the price is |
|---|---|
| Gaussian noise only, continuous | exact: one Gaussian of μ² = Σμ² |
| one continuous Laplace release | exact, in closed form |
| boxes, randomized responses of one ε | exact: Kairouz, Oh, Viswanath |
| anything else | the least of basic, advanced, optimal, zCDP, Rényi, Gaussian and numerical |

All are sound when later questions depend on earlier answers, as long as the events' parameters were fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .curve import Curve
from .events import Event
from .pricing.event_parts import flatten


def compose(events: Event | Iterable[Event], *, accuracy: Number = 1e-3) -> Curve:
    """Return the privacy curve of one event or of several, nested in any way: the tightest sound price.

    `accuracy` is the relative gap that the numerical engine aims at between its upper and its lower bound.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> hundred = dp.compose([LaplaceNoise(scale=10, sensitivity=1)] * 100)
    >>> hundred.epsilon(delta=0)
    10.0

    Refuses what is no event, an empty list, events under different neighbour relations, and an accuracy outside (0, 1).
    """
    gap = rational(accuracy, "accuracy")
    if not 0 < gap < 1:
        raise InvalidArgument(
            f"accuracy must lie between 0 and 1, got {accuracy}; 1e-3 and 1e-4 are usual"
        )
    return Curve(flatten(events), float(gap))
