"""One release by itself: its curve is that of its pair, read both ways, the worse of both directions at every ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ..events import Event
from .lazy_numerical import pairs_of, parts_of

if TYPE_CHECKING:
    from ..pairs.loss_masses import Directions, LossPair

Price: TypeAlias = Callable[[float], float]

_FAR = 700.0  # beyond, e^ε leaves the floats, and not every curve is followed further


def single_prices(atom: Event) -> tuple[tuple[Price, Price], tuple[Price, Price]] | None:
    """Return (ε of δ, δ of ε) from above and from below for an event with a pair of its own; None if it has none.

    >>> from discreet.privacy import DiscreteLaplaceNoise
    >>> from discreet.privacy.accountants.single import single_prices
    >>> (epsilon, delta), _ = single_prices(DiscreteLaplaceNoise(scale=1, sensitivity=1))
    >>> round(delta(0.5), 9), round(epsilon(delta(0.5)), 9)
    (0.287649137, 0.5)
    """
    try:
        inner = parts_of(atom)
        pairs = pairs_of(inner[0][0]) if [times for _, times in inner] == [1] else None
    except InvalidArgument:  # replacing a unit within one part has no known price for every event
        pairs = None
    if pairs is None:
        return None
    limit = _limit(pairs)

    def upper(epsilon: float) -> float:
        return max(pair.delta(_within(pair, epsilon)) for pair in (pairs.remove, pairs.add))

    def lower(epsilon: float) -> float:
        return max(pair.lower_delta(_within(pair, epsilon)) for pair in (pairs.remove, pairs.add))

    above = (lambda delta: _invert(upper, delta, limit)[1]), upper
    return above, ((lambda delta: _invert(lower, delta, limit)[0]), lower)


def _within(pair: LossPair, epsilon: float) -> float:
    """Return ε, or the largest loss where that is less: beyond it the curve is flat, and its formulas may overflow."""
    return epsilon if pair.limit is None else min(epsilon, up(float(pair.limit)))


def _limit(pairs: Directions) -> float | None:
    if pairs.remove.limit is None or pairs.add.limit is None:
        return None
    return float(max(pairs.remove.limit, pairs.add.limit))


def _invert(curve: Price, delta: float, limit: float | None) -> tuple[float, float]:
    """Close in on the ε where a falling curve reaches δ: above δ at the first, not above at the second.

    A curve that stays above δ, because more than δ is shown outright, has no such ε: infinite at the second.
    """
    if curve(0.0) <= delta:
        return 0.0, 0.0
    if limit is not None and curve(limit) > delta:
        return limit, math.inf

    def excess(epsilon: float) -> float:
        price = curve(epsilon)
        return math.log(price / delta) if price > 0 else -math.inf

    try:
        low, high = bracket(excess, 1.0) if limit is None else (0.0, limit)
    except InvalidArgument:
        return _FAR, math.inf
    return crossing(excess, low, high)
