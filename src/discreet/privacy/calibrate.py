"""Calibration: given two of privacy, noise and queries, find the third, and check it from the safe side.

fits(events, budget)                   is the price within the budget?
least_scale(make, budget, start=…)     least noise
largest(make, budget, start=…)         largest parameter that costs more as it grows (an ε per query)
most_queries(event, budget)            most repetitions
least_budget(events, delta=…)          what it costs
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain
from typing import assert_never

from ..arithmetic.rational import Number, positive
from ..arithmetic.root_finder import bracket, crossing
from ..errors import InvalidArgument
from .curve import Curve, read_delta
from .events import Event, Repeated
from .measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP, read_measure
from .pricing.boxes import price_approx
from .pricing.event_parts import Flattened, flatten
from .pricing.gdp import price_gdp
from .pricing.pure import price_pure
from .pricing.rdp import price_order
from .pricing.zcdp import price_zcdp

_TIGHT = 2.0**-45
_MOST = 2**60


def fits(events: Event | Iterable[Event], budget: Measure) -> bool:
    """Return whether the events together keep the promise; sums of exact amounts are compared exactly.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise, fits
    >>> fits([LaplaceNoise(20, 1)] * 20, dp.PureDP(1)), fits([LaplaceNoise(20, 1)] * 21, dp.PureDP(1))
    (True, False)

    Refuses what is no event and no budget.
    """
    return excess(flatten(events), read_measure(budget)) <= 0


def excess(parts: Flattened, budget: Measure) -> float:
    """Return ln(price/budget): above 0 exactly when the events do not fit."""
    match budget:
        case PureDP():
            return _ratio(price_pure(parts), budget.epsilon)
        case ApproxDP():
            return _approximate(parts, budget)
        case ZCDP():
            return _ratio(price_zcdp(parts), budget.rho)
        case GaussianDP():
            return _ratio(price_gdp(parts), budget.squared)
        case RenyiDP():
            return max(_ratio(price_order(parts, a), e) for a, e in budget.orders)
        case _:
            assert_never(budget)


def _approximate(parts: Flattened, budget: ApproxDP) -> float:
    if budget.delta == 0:
        return _ratio(price_pure(parts), budget.epsilon)
    box = price_approx(parts)
    if box is not None and box[0] <= budget.epsilon and box[1] <= budget.delta:
        return max(_ratio(box[0], budget.epsilon), _ratio(box[1], budget.delta))
    return _ratio(Fraction(Curve(parts).delta(budget.epsilon)), budget.delta)


def _ratio(price: Fraction | None, amount: Fraction) -> float:
    """Return the logarithm of price/amount with the sign of the exact comparison."""
    if price is None:
        return math.inf
    if price <= amount:
        return min(0.0, _log(price) - _log(amount)) if price else -math.inf
    return max(5e-324, _log(price) - _log(amount)) if amount else math.inf


def _log(amount: Fraction) -> float:
    return math.log(amount.numerator) - math.log(amount.denominator)


def least_scale(make: Callable[[Fraction], Event], budget: Measure, *, start: Number) -> Fraction:
    """Find the least noise scale whose event fits the budget, within 1e-13, never below the true one.

    `make` turns a scale into an event whose price falls as the scale grows; `start` is any rough guess. The result is
    the simplest fraction in the final bracket, so a scale that is exactly 20 comes out as 20, and it is checked again.

    >>> import discreet as dp
    >>> from discreet.privacy import GaussianNoise, LaplaceNoise, least_scale
    >>> least_scale(lambda b: LaplaceNoise(b, 1), dp.PureDP("1/20"), start=1)
    Fraction(20, 1)
    >>> round(float(least_scale(lambda s: GaussianNoise.of(s, 1), dp.ApproxDP(1, "1e-6"), start=1)), 9)
    4.224678889

    Refuses a budget that no amount of noise can keep, such as PureDP for Gaussian noise.
    """
    read_measure(budget)

    def at(scale: float) -> float:
        return excess(flatten(make(Fraction(scale))), budget)

    first = float(positive(start, "start"))
    low, high = bracket(
        at, first, min(first * 1e60, 1e300)
    )  # beyond, no budget that is kept at all is kept
    if low == 0:
        raise InvalidArgument(
            "every scale fits: the price does not grow as the noise shrinks; check `make`"
        )
    low, high = crossing(at, low, high, relative=_TIGHT)
    roof = Fraction(high * (1 + _TIGHT))
    simple = (
        _simplest(Fraction(math.nextafter(low, math.inf)), roof),
        _simplest(Fraction(high), roof),
    )
    return next(s for s in chain(simple, _upwards(high)) if fits(make(s), budget))


def _upwards(scale: float) -> Iterator[Fraction]:
    """Step up from a scale: needed only where `make` rounds its own parameters and the price is not quite monotone."""
    step = 0.0
    while True:
        yield Fraction(scale * (1 + step))
        step = 2 * step or 2.0**-47


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Find the fraction of least denominator from low to high, both positive, by continued fractions."""
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def largest(make: Callable[[Fraction], Event], budget: Measure, *, start: Number) -> Fraction:
    """Find the largest parameter that fits the budget, one that costs more as it grows; never above the true one.

    >>> import discreet as dp
    >>> from discreet.privacy import ExponentialSelection, Repeated, largest
    >>> each = largest(lambda e: Repeated(ExponentialSelection(e), 100), dp.ApproxDP(1, "1e-6"), start=0.1)
    >>> 0.03 < each < 0.06
    True
    """
    return 1 / least_scale(
        lambda scale: make(1 / scale), budget, start=1 / positive(start, "start")
    )


def most_queries(event: Event, budget: Measure) -> int:
    """Count how often the event may be repeated within the budget; 0 if not even once.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> dp.most_queries(LaplaceNoise(20, 1), dp.PureDP(1)), dp.most_queries(LaplaceNoise(1, 1), dp.PureDP("1/2"))
    (20, 0)

    Refuses an event that costs nothing: there is no most.
    """
    low, high = 0, 1
    while fits(Repeated(event, high), budget):
        low, high = high, 2 * high
        if high > _MOST:
            raise InvalidArgument(
                "the event costs nothing under this budget, so there is no largest number of queries"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(Repeated(event, middle), budget) else (low, middle)
    return low


def least_budget(events: Event | Iterable[Event], *, delta: Number = 0) -> PureDP | ApproxDP:
    """Return the least budget the events fit: PureDP at δ = 0, else ApproxDP at the given δ, rounded up.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> dp.least_budget([LaplaceNoise(20, 1)] * 20)
    PureDP(1)

    Refuses δ = 0 for events that are not pure.
    """
    parts, exact = flatten(events), read_delta(delta)
    if exact == 0:
        pure = price_pure(parts)
        if pure is None:
            raise InvalidArgument(
                "these events keep no pure promise; give a delta above 0, such as 1e-6"
            )
        return PureDP(pure)
    price = Curve(parts).epsilon(exact)
    if not math.isfinite(price):
        raise InvalidArgument(
            f"these events keep no promise at delta = {delta}; give a larger delta"
        )
    return ApproxDP(Fraction(price), exact)
