"""Dominating pair of every event that has one of its own; `numerical.pair` composes them.

| event | pair |
|---|---|
| LaplaceNoise | a hyperbola (continuous) or atoms (on a lattice) |
| DiscreteLaplaceNoise, TruncatedGeometricNoise | atoms |
| GaussianNoise | G(Δ2/σ); on a lattice as DiscreteGaussianNoise |
| DiscreteGaussianNoise | atoms, G with slack, or the pair of its ρ |
| BinomialNoise | atoms, infinite loss where only one law has mass |
| ExponentialSelection | bounded range |
| PermuteAndFlipSelection, SparseVector | randomized response |
| Response | its own three losses |
| Promise, OwnCurve | the pair of the promised curve; GaussianDP is G(μ), ApproxDP the box |
| Shuffled | that of `shuffling.pair`; above ε = 30 randomized response |
| Sampled | mixtures, one for each direction |
| Repeated, Sequence, Batch, KeySelection, Parallel | taken apart by `parts_of` |

Law: tests/privacy/test_pair.py::TestSymmetry
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
from ..loss.atoms import Atoms, box, response
from ..loss.curve import from_points, from_renyi, from_zcdp, mirrored
from ..loss.loss_masses import Array, LossPair
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..pricing.limits import LEAST, STEEP
from ..pricing.on_lattice import on_lattice
from ..pricing.zcdp import largest_move
from ..shuffling.pair import shuffled_pair
from ..shuffling.prices import UNHIDDEN
from .gauss import Gauss, lattice_gauss
from .hyperbola import bounded_range, laplace
from .lattice import binomial, discrete_gauss, discrete_laplace
from .parallel import alternatives

_MAX_EXACT_SUMS = 16
"""Most different Gaussians whose μ² are added exactly: the denominators multiply."""


def parts_of(event: Event, times: int = 1) -> list[tuple[Event, int]]:
    """Take an event apart into events that have a pair of their own, each with its count.

    Guarantee: the product of their pairs dominates the event, however each may depend on the
    answers before.

    Law: tests/privacy/test_pair.py::TestPartsOf

    >>> from discreet.privacy import Repeated, Response, Sequence
    >>> from discreet.privacy.pairs.dominating import parts_of
    >>> [times for _, times in parts_of(Repeated(Sequence([Response(1), Response(2)]), 3))]
    [3, 3]
    """
    match event:
        case Repeated():
            return parts_of(event.event, times * event.times)
        case Sequence() | Batch():
            parts: list[tuple[Event, int]] = []
            for inner in event.events:
                parts.extend(parts_of(inner, times))
            return parts
        case KeySelection():
            # A key that is shown costs its δ on top of the noise.
            key = Promise(ApproxDP(0, event.delta), neighbours=event.neighbours)
            return [*parts_of(event.noise, times), (key, times)]
        case DiscreteGaussianNoise() if event.dimension > 1 and largest_move(event) == 1:
            # The worst move changes as many coordinates as it may, by 1 each; fewer are a
            # post-processing of more.
            coordinate = DiscreteGaussianNoise(event.variance, 1, neighbours=event.neighbours)
            moved = min(event.squared_sensitivity, event.dimension)
            return [(coordinate, times * moved)]
        case GaussianNoise() if event.step > 0:
            # In units of the lattice step it is a discrete Gaussian.
            unit = event.step**2
            squared_steps = int(on_lattice(event).squared_sensitivity / unit)
            like = DiscreteGaussianNoise(event.variance / unit, squared_steps, event.dimension)
            return parts_of(like, times)
        case Parallel():
            cases = alternatives(event)
            if len(cases) > 1:
                return [(event, times)]
            return parts_of(cases[0], times)
        case _:
            return [(event, times)]


def merged_parts(parts: Iterable[tuple[Event, int]]) -> list[tuple[Event, int]]:
    """Count equal events together, and add up events whose measures add up exactly.

    Gaussians add up by μ², zCDP promises by ρ, Rényi promises by order.

    >>> from discreet.privacy import GaussianNoise, Response
    >>> from discreet.privacy.pairs.dominating import merged_parts
    >>> gaussians = [(GaussianNoise(4, 1), 2), (GaussianNoise(9, 1), 1)]
    >>> len(merged_parts([*gaussians, (Response(1), 1), (Response(1), 5)]))
    2
    """
    counts: dict[Event, int] = {}
    for event, times in parts:
        counts[event] = counts.get(event, 0) + times
    families: dict[object, list[Measure]] = {}
    for event in list(counts):
        measure = _addable(event)
        if measure is None:
            continue
        # Rényi promises add up order by order, so that only promises of the same orders do.
        alphas = measure.alphas if isinstance(measure, RenyiDP) else ()
        total = counts.pop(event) * measure
        families.setdefault((type(measure), alphas), []).append(total)
    merged = list(counts.items())
    for measures in families.values():
        promise = Promise(_total(measures))
        merged.append((promise, 1))
    return merged


def _addable(event: Event) -> GaussianDP | ZCDP | RenyiDP | None:
    if isinstance(event, GaussianNoise):
        return GaussianDP.of_square(event.squared_sensitivity / event.variance)
    if isinstance(event, Promise) and isinstance(event.measure, GaussianDP | ZCDP | RenyiDP):
        return event.measure
    return None


def _total(measures: list[Measure]) -> Measure:
    """Add measures of a kind, exactly if they are few."""
    if len(measures) > _MAX_EXACT_SUMS and isinstance(measures[0], GaussianDP):
        squares = [float(m.squared) for m in measures if isinstance(m, GaussianDP)]
        # Upward: `fsum` errs by one unit, each square by another; four units are added.
        total = fraction_up(math.fsum(squares), 2.0**-50)
        return GaussianDP.of_square(total)
    return reduce(operator.add, measures)


def pair_of(event: Event) -> LossPair:
    """Return the dominating pair of an event that treats both directions alike.

    Pairs of all other events are made of such pairs.

    Refuses: events built on others, such as Sampled, and arguments that are no event
    (InvalidArgument).

    Law: tests/privacy/test_pair.py::TestSymmetry
    """
    match event:
        case LaplaceNoise():
            return _laplace(event.sensitivity / event.scale, event.step / event.scale)
        case DiscreteLaplaceNoise():
            return _laplace(event.sensitivity / event.scale, 1 / event.scale)
        case TruncatedGeometricNoise():
            return _laplace(event.shift / event.scale, 1 / event.scale)
        case GaussianNoise():
            return Gauss(_root(event.squared_sensitivity / event.variance))
        case DiscreteGaussianNoise():
            return _discrete(event)
        case BinomialNoise():
            return binomial(event.trials, event.sensitivity)
        case ExponentialSelection() if _is_followed(event.epsilon):
            return bounded_range(event.epsilon)
        case Response() if _is_followed(event.epsilon):
            return response(event.epsilon, event.options)
        case Shuffled() if event.epsilon <= UNHIDDEN:
            return shuffled_pair(event)
        case (
            PermuteAndFlipSelection()
            | SparseVector()
            | ExponentialSelection()
            | Response()
            | Shuffled()
        ):
            # Nothing but the pure ε is known of the first two, or followed of the others.
            return _pure(event.epsilon)
        case Promise():
            return _promised(event.measure)
        case OwnCurve():
            return from_points(mirrored(event.points))
        case _:
            raise InvalidArgument(
                f"an event is expected, such as mechanism.event; got {type(event).__name__}"
            )


def _is_followed(epsilon: Fraction) -> bool:
    """Return whether a closed form of this ε can be evaluated in floats."""
    return LEAST <= epsilon <= STEEP


def _laplace(ratio: Fraction, rate: Fraction) -> LossPair:
    if not _is_followed(ratio):
        return _pure(ratio)
    if rate == 0:
        return laplace(ratio)
    return discrete_laplace(rate, int(ratio / rate))


def _pure(epsilon: Fraction) -> LossPair:
    return box(_raised(epsilon), Fraction(0)) if epsilon <= STEEP else _steep(epsilon)


def _nothing() -> Atoms:
    """Return the pair of an event that releases nothing: its only loss is 0."""
    return box(Fraction(0), Fraction(0))


def _raised(amount: Fraction) -> Fraction:
    """Return an amount that floats can follow, no less than this one; 0 stays 0."""
    return max(amount, LEAST) if amount else amount


def _steep(limit: Fraction, delta: Fraction = Fraction(0)) -> Atoms:
    """Return the pair whose loss is always the largest: it dominates every pair with that limit."""
    losses = np.array([up(float(limit))])
    return Atoms(losses, np.ones(1), delta, limit)


def _root(squared: Fraction) -> float:
    """Return μ from μ², rounded up and large enough for floats."""
    root = math.sqrt(max(squared, LEAST**2))
    return up(root, 2.0**-50)


def _discrete(event: DiscreteGaussianNoise) -> LossPair:
    """Return a pair for the discrete Gaussian: its own in one dimension, else a bound."""
    move = largest_move(event)
    if event.dimension == 1:
        return discrete_gauss(event.variance, move)
    # A move of the whole vector is also bounded by that of each coordinate.
    squared = min(event.squared_sensitivity, event.dimension * move**2)
    moved = min(event.dimension, squared)
    gauss = lattice_gauss(float(event.variance), squared, moved)
    if gauss is not None:
        return gauss
    # σ is too small for the continuous Gaussian; ρ = Δ²/2σ² holds for every σ.
    rho = squared / (2 * event.variance)
    return from_zcdp(up(float(_raised(rho))))


def _promised(measure: Measure) -> LossPair:
    """Return the pair that dominates every event with this promise."""
    match measure:
        case PureDP():
            return _pure(measure.epsilon)
        case ApproxDP():
            if measure.epsilon > STEEP:
                return _steep(measure.epsilon, measure.delta)
            return box(_raised(measure.epsilon), measure.delta)
        case GaussianDP():
            return Gauss(_root(measure.squared)) if measure.squared else _nothing()
        case ZCDP():
            rho = up(float(_raised(measure.rho)))
            return from_zcdp(rho) if measure.rho else _nothing()
        case RenyiDP():
            return _renyi(measure)
        case _:
            assert_never(measure)


def _renyi(measure: RenyiDP) -> LossPair:
    """Return the pair that dominates every event with these Rényi divergences."""
    alphas: list[float] = []
    bounds: list[float] = []
    for alpha, epsilon in measure.orders:
        alphas.append(float(alpha))
        # The promise is an upper bound, so that it rounds up.
        bounds.append(up(float(_raised(epsilon))))
    a = np.array(alphas)
    bound = np.array(bounds)

    def orders(_: float) -> tuple[Array, Array]:
        return a, bound

    # There some order gives a δ of e^−350, below every δ that is asked for.
    reach = bound + 350 / (a - 1)
    return from_renyi(orders, float(reach.min()))
