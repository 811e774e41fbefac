"""Moments of the privacy loss, as the lectures introduce them: L = ln(p(o)/p'(o)) with o drawn from p.

Raw moments E[Lⁿ] (the lectures print "central" for these), the cumulant generating function K(λ) = ln E e^(λL), which
is λ times the Rényi divergence of order λ + 1, and the tail P[L > ε], a sufficient condition for δ that is looser than
the exact one. Independent losses add, so their cumulant functions do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ...arithmetic.rational import whole
from ...arithmetic.series import Array, legendre
from ...errors import InvalidArgument
from ..events import (
    DiscreteLaplaceNoise,
    Event,
    LaplaceNoise,
    Promise,
    Response,
    TruncatedGeometricNoise,
)
from ..measures import PureDP
from .event_parts import flatten
from .gdp import exact_square
from .rdp import renyi
from .zcdp import laplace_shape


def moments(events: Event | Iterable[Event], order: int) -> tuple[float, ...]:
    """Return the raw moments E[L], E[L²], … up to an order of the summed privacy loss.

    The mean is the Kullback–Leibler divergence; E[L²] − E[L]² is the variance. Moments of a sum follow from Newton's
    binomial, since the losses are independent in the worst case.

    >>> from discreet.privacy import GaussianNoise, moments
    >>> moments(GaussianNoise.of(scale=1, sensitivity=1), 2)
    (0.5, 1.25)

    Refuses events whose loss is not known as one exact law (boxes with δ, promises of ρ, samples, selections).
    """
    n = whole(order, "order", least=1, most=64)
    sums = np.zeros(n + 1)
    sums[0] = 1.0
    for atom, times in _known(events):
        power = _raw(atom, n)
        for bit in bin(times)[2:][::-1]:
            if bit == "1":
                sums = _add(sums, power)
            power = _add(power, power)
    return tuple(sums[1:].tolist())


def _known(events: Event | Iterable[Event]) -> tuple[tuple[Event, int], ...]:
    parts = flatten(events)
    if parts.leaks:
        raise InvalidArgument(
            "a loss that may be infinite (δ > 0) has no moments; ask compose(events) for the curve"
        )
    return parts.atoms


def _add(left: Array, right: Array) -> Array:
    """Combine the raw moments of two independent losses."""
    n = left.size
    return np.array(
        [sum(math.comb(m, i) * left[i] * right[m - i] for i in range(m + 1)) for m in range(n)]
    )


def _raw(atom: Event, n: int) -> Array:
    losses, weights = loss_law(atom)
    return np.array([float(np.sum(weights * losses**m)) for m in range(n + 1)])


def loss_law(atom: Event) -> tuple[Array, Array]:
    """Return nodes and weights of the privacy loss: exact atoms, or nodes that integrate the powers exactly.

    Gaussian: N(μ²/2, μ²), by Gauss and Hermite. Laplace: masses at ±Δ/b and e^((L−Δ/b)/2)/4 between. Randomized
    response among k: ε, −ε, and 0 for the answers that neither neighbour favours.
    """
    square = exact_square(atom)
    if square is not None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(64)
        return float(square) / 2 + math.sqrt(square) * nodes, weights / math.sqrt(2 * math.pi)
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            return _laplace(*laplace_shape(atom))
        case Response():
            return _response(float(atom.epsilon), atom.options)
        case Promise(measure=PureDP(epsilon=e)):
            return _response(float(e), 2)
    kind = type(atom).__name__
    raise InvalidArgument(
        f"the loss of {kind} is not known as one exact law; ask compose(event) for its price instead"
    )


def _response(epsilon: float, options: int) -> tuple[Array, Array]:
    rest = math.exp(-epsilon)
    weights = np.array([1.0, rest, (options - 2) * rest]) / (1 + (options - 1) * rest)
    return np.array([epsilon, -epsilon, 0.0]), weights


def _laplace(ratio: float, steps: int) -> tuple[Array, Array]:
    if steps > 2**20:
        steps = 0  # the lattice and the continuous law agree to twelve digits
    if steps == 0:
        nodes, weights = legendre(64)
        inner = ratio * nodes
        density = weights * ratio * np.exp((inner - ratio) / 2) / 4
        return np.concatenate([[ratio, -ratio], inner]), np.concatenate(
            [[0.5, math.exp(-ratio) / 2], density]
        )
    a = math.exp(-ratio / steps)
    j = np.arange(steps + 1)  # the output lies j steps from the truth towards the neighbour
    weights = np.where((j == 0) | (j == steps), 1.0, 1 - a) * a**j / (1 + a)
    return ratio * (1 - 2 * j / steps), weights


def cumulant_function(events: Event | Iterable[Event], lam: float) -> float:
    """Return K(λ) = ln E e^(λL) for λ > 0, rounded up: the log-moment of the moments accountant (Abadi et al. 2016).

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.moments import cumulant_function
    >>> round(cumulant_function(GaussianNoise.of(scale=2, sensitivity=1), 3), 9)
    1.5
    """
    return lam * renyi(events, 1 + lam)


def tail(event: Event, epsilon: float) -> float:
    """Return P[L > ε] for one event: a δ that suffices, but is looser than the exact one.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.moments import tail
    >>> round(tail(GaussianNoise.of(scale=1, sensitivity=1), 1.0), 4)  # the exact δ is 0.1269
    0.3085
    """
    atoms = _known(event)
    if len(atoms) != 1 or atoms[0][1] != 1:
        raise InvalidArgument(
            "the tail is given for one event; ask compose(events) for the curve of several"
        )
    square = exact_square(atoms[0][0])
    if square is not None:
        return (
            0.5 * math.erfc((epsilon - float(square) / 2) / math.sqrt(2 * square))
            if square
            else 0.0
        )
    losses, weights = loss_law(atoms[0][0])
    if isinstance(atoms[0][0], LaplaceNoise) and losses.size == 66:
        x = losses[0]
        if epsilon < -x:
            return 1.0
        return 0.0 if epsilon >= x else 1 - math.exp((epsilon - x) / 2) / 2
    return float(np.sum(weights[losses > epsilon]))
