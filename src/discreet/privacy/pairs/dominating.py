"""The dominating pair of every event that has one of its own; `numerical.pair` mixes and composes them.

LaplaceNoise             a hyperbola (continuous) or atoms (on a lattice); DiscreteLaplaceNoise,
                         TruncatedGeometricNoise: atoms
GaussianNoise            G(Δ2/σ), on a lattice as DiscreteGaussianNoise: atoms, or G with slack
BinomialNoise            atoms, infinite loss where only one law can be
ExponentialSelection     bounded range; PermuteAndFlipSelection, SparseVector: randomized response
Response                 its own three losses
Promise, OwnCurve        the pair of the curve they promise; GaussianDP is G(μ), ApproxDP the box
Shuffled                 two counters, by the mechanism or by clones
Sampled                  mixtures, one for each direction
Repeated, Sequence, Batch, KeySelection, Parallel are taken apart by `parts_of`
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import assert_never

import numpy as np

from ...arithmetic.rounding import fraction_up, up
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
    Shuffled,
    SparseVector,
    TruncatedGeometricNoise,
)
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..pricing.limits import LEAST, STEEP
from ..pricing.on_lattice import on_lattice
from .atoms import Atoms, box, response
from .curve import from_points, from_renyi, from_zcdp, mirrored
from .gauss import Gauss, lattice_gauss
from .hyperbola import bounded_range, laplace
from .lattice import binomial, discrete_gauss, discrete_laplace
from .loss_masses import Array, LossPair
from .parallel import alternatives
from .shuffled import shuffled_pair

UNHIDDEN = 30
"""Largest ε of a local report that a shuffler may hide; a larger one is priced as it is."""


def parts_of(event: Event, times: int = 1) -> list[tuple[Event, int]]:
    """Take an event apart into events that have a pair of their own, with how often each happens.

    The product of their pairs dominates the event, however each may depend on the answers before.

    >>> from discreet.privacy import Repeated, Response, Sequence
    >>> from discreet.privacy.pairs.dominating import parts_of
    >>> [times for _, times in parts_of(Repeated(Sequence([Response(1), Response(2)]), 3))]
    [3, 3]
    """
    match event:
        case Repeated():
            return parts_of(event.event, times * event.times)
        case Sequence() | Batch():
            return [part for inner in event.events for part in parts_of(inner, times)]
        case KeySelection():
            key = Promise(ApproxDP(0, event.delta), neighbours=event.neighbours)
            return [*parts_of(event.noise, times), (key, times)]
        case DiscreteGaussianNoise() if event.dimension > 1 and largest_move(event) == 1:
            # the worst move changes as many coordinates as it may, by 1 each; fewer are a post-processing of more
            one = DiscreteGaussianNoise(event.variance, 1, neighbours=event.neighbours)
            return [(one, times * min(event.squared_sensitivity, event.dimension))]
        case GaussianNoise() if event.step > 0:
            steps = int(on_lattice(event).squared_sensitivity / event.step**2)
            like = DiscreteGaussianNoise(event.variance / event.step**2, steps, event.dimension)
            return parts_of(like, times)
        case Parallel():
            cases = alternatives(event)
            return parts_of(cases[0], times) if len(cases) == 1 else [(event, times)]
        case _:
            return [(event, times)]


def merged_parts(parts: Iterable[tuple[Event, int]]) -> list[tuple[Event, int]]:
    """Count equal events together, and add up what adds up exactly: Gaussians by μ², zCDP by ρ, Rényi by order.

    >>> from discreet.privacy import GaussianNoise, Response
    >>> from discreet.privacy.pairs.dominating import merged_parts
    >>> len(merged_parts([(GaussianNoise(4, 1), 2), (GaussianNoise(9, 1), 1), (Response(1), 1), (Response(1), 5)]))
    2
    """
    counts: dict[Event, int] = {}
    sums: dict[object, list[Measure]] = {}
    for event, times in parts:
        counts[event] = counts.get(event, 0) + times
    for event in list(counts):
        measure = _addable(event)
        if measure is not None:
            kind = (type(measure), measure.alphas if isinstance(measure, RenyiDP) else ())
            sums.setdefault(kind, []).append(counts.pop(event) * measure)
    return [*counts.items(), *((Promise(_total(measures)), 1) for measures in sums.values())]


def _addable(event: Event) -> GaussianDP | ZCDP | RenyiDP | None:
    if isinstance(event, GaussianNoise):
        return GaussianDP.of_square(event.squared_sensitivity / event.variance)
    if isinstance(event, Promise) and isinstance(event.measure, GaussianDP | ZCDP | RenyiDP):
        return event.measure
    return None


def _total(measures: list[Measure]) -> Measure:
    """Add measures of a kind; many different Gaussians in floating point, upward, as exact denominators would grow."""
    if len(measures) > 16 and isinstance(measures[0], GaussianDP):
        squares = [float(m.squared) for m in measures if isinstance(m, GaussianDP)]
        return GaussianDP.of_square(fraction_up(math.fsum(squares), 2.0**-50))
    return reduce(operator.add, measures)


def largest_move(event: DiscreteGaussianNoise) -> int:
    """Return the most whole steps that one coordinate may move."""
    move = math.isqrt(event.squared_sensitivity)
    return move if event.linf is None else min(move, event.linf)


def pair_of(event: Event) -> LossPair:
    """Return the dominating pair of an event that treats both directions alike; others are made of such."""
    match event:
        case LaplaceNoise():
            return _laplace(event.sensitivity / event.scale, event.step / event.scale)
        case DiscreteLaplaceNoise():
            return _laplace(event.sensitivity / event.scale, 1 / event.scale)
        case TruncatedGeometricNoise():  # moving by more than the range moves by the range
            return _laplace(
                min(event.sensitivity, event.high - event.low) / event.scale, 1 / event.scale
            )
        case GaussianNoise():
            return Gauss(_root(event.squared_sensitivity / event.variance))
        case DiscreteGaussianNoise():
            return _discrete(event)
        case BinomialNoise():
            return binomial(event.trials, event.sensitivity)
        case ExponentialSelection():
            return (
                bounded_range(event.epsilon)
                if LEAST <= event.epsilon <= STEEP
                else _pure(event.epsilon)
            )
        case PermuteAndFlipSelection() | SparseVector():
            return _pure(event.epsilon)
        case Response():
            return (
                response(event.epsilon, event.options)
                if LEAST <= event.epsilon <= STEEP
                else _pure(event.epsilon)
            )
        case Promise():
            return _promised(event.measure)
        case Shuffled():
            return shuffled_pair(event) if event.epsilon <= UNHIDDEN else _pure(event.epsilon)
        case OwnCurve():
            return from_points(mirrored(event.points))
        case _:
            raise InvalidArgument(
                f"an event is expected, such as mechanism.event; got {type(event).__name__}"
            )


def _laplace(ratio: Fraction, rate: Fraction) -> LossPair:
    if not LEAST <= ratio <= STEEP:
        return _pure(ratio)
    return laplace(ratio) if rate == 0 else discrete_laplace(rate, int(ratio / rate))


def _pure(epsilon: Fraction) -> LossPair:
    return box(_raised(epsilon), Fraction(0)) if epsilon <= STEEP else _steep(epsilon)


def _raised(amount: Fraction) -> Fraction:
    """Return an amount that floats can follow, no less than this one; nothing stays nothing."""
    return max(amount, LEAST) if amount else amount


def _steep(limit: Fraction) -> Atoms:
    """Return the pair whose loss is always the largest: it dominates every pair with that limit."""
    return Atoms(np.array([up(float(limit))]), np.ones(1), limit=limit)


def _root(squared: Fraction) -> float:
    return up(math.sqrt(max(squared, LEAST**2)), 2.0**-50)


def _discrete(event: DiscreteGaussianNoise) -> LossPair:
    if event.dimension == 1:
        return discrete_gauss(event.variance, largest_move(event))
    squared = min(event.squared_sensitivity, event.dimension * largest_move(event) ** 2)
    rho = squared / (2 * event.variance)
    gauss = lattice_gauss(float(event.variance), squared, min(event.dimension, squared))
    return gauss or from_zcdp(up(float(_raised(rho))))


def _promised(measure: Measure) -> LossPair:
    match measure:
        case PureDP():
            return _pure(measure.epsilon)
        case ApproxDP():
            if measure.epsilon > STEEP:
                at = np.array([up(float(measure.epsilon))])
                return Atoms(at, np.ones(1), measure.delta, measure.epsilon)
            return box(_raised(measure.epsilon), measure.delta)
        case GaussianDP():
            return (
                Gauss(_root(measure.squared)) if measure.squared else box(Fraction(0), Fraction(0))
            )
        case ZCDP():
            return (
                from_zcdp(up(float(_raised(measure.rho))))
                if measure.rho
                else box(Fraction(0), Fraction(0))
            )
        case RenyiDP():
            return _renyi(measure)
        case _:
            assert_never(measure)


def _renyi(measure: RenyiDP) -> LossPair:
    a = np.array([float(alpha) for alpha, _ in measure.orders])
    bound = np.array([up(float(_raised(e))) for _, e in measure.orders])

    def orders(_: float) -> tuple[Array, Array]:
        return a, bound

    return from_renyi(orders, float((bound + 350 / (a - 1)).min()))
