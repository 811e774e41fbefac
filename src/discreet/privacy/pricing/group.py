"""Group privacy: the promise to K units together (a family, a person with K rows).

| promise to one unit | promise to K units |
|---|---|
| PureDP(ε) | Kε |
| ApproxDP(ε, δ) | (Kε, δ(e^Kε − 1)/(e^ε − 1)) |
| ZCDP(ρ) | K²ρ |
| GaussianDP(μ) | Kμ |
| RenyiDP{α: ε} | {α/2^c: 3^c ε}, 2^c ≥ K |
| additive noise | the same noise, K times the sensitivity |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, assert_never

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import fraction_up
from ...errors import InvalidArgument
from ...frozen import replace
from ..events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Promise,
    Repeated,
    Sequence,
    TruncatedGeometricNoise,
)
from ..measures import (
    ADD_REMOVE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Measure,
    Order,
    PureDP,
    RenyiDP,
    read_measure,
)
from .clamp import unclamped

Promised: TypeAlias = Callable[[Event, int], Event]
"""Function that makes an event of the promise of an event to a group of some size."""
MeasureOf: TypeAlias = Callable[[Event], Measure | None]
"""Function that states the promise of an event in one measure; None if it has none there."""

# Beyond this exponent e^(Kε) would leave the floats (e^709 is the last).
_MAX_EXPONENT = 700


def group_privacy(measure: Measure, size: int) -> Measure:
    """Restate a promise for groups of `size` units.

    Pure and approximate: chain the definition over K steps, a geometric series (Vadhan 2017, Lemma
    2.2). zCDP: Bun, Steinke 2016, Proposition 1.9. Gaussian: Dong, Roth, Su 2022, Theorem 2.14.
    Rényi: Mironov 2017, Proposition 2.

    >>> import discreet as dp
    >>> [dp.group_privacy(one, 3) for one in (dp.PureDP(0.5), dp.ZCDP(0.5), dp.GaussianDP(1))]
    [PureDP(1.5), ZCDP(4.5), GaussianDP(3)]
    >>> dp.group_privacy(dp.RenyiDP({8: 1}), 2)
    RenyiDP({4: 3})

    Guarantee: a mechanism that keeps `measure` for one unit keeps the result for K units.

    Refuses: InvalidArgument for other objects than measures, sizes below 1, an (ε, δ) whose group δ
        reaches 1, and Rényi orders too low for the size.

    Law: tests/laws/test_laws_of_prices.py::TestGroupPrivacy
    Law: tests/privacy/test_group.py::TestMeasures
    """
    k = whole(size, "size", least=1)
    measure = read_measure(measure)
    if k == 1:
        return measure
    match measure:
        case PureDP():
            return PureDP(k * measure.epsilon)
        case ApproxDP():
            return _group_approximate(measure, k)
        case ZCDP():
            return ZCDP(k * k * measure.rho)
        case GaussianDP():
            return GaussianDP.of_square(k * k * measure.squared)
        case RenyiDP():
            return _group_renyi(measure, k)
        case _:
            assert_never(measure)


def delta_factor(epsilon: float, size: int) -> float:
    """Return (e^Kε − 1)/(e^ε − 1), the growth of δ in a group (K at ε = 0).

    Infinite beyond the range of floats.

    >>> from discreet.privacy.pricing.group import delta_factor
    >>> round(delta_factor(1.0, 3), 12)
    11.10733792739
    """
    if size * epsilon > _MAX_EXPONENT:
        return math.inf
    if not epsilon:
        return float(size)
    return math.expm1(size * epsilon) / math.expm1(epsilon)


def _group_approximate(measure: ApproxDP, k: int) -> ApproxDP:
    """Restate (ε, δ) for a group of k units; refuse it if the group's δ reaches 1."""
    epsilon = k * measure.epsilon
    if measure.delta == 0:
        return ApproxDP(epsilon, 0)
    if measure.epsilon == 0:
        delta = k * measure.delta
    else:
        factor = delta_factor(float(measure.epsilon), k)
        computed = factor * float(measure.delta)
        # Rounded up: a larger δ is promised. An infinite factor cannot become a fraction.
        delta = fraction_up(computed) if computed < 1 else Fraction(1)
    if delta >= 1:
        raise InvalidArgument(
            f"a group of {k} has no (ε, δ) promise left: its δ reaches 1; lower ε, δ or the size"
        )
    return ApproxDP(epsilon, delta)


def _group_renyi(measure: RenyiDP, k: int) -> RenyiDP:
    """Restate a Rényi promise for a group of k units; refuse it if all orders are too low."""
    doublings = (k - 1).bit_length()
    min_order = 2 ** (doublings + 1)
    lowered: dict[Order, Number] = {}
    for order, amount in measure.orders:
        # Each doubling halves the order and triples the divergence; order 2 is the lowest start.
        if order >= min_order:
            lowered_order = order / 2**doublings
            lowered[lowered_order] = 3**doublings * amount
    if not lowered:
        raise InvalidArgument(
            f"a group of {k} needs a Rényi order of at least {min_order}; promise one"
        )
    return RenyiDP(lowered)


def regrouped(event: Event, size: int, promised: Promised) -> Event:
    """Restate an event for groups of `size` units, part by part.

    An event that is not additive noise is restated by `promised`.
    """
    match event:
        case Repeated():
            return Repeated(regrouped(event.event, size, promised), event.times)
        case Sequence() | Batch():
            return type(event)(regrouped(inner, size, promised) for inner in event.events)
        case Parallel() if event.neighbours == ADD_REMOVE and len(set(event.parts)) == 1:
            part = event.parts[0]
            # A group may be spread over several parts, each of which moves by its whole range.
            if len(event.parts) > 1:
                part = unclamped(part)
            return regrouped(part, size, promised)
    return additive(event, size) or promised(event, size)


def additive(event: Event, k: int) -> Event | None:
    """Return the event whose answer moves k times as far; None if no such event is known."""
    match event:
        case LaplaceNoise():
            return replace(event, sensitivity=k * event.sensitivity)
        case DiscreteLaplaceNoise() | TruncatedGeometricNoise() | BinomialNoise():
            return replace(event, sensitivity=k * event.sensitivity)
        case GaussianNoise():
            return replace(event, squared_sensitivity=k * k * event.squared_sensitivity)
        case DiscreteGaussianNoise():
            linf = None if event.linf is None else k * event.linf
            square = k * k * event.squared_sensitivity
            return replace(event, squared_sensitivity=square, linf=linf)
        case ExponentialSelection():
            return replace(event, epsilon=k * event.epsilon)
    return None


def group_promise(event: Event, size: int, *measures: MeasureOf) -> Event:
    """Make an event of the first promise of an event that is known, restated for a group.

    Refuses: InvalidArgument for an event without a promise in any of these measures.
    """
    for measure_of in measures:
        measure = measure_of(event)
        if measure is not None:
            return Promise(group_privacy(measure, size), neighbours=event.neighbours)
    kind = type(event).__name__
    raise InvalidArgument(
        f"no promise of {kind} to a group of {size} is known; state its group promise as a Promise"
    )


def stated_measure(event: Event) -> Measure | None:
    """Return the measure of an event that is a promise itself; None for all others."""
    return event.measure if isinstance(event, Promise) else None


def parallel_price(
    event: Parallel, price: Callable[[Event], Fraction | None], twice: int, promised: Promised
) -> Fraction | None:
    """Return the worst price of one changed unit in disjoint public parts, for prices that add.

    Parallel composition. Under add/remove the unit is in one part: the worst part. Under replace it
    may change within a part, a group of two there, or leave one part and enter another, both at
    once: the worst two parts. The maximum over the parts, as often printed, is wrong under replace.

    Args:
        event: the parts.
        price: the price of one part; None if it has none.
        twice: bound of the price of a group of two, as a factor: 2 for ε, 4 for ρ and μ².
        promised: restates an event that is not additive noise for a group.

    >>> from discreet.privacy import LaplaceNoise, Parallel
    >>> from discreet.privacy.pricing.pure import price_pure
    >>> parts = [LaplaceNoise(1, 1), LaplaceNoise(2, 1)]
    >>> [price_pure(Parallel(parts, neighbours=near)) for near in ("add-remove", "replace")]
    [Fraction(1, 1), Fraction(2, 1)]

    Law: tests/laws/test_laws_of_prices.py::TestParallelComposition
    Law: tests/privacy/test_group.py::TestParallel
    """
    known = list[tuple[Event, Fraction]]()
    for part in set(event.parts):
        amount = price(part)
        if amount is not None:
            known.append((part, amount))
    if len(known) < len(set(event.parts)):
        return None
    single = sorted(amount for _, amount in known)
    if event.neighbours == ADD_REMOVE:
        return single[-1]
    # The unit leaves one part and enters another.
    worst = sum(single[-2:], Fraction())
    for part, amount in known:
        # The unit changes within one part: both bounds hold, so the smaller one does.
        group_price = twice * amount
        regrouped_price = price(regrouped(part, 2, promised))
        if regrouped_price is not None:
            group_price = min(group_price, regrouped_price)
        worst = max(worst, group_price)
    return worst
