"""Parallel composition: events on disjoint public parts of the data.

Under add/remove the worst part counts. Under replace a unit may touch two parts, or one part twice
(group privacy of size two, `doubled`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from ...arithmetic.rounding import down, fraction_up, up
from ...errors import InvalidArgument
from ..events import (
    Batch,
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
)
from ..loss.curve import envelope
from ..loss.loss_masses import Directions
from ..measures import ADD_REMOVE, ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..pricing.clamp import unclamped_twins
from ..pricing.group import additive, group_privacy

MAX_KINDS = 8
"""Most kinds of parts of which every two are priced together."""


def alternatives(event: Parallel) -> list[Event]:
    """Return events, one of which is the worst for a unit; only that one if it is known.

    | relation | cases |
    |---|---|
    | add/remove | each part: the unit touches one |
    | replace | two steps in part i (`doubled`); one step in part i and one in part j |

    Two steps in one part cost at least as much as one step in it and one in a part no worse: both
    pass through a hybrid, and doubling composes the trade-off functions.

    Refuses: more than 8 kinds of parts under replace, unless one dominates all, and parts whose
    price for two steps is not known (InvalidArgument).

    Law: tests/privacy/test_pair.py::TestParallel

    >>> from discreet.privacy import LaplaceNoise, Parallel
    >>> from discreet.privacy.pairs.parallel import alternatives
    >>> half, one = LaplaceNoise(2, 1), LaplaceNoise(1, 1)
    >>> alternatives(Parallel([half, one])) == [one]
    True
    >>> alternatives(Parallel([half, one], neighbours="replace")) == [LaplaceNoise(1, 2)]
    True
    """
    if event.neighbours == ADD_REMOVE:
        return _undominated(event.parts)
    cases = _undominated(unclamped_twins(event.parts))
    if len(cases) > MAX_KINDS:
        raise InvalidArgument(
            f"Parallel under 'replace' has {len(cases)} kinds of parts that are not ordered by "
            f"strength; at most {MAX_KINDS} are priced. State every part as the strongest of them"
        )
    stays = [doubled(part) for part in cases]
    moves = [Batch(two) for two in combinations(cases, 2)]
    return [*stays, *moves]


def _undominated(parts: Iterable[Event]) -> list[Event]:
    """Return the one part that dominates all others, or every kind of part once."""
    kinds = list(dict.fromkeys(parts))
    if len(kinds) == 1:
        return kinds
    families = set()
    strengths = []
    for part in kinds:
        rank = _rank(part)
        if rank is None:
            return kinds
        family, strength = rank
        families.add(family)
        strengths.append(strength)
    if len(families) > 1:
        return kinds
    strongest = strengths.index(max(strengths))
    return [kinds[strongest]]


def _rank(part: Event) -> tuple[object, Fraction] | None:
    """Return a family in which a larger number dominates, and the number; None if there is none.

    It is the loss of pure noise, μ² of Gaussians, ε of responses.
    """
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
    """Return `_rank` of an event that is a promise."""
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
    """Return an event that dominates two steps of a unit through the same event.

    This is group privacy of size two:

    | event | doubled |
    |---|---|
    | noise | twice the shift |
    | pure, bounded range | 2ε |
    | (ε, δ) | (2ε, δ(1 + e^ε)) |
    | zCDP, GDP | 4ρ, 2μ |
    | several events | each doubled: two steps of a composition are steps of each part |
    | key selection | its noise doubled, 2δ |

    >>> import discreet as dp
    >>> from discreet.privacy import Promise
    >>> from discreet.privacy.pairs.parallel import doubled
    >>> doubled(Promise(dp.ZCDP(1))).measure
    ZCDP(4)

    Refuses: events whose price for two steps is not known in closed form, such as sampled ones
    and Rényi promises, and (ε, δ) whose δ(1 + e^ε) reaches 1 (InvalidArgument).

    Law: tests/privacy/test_pair_corners.py::TestTwoStepsOfAPromise
    """
    noise = additive(event, 2)
    if noise is not None:
        return noise
    match event:
        case PermuteAndFlipSelection() | SparseVector() | Response():
            return Promise(PureDP(2 * event.epsilon))
        case Promise():
            return Promise(_doubled_promise(event.measure))
        case OwnCurve():
            doubled_points = [_twice(epsilon, delta) for epsilon, delta in event.points]
            # A δ of 1 or more promises nothing, and is no point of a curve.
            kept = [point for point in doubled_points if point[1] < 1]
            if not kept:
                raise _no_price()
            return OwnCurve(kept)
        case Repeated():
            return Repeated(doubled(event.event), event.times)
        case Sequence() | Batch():
            return Batch(map(doubled, event.events))
        case KeySelection():
            return KeySelection(doubled(event.noise), 2 * event.delta)
        case _:
            kind = type(event).__name__
            raise InvalidArgument(
                f"replacing a unit within one part of Parallel is not priced for {kind}; "
                "state each part under 'add-remove', or ask the parts one after another "
                "in a Sequence"
            )


def _doubled_promise(measure: Measure) -> Measure:
    """Return a promise to a group of two units; refuse it where none is known."""
    match measure:
        case ApproxDP():
            epsilon, delta = _twice(measure.epsilon, measure.delta)
            if delta >= 1:
                raise _no_price()
            return ApproxDP(epsilon, delta)
        case RenyiDP():
            raise InvalidArgument(
                "replacing a unit within one part of Parallel is not priced for Rényi promises; "
                "promise ZCDP instead, or ask the parts one after another in a Sequence"
            )
    return group_privacy(measure, 2)


def _no_price() -> InvalidArgument:
    return InvalidArgument(
        "replacing a unit within one part of Parallel has no price: two steps of an (ε, δ) promise "
        "cost δ(1 + e^ε), which is not below 1 here; promise a smaller δ or ε, or ask the parts "
        "one after another in a Sequence"
    )


def _twice(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return (2ε, δ(1 + e^ε)), rounded up: group privacy of size two (Vadhan 2017, Lemma 2.2)."""
    twice = 2 * epsilon
    if epsilon <= 700:
        growth = fraction_up(math.exp(float(epsilon)))
        return twice, delta * (1 + growth)
    if delta == 0:
        return twice, delta
    # e^ε leaves the floats, its product with δ may not: it is formed in logarithms, upward. No δ
    # that fits in memory makes up for an ε of 1e300.
    capped = float(min(epsilon, Fraction(10**300)))
    log_numerator = up(math.log(delta.numerator))
    log_denominator = down(math.log(delta.denominator))
    log_delta = up(capped) + log_numerator - log_denominator
    if log_delta >= 0:
        return twice, Fraction(1)
    return twice, fraction_up(math.exp(log_delta))


def worst_of(cases: list[Directions]) -> Directions:
    """Return pairs that dominate each of several cases: their envelope, if there are several."""
    if len(cases) == 1:
        return cases[0]
    remove = envelope([case.remove for case in cases])
    if all(case.remove is case.add for case in cases):
        return Directions(remove, remove)
    add = envelope([case.add for case in cases])
    return Directions(remove, add)
