"""Composition: the price of several events together.

| the events are | the price is |
|---|---|
| Gaussian noise only, continuous or on a fine lattice | one Gaussian of μ² = Σμ² |
| known as (ε, δ)-DP only, or binary responses, all of one ε | exact: Kairouz, Oh, Viswanath |
| zCDP and Rényi promises only | the least of their own conversions |
| one release with a dominating pair of its own | the curve of that pair |
| anything else | the least of basic, advanced, optimal, zCDP, Rényi, Gaussian and numerical |

All prices are rounded up. All are sound when later questions depend on earlier answers, as long as
the events' parameters were fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..arithmetic.rational import Number, between_0_and_1
from .curve import Curve
from .events import Event
from .pricing.event_parts import flatten


def compose(events: Event | Iterable[Event], *, accuracy: Number = 1e-3) -> Curve:
    """Return the privacy curve of one event or of several, nested in any way.

    `accuracy` is the relative gap that the numerical accountant aims at between its upper and its
    lower bound.

    Guarantee: the price at every ε and δ is never below the true one: it is the least upper bound
        of all methods that price these events, rounded up.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> hundred = dp.compose([LaplaceNoise(scale=10, sensitivity=1)] * 100)
    >>> hundred.epsilon(delta=0)
    10.0

    Refuses: arguments that are no event, an empty list, events under different neighbour
    relations, and an accuracy outside (0, 1) (InvalidArgument).

    Law: tests/laws/test_laws_of_prices.py::TestSequentialComposition
    """
    hint = f", got {accuracy}; 1e-3 and 1e-4 are usual"
    gap = between_0_and_1(accuracy, "accuracy", hint)
    return Curve(flatten(events), float(gap))
