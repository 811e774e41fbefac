"""Calibration: given two of privacy, noise and number of queries, find the third.

| function | result |
|---|---|
| fits(events, budget) | whether the price is within the budget |
| least_scale(make, budget, start=…) | least noise scale that fits the budget |
| largest(make, budget, start=…) | largest parameter that fits, such as an ε per query |
| most_queries(event, budget) | largest number of repetitions that fits |
| least_budget(events, delta=…) | least budget that fits: the price at this δ, rounded up |

Guarantee: the results of `least_scale`, `largest` and `most_queries` were checked by `fits`, so
they keep the budget.

Law: tests/laws/test_laws_of_prices.py::TestCalibration
"""

from __future__ import annotations

import math
from bisect import bisect_left
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

# Relative width of the final bracket of a scale: 3e-14.
_SCALE_TOLERANCE = 2.0**-45
# Beyond this many queries an event is taken to cost nothing.
_MAX_QUERIES = 2**60
# Least positive float: a logarithm that must not round to 0.
_LEAST_FLOAT = 5e-324


def fits(events: Event | Iterable[Event], budget: Measure) -> bool:
    """Return whether the events together keep the promise, by their price, an upper bound.

    Sums of exact amounts are compared exactly.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise, fits
    >>> noise = LaplaceNoise(20, 1)
    >>> fits([noise] * 20, dp.PureDP(1)), fits([noise] * 21, dp.PureDP(1))
    (True, False)

    Refuses: InvalidArgument for other objects than events and budgets.

    Law: tests/privacy/test_calibrate.py::TestFits
    """
    return excess(flatten(events), read_measure(budget)) <= 0


def excess(parts: Flattened, budget: Measure) -> float:
    """Return ln(price/budget): above 0 exactly when the events do not fit.

    It is −∞ for events that cost nothing and ∞ for events without a price in this measure.
    """
    match budget:
        case PureDP():
            return _log_ratio(price_pure(parts), budget.epsilon)
        case ApproxDP():
            return _approximate_excess(parts, budget)
        case ZCDP():
            return _log_ratio(price_zcdp(parts), budget.rho)
        case GaussianDP():
            return _log_ratio(price_gdp(parts), budget.squared)
        case RenyiDP():
            # A Rényi promise holds only if all its orders hold.
            ratios = [_log_ratio(price_order(parts, a), most) for a, most in budget.orders]
            return max(ratios)
        case _:
            assert_never(budget)


def _approximate_excess(parts: Flattened, budget: ApproxDP) -> float:
    """Return `excess` for an (ε, δ) budget: by exact sums if they fit, else by δ at its ε."""
    if budget.delta == 0:
        return _log_ratio(price_pure(parts), budget.epsilon)
    # Basic composition first: it is exact, so a sum that is just ε still fits.
    box = price_approx(parts)
    if box is not None and box[0] <= budget.epsilon and box[1] <= budget.delta:
        by_epsilon = _log_ratio(box[0], budget.epsilon)
        by_delta = _log_ratio(box[1], budget.delta)
        return max(by_epsilon, by_delta)
    delta = Curve(parts).delta(budget.epsilon)
    return _log_ratio(Fraction(delta), budget.delta)


def _log_ratio(price: Fraction | None, amount: Fraction) -> float:
    """Return the logarithm of price/amount with the sign of the exact comparison."""
    if price is None:
        return math.inf
    if price <= amount:
        # The rounded logarithm may be above 0 where the exact price fits.
        return min(0.0, _log(price) - _log(amount)) if price else -math.inf
    # It may be 0 where the exact price does not fit.
    return max(_LEAST_FLOAT, _log(price) - _log(amount)) if amount else math.inf


def _log(amount: Fraction) -> float:
    return math.log(amount.numerator) - math.log(amount.denominator)


def least_scale(make: Callable[[Fraction], Event], budget: Measure, *, start: Number) -> Fraction:
    """Find the least noise scale whose event fits the budget: within 1e-13, never below it.

    `make` turns a scale into an event whose price falls as the scale grows; `start` is any rough
    guess. The result is the simplest fraction in the final bracket, so a scale that is exactly 20
    is returned as 20, and it is checked again.

    >>> import discreet as dp
    >>> from discreet.privacy import GaussianNoise, LaplaceNoise, least_scale
    >>> least_scale(lambda b: LaplaceNoise(b, 1), dp.PureDP("1/20"), start=1)
    Fraction(20, 1)
    >>> budget = dp.ApproxDP(1, "1e-6")
    >>> round(float(least_scale(lambda s: GaussianNoise.of(s, 1), budget, start=1)), 9)
    4.224678889

    Guarantee: the event of the returned scale fits the budget.

    Refuses: InvalidArgument for a budget that no amount of noise can keep, such as PureDP for
        Gaussian noise. InvalidArgument for a `make` whose price does not grow as noise shrinks.

    Law: tests/privacy/test_calibrate.py::TestLeastScale
    """
    read_measure(budget)

    def excess_at(scale: float) -> float:
        return excess(flatten(make(Fraction(scale))), budget)

    first = float(positive(start, "start"))
    # A budget that is kept at any scale is kept below this one.
    max_scale = min(first * 1e60, 1e300)
    low, high = bracket(excess_at, first, max_scale)
    if low == 0:
        raise InvalidArgument(
            "every scale fits: the price does not grow as the noise shrinks; check `make`"
        )
    low, high = crossing(excess_at, low, high, relative=_SCALE_TOLERANCE)
    max_result = Fraction(high * (1 + _SCALE_TOLERANCE))
    # Does not fit at `low`, so the simplest fraction is searched above it; then from `high` on.
    above_low = Fraction(math.nextafter(low, math.inf))
    simplest = (_simplest(above_low, max_result), _simplest(Fraction(high), max_result))
    candidates = chain(simplest, _upwards(high))
    # The exact check decides; floats only proposed the scales.
    return next(scale for scale in candidates if fits(make(scale), budget))


def _upwards(scale: float) -> Iterator[Fraction]:
    """Step up from a scale, in steps that double.

    Needed only where `make` rounds its own parameters and the price is not quite monotone.
    """
    step = 0.0
    while True:
        yield Fraction(scale * (1 + step))
        step = 2 * step or 2.0**-47


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Find the fraction of least denominator from low to high > 0, by continued fractions."""
    ceiling = -(-low.numerator // low.denominator)
    if ceiling <= high:
        return Fraction(ceiling)
    floor = ceiling - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def largest(make: Callable[[Fraction], Event], budget: Measure, *, start: Number) -> Fraction:
    """Find the largest parameter that fits the budget, never above the true one.

    The event of `make` must cost more as the parameter grows.

    >>> import discreet as dp
    >>> from discreet.privacy import ExponentialSelection, Repeated, largest
    >>> budget = dp.ApproxDP(1, "1e-6")
    >>> each = largest(lambda e: Repeated(ExponentialSelection(e), 100), budget, start=0.1)
    >>> 0.03 < each < 0.06
    True
    """

    def make_by_scale(scale: Fraction) -> Event:
        return make(1 / scale)

    return 1 / least_scale(make_by_scale, budget, start=1 / positive(start, "start"))


def most_queries(event: Event, budget: Measure) -> int:
    """Count how often the event may be repeated within the budget; 0 if not even once.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> dp.most_queries(LaplaceNoise(20, 1), dp.PureDP(1))
    20
    >>> dp.most_queries(LaplaceNoise(1, 1), dp.PureDP("1/2"))
    0

    Refuses: InvalidArgument for an event that costs nothing, or that fits more than 2^60 times.

    Law: tests/privacy/test_calibrate.py::TestTheThird
    """
    # `low` repetitions fit, `high` do not: first doubled, then halved between.
    low = 0
    high = 1
    while fits(Repeated(event, high), budget):
        low = high
        high = 2 * high
        if high > _MAX_QUERIES:
            raise InvalidArgument(
                "the event costs nothing under this budget, "
                "so there is no largest number of queries"
            )

    def is_too_many(times: int) -> bool:
        return not fits(Repeated(event, times), budget)

    return low + bisect_left(range(low + 1, high), True, key=is_too_many)


def least_budget(events: Event | Iterable[Event], *, delta: Number = 0) -> PureDP | ApproxDP:
    """Return the least budget that the events fit: PureDP at δ = 0, else ApproxDP, rounded up.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise
    >>> dp.least_budget([LaplaceNoise(20, 1)] * 20)
    PureDP(1)

    Refuses: InvalidArgument for δ = 0 and events that are not pure, and for a δ without promise.
    """
    parts = flatten(events)
    exact_delta = read_delta(delta)
    if exact_delta == 0:
        pure = price_pure(parts)
        if pure is None:
            raise InvalidArgument(
                "these events keep no pure promise; give a delta above 0, such as 1e-6"
            )
        return PureDP(pure)
    price = Curve(parts).epsilon(exact_delta)
    if not math.isfinite(price):
        raise InvalidArgument(
            f"these events keep no promise at delta = {delta}; give a larger delta"
        )
    return ApproxDP(Fraction(price), exact_delta)
