"""Events on disjoint public parts of the data: which part is the worst, and what replacing a unit costs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import assert_never

from ...arithmetic.rounding import down, fraction_up, up
from ...errors import InvalidArgument
from ..events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Repeated,
    Response,
    Sequence,
    SparseVector,
    TruncatedGeometricNoise,
)
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..neighbours import ADD_REMOVE
from ..pricing.clamp import unclamped
from .curve import envelope
from .loss_masses import Directions, LossPair

MANY = 8
"""Most kinds of parts of which every two are priced together."""


def alternatives(event: Parallel) -> list[Event]:
    """Return the events one of which is the worst a unit can meet; one of them if it is known to be the worst.

    Add/remove: the unit touches one part, so each part is a case. Replace: the unit leaves part i and enters part j
    (the two parts' events together), or stays in part i (two steps there, `doubled`). Two steps in one part cost at
    least as much as one step in it and one in a part no worse: both pass through a hybrid, and doubling composes the
    trade-off functions.

    >>> from discreet.privacy import LaplaceNoise, Parallel
    >>> from discreet.privacy.pairs.parallel import alternatives
    >>> half, one = LaplaceNoise(2, 1), LaplaceNoise(1, 1)
    >>> alternatives(Parallel([half, one])) == [one]
    True
    >>> alternatives(Parallel([half, one], neighbours="replace")) == [LaplaceNoise(1, 2)]
    True
    """
    parts = list(
        dict.fromkeys(event.parts if event.neighbours == ADD_REMOVE else _twins_apart(event.parts))
    )
    best = _strongest(parts)
    cases = [best] if best is not None else parts
    if event.neighbours == ADD_REMOVE:
        return cases
    if len(cases) > MANY:
        raise InvalidArgument(
            f"Parallel under 'replace' has {len(cases)} kinds of parts that are not ordered by strength; "
            f"at most {MANY} are priced. State every part as the strongest of them"
        )
    pairs: list[Event] = [Batch(two) for two in combinations(cases, 2)]
    return [doubled(part) for part in cases] + pairs


def _twins_apart(parts: tuple[Event, ...]) -> list[Event]:
    """Take the clamp off parts that occur twice: one answer moves by its range at most, two of them by that each."""
    seen = Counter(parts)
    return [unclamped(part) if seen[part] > 1 else part for part in parts]


def _strongest(parts: list[Event]) -> Event | None:
    """Return the part that dominates all others if they are of one ordered family."""
    ranks = [_rank(part) for part in parts]
    if len(parts) > 1 and (
        None in ranks or len({rank[0] for rank in ranks if rank is not None}) > 1
    ):
        return None
    return max(
        zip(parts, ranks, strict=True), key=lambda both: both[1][1] if both[1] is not None else 0
    )[0]


def _rank(part: Event) -> tuple[object, Fraction] | None:
    """Return a family in which a larger number dominates: the loss of pure noise, μ² of Gaussians, ε of responses."""
    match part:
        case LaplaceNoise() if part.step == 0:
            return "Laplace", part.sensitivity / part.scale
        case DiscreteLaplaceNoise():
            return ("discrete Laplace", part.scale), Fraction(part.sensitivity)
        case GaussianNoise() if part.step == 0:
            return "Gaussian", part.squared_sensitivity / part.variance
        case PermuteAndFlipSelection() | SparseVector():
            return "pure", part.epsilon
        case ExponentialSelection():
            return "range", part.epsilon
        case Response():
            return ("response", part.options), part.epsilon
        case Promise():
            return _rank_promise(part.measure)
        case _:
            return None


def _rank_promise(measure: Measure) -> tuple[object, Fraction] | None:
    match measure:
        case PureDP():
            return "pure", measure.epsilon
        case GaussianDP():
            return "Gaussian", measure.squared
        case ZCDP():
            return "zCDP", measure.rho
        case ApproxDP():
            return ("box", measure.delta), measure.epsilon
        case _:
            return None


def doubled(event: Event) -> Event:
    """Return an event that dominates two steps of a unit through the same event (group privacy of size two).

    Noise: twice the shift. Pure and bounded range: twice ε. (ε, δ): (2ε, δ(1 + e^ε)). zCDP: 4ρ. GDP: 2μ. Several
    events: each doubled, since the two steps of a composition are steps of each part.

    >>> import discreet as dp
    >>> from discreet.privacy import Promise
    >>> from discreet.privacy.pairs.parallel import doubled
    >>> doubled(Promise(dp.ZCDP(1))).measure
    ZCDP(4)

    Refuses events whose price for two steps is not known in closed form (sampled ones, Rényi promises).
    """
    match event:
        case LaplaceNoise():
            return LaplaceNoise(event.scale, 2 * event.sensitivity, event.step)
        case DiscreteLaplaceNoise():
            return DiscreteLaplaceNoise(event.scale, 2 * event.sensitivity)
        case TruncatedGeometricNoise():
            return TruncatedGeometricNoise(
                event.scale, 2 * event.sensitivity, event.low, event.high
            )
        case GaussianNoise():
            return GaussianNoise(
                event.variance, 4 * event.squared_sensitivity, event.step, event.dimension
            )
        case DiscreteGaussianNoise():
            linf = None if event.linf is None else 2 * event.linf
            return DiscreteGaussianNoise(
                event.variance, 4 * event.squared_sensitivity, event.dimension, linf
            )
        case BinomialNoise():
            return BinomialNoise(event.trials, 2 * event.sensitivity)
        case ExponentialSelection():
            return ExponentialSelection(2 * event.epsilon)
        case PermuteAndFlipSelection() | SparseVector() | Response():
            return Promise(PureDP(2 * event.epsilon))
        case _:
            return _doubled_built(event)


def _doubled_built(event: Event) -> Event:
    match event:
        case Promise():
            return Promise(_doubled_promise(event.measure))
        case OwnCurve():
            points = [point for e, d in event.points if (point := _twice(e, d))[1] < 1]
            if not points:
                raise _nothing_left()
            return OwnCurve(points)
        case Repeated():
            return Repeated(doubled(event.event), event.times)
        case Sequence() | Batch():
            return Batch([doubled(inner) for inner in event.events])
        case KeySelection():
            return KeySelection(doubled(event.noise), 2 * event.delta)
        case _:
            raise InvalidArgument(
                f"replacing a unit within one part of Parallel is not priced for {type(event).__name__}; "
                "state each part under 'add-remove', or ask the parts one after another in a Sequence"
            )


def _doubled_promise(measure: Measure) -> Measure:
    match measure:
        case PureDP():
            return PureDP(2 * measure.epsilon)
        case ApproxDP():
            epsilon, delta = _twice(measure.epsilon, measure.delta)
            if delta >= 1:
                raise _nothing_left()
            return ApproxDP(epsilon, delta)
        case GaussianDP():
            return GaussianDP.of_square(4 * measure.squared)
        case ZCDP():
            return ZCDP(4 * measure.rho)
        case RenyiDP():
            raise InvalidArgument(
                "replacing a unit within one part of Parallel is not priced for Rényi promises; "
                "promise ZCDP instead, or ask the parts one after another in a Sequence"
            )
        case _:
            assert_never(measure)


def _nothing_left() -> InvalidArgument:
    return InvalidArgument(
        "replacing a unit within one part of Parallel has no price: two steps of an (ε, δ) promise cost δ(1 + e^ε), "
        "which is not below 1 here; promise a smaller δ or ε, or ask the parts one after another in a Sequence"
    )


def _twice(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return (2ε, δ(1 + e^ε)), rounded up: group privacy of size two (Vadhan 2017, Lemma 2.2)."""
    if epsilon <= 700:
        return 2 * epsilon, delta * (1 + fraction_up(math.exp(float(epsilon))))
    if delta == 0:
        return 2 * epsilon, delta
    # e^ε leaves the floats, its product with δ may not; no δ that fits in memory makes up for an ε of 1e300
    grown = (
        up(float(min(epsilon, Fraction(10**300))))
        + up(math.log(delta.numerator))
        - down(math.log(delta.denominator))
    )
    return 2 * epsilon, fraction_up(math.exp(grown)) if grown < 0 else Fraction(1)


def worst_of(cases: list[Directions]) -> Directions:
    """Return pairs that dominate each of several cases: the case itself if it is alone, else the envelope."""
    if len(cases) == 1:
        return cases[0]
    remove: LossPair = envelope([case.remove for case in cases])
    if all(case.remove is case.add for case in cases):
        return Directions(remove, remove)
    return Directions(remove, envelope([case.add for case in cases]))
