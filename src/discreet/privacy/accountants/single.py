"""Price of one release by itself: the curve of its dominating pair, ε of δ and δ of ε.

The curve is evaluated in closed form, with upper and lower bounds. At every ε the worse of the two
directions (a unit is removed, or added) counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ..events import Event
from .lazy_numerical import pairs_of, parts_of

if TYPE_CHECKING:
    from ..loss.loss_masses import Directions, LossPair

Price: TypeAlias = Callable[[float], float]

_FAR = 700.0
"""Loss beyond which e^ε leaves the floats, and not every curve is followed further."""


class Prices(NamedTuple):
    """Price functions of one curve: ε of δ, and δ of ε."""

    epsilon: Price
    delta: Price


def single_prices(atom: Event) -> tuple[Prices, Prices] | None:
    """Return price functions from above and from below for an event with a pair of its own.

    None if the event has no such pair.

    Guarantee: the first prices are never below the pair's curve, the second never above it.

    Law: tests/privacy/test_curve.py::TestEveryKind

    >>> from discreet.privacy import DiscreteLaplaceNoise
    >>> from discreet.privacy.accountants.single import single_prices
    >>> (epsilon, delta), _ = single_prices(DiscreteLaplaceNoise(scale=1, sensitivity=1))
    >>> round(delta(0.5), 9), round(epsilon(delta(0.5)), 9)
    (0.287649137, 0.5)
    """
    pairs = _own_pairs(atom)
    if pairs is None:
        return None
    remove = pairs.remove
    add = pairs.add
    limit = _limit(pairs)

    def upper_delta(epsilon: float) -> float:
        by_removing = remove.delta(_within(remove, epsilon))
        by_adding = add.delta(_within(add, epsilon))
        return max(by_removing, by_adding)

    def lower_delta(epsilon: float) -> float:
        by_removing = remove.lower_delta(_within(remove, epsilon))
        by_adding = add.lower_delta(_within(add, epsilon))
        return max(by_removing, by_adding)

    def upper_epsilon(delta: float) -> float:
        # The side of the crossing where the upper curve is not above δ: the promise holds there.
        return _invert(upper_delta, delta, limit)[1]

    def lower_epsilon(delta: float) -> float:
        # The side where even the lower curve is above δ: no smaller ε can be promised.
        return _invert(lower_delta, delta, limit)[0]

    above = Prices(upper_epsilon, upper_delta)
    below = Prices(lower_epsilon, lower_delta)
    return above, below


def _own_pairs(atom: Event) -> Directions | None:
    """Return the dominating pairs of an event that has its own; None for all other events."""
    try:
        parts = parts_of(atom)
        if [times for _, times in parts] != [1]:
            return None
        return pairs_of(parts[0][0])
    except InvalidArgument:
        # Replacing a unit within one part has no known price for every event.
        return None


def _within(pair: LossPair, epsilon: float) -> float:
    """Return ε, or the largest loss where that is less.

    Beyond the largest loss the curve is flat, and its formulas may overflow.
    """
    if pair.limit is None:
        return epsilon
    return min(epsilon, up(float(pair.limit)))


def _limit(pairs: Directions) -> float | None:
    """Return the largest loss of both directions; None if either has none."""
    if pairs.remove.limit is None or pairs.add.limit is None:
        return None
    return float(max(pairs.remove.limit, pairs.add.limit))


def _invert(curve: Price, delta: float, limit: float | None) -> tuple[float, float]:
    """Close in on the ε where a falling curve reaches δ.

    The curve is above δ at the first ε, not above at the second. A curve that stays above δ,
    because more than δ is shown outright, has no such ε: the second one is infinite.
    """
    if curve(0.0) <= delta:
        return 0.0, 0.0
    if limit is not None and curve(limit) > delta:
        return limit, math.inf

    def excess(epsilon: float) -> float:
        price = curve(epsilon)
        return math.log(price / delta) if price > 0 else -math.inf

    if limit is not None:
        return crossing(excess, 0.0, limit)
    try:
        low, high = bracket(excess, 1.0)
    except InvalidArgument:
        return _FAR, math.inf
    return crossing(excess, low, high)
