"""Moments of the privacy loss as lectures introduce them: L = ln(p(o)/p'(o)), o drawn from p.

- Raw moments E[Lⁿ] (some lectures print "central" for these).
- The cumulant generating function K(λ) = ln E e^(λL), which is λ times the Rényi divergence of
  order λ + 1.
- The tail P[L > ε], a sufficient condition for δ that is looser than the exact one.

Independent losses add, so their cumulant functions do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

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

# Beyond this many steps the lattice and the continuous law agree to twelve digits.
_MAX_LATTICE_STEPS = 2**20
# Points of Gauss quadrature: exact for powers up to 127.
_QUADRATURE_POINTS = 64


def moments(events: Event | Iterable[Event], order: int) -> tuple[float, ...]:
    """Return the raw moments E[L], E[L²], … up to an order of the summed privacy loss.

    The mean is the Kullback–Leibler divergence; E[L²] − E[L]² is the variance. Moments of a sum
    follow from Newton's binomial, since the losses are independent in the worst case.

    >>> from discreet.privacy import GaussianNoise, moments
    >>> moments(GaussianNoise.of(scale=1, sensitivity=1), 2)
    (0.5, 1.25)

    Refuses: InvalidArgument for events whose loss is not known as one exact law, such as boxes with
        δ, promises of ρ, samples, selections, discrete Gaussian and binomial noise.

    Law: tests/privacy/test_moments.py::TestOneEvent
    Law: tests/privacy/test_moments.py::test_sums
    """
    n = whole(order, "order", least=1, most=64)
    sums = np.zeros(n + 1)
    sums[0] = 1.0
    for atom, times in _atoms_without_leaks(events):
        power = _raw_moments(atom, n)
        # Repeated doubling: the binary digits of the count, least first.
        for bit in bin(times)[2:][::-1]:
            if bit == "1":
                sums = _add_losses(sums, power)
            power = _add_losses(power, power)
    return tuple(sums[1:].tolist())


def _atoms_without_leaks(events: Event | Iterable[Event]) -> tuple[tuple[Event, int], ...]:
    parts = flatten(events)
    if parts.leaks:
        raise InvalidArgument(
            "a loss that may be infinite (δ > 0) has no moments; ask compose(events) for the curve"
        )
    return parts.atoms


def _add_losses(left: Array, right: Array) -> Array:
    """Combine the raw moments of two independent losses."""
    combined = list[float]()
    for m in range(left.size):
        terms = (math.comb(m, i) * left[i] * right[m - i] for i in range(m + 1))
        combined.append(sum(terms))
    return np.array(combined)


def _raw_moments(atom: Event, n: int) -> Array:
    losses, weights = loss_law(atom)
    return np.array([float(np.sum(weights * losses**m)) for m in range(n + 1)])


def loss_law(atom: Event) -> tuple[Array, Array]:
    """Return nodes and weights of the privacy loss distribution of one atom.

    The nodes are exact atoms, or nodes that integrate the powers exactly. Gaussian: N(μ²/2, μ²), by
    Gauss and Hermite. Laplace: masses at ±Δ/b and e^((L−Δ/b)/2)/4 between. Randomized response
    among k: ε, −ε, and 0 for the answers that neither neighbour favours.
    """
    square = exact_square(atom)
    if square is not None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE_POINTS)
        mean = float(square) / 2
        losses = mean + math.sqrt(square) * nodes
        return losses, weights / math.sqrt(2 * math.pi)
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            return _laplace_law(*laplace_shape(atom))
        case Response():
            return _response_law(float(atom.epsilon), atom.options)
        case Promise(measure=PureDP(epsilon=epsilon)):
            return _response_law(float(epsilon), 2)
    kind = type(atom).__name__
    raise InvalidArgument(
        f"the loss of {kind} is not known as one exact law; "
        "ask compose(event) for its price instead"
    )


def _response_law(epsilon: float, options: int) -> tuple[Array, Array]:
    other = math.exp(-epsilon)
    unscaled = np.array([1.0, other, (options - 2) * other])
    weights = unscaled / (1 + (options - 1) * other)
    return np.array([epsilon, -epsilon, 0.0]), weights


def _laplace_law(ratio: float, steps: int) -> tuple[Array, Array]:
    """Return losses and weights of Laplace noise with Δ1/b = ratio; `steps` 0 is continuous."""
    if steps == 0 or steps > _MAX_LATTICE_STEPS:
        nodes, node_weights = legendre(_QUADRATURE_POINTS)
        inner = ratio * nodes
        decay = np.exp((inner - ratio) / 2)
        density = node_weights * ratio * decay / 4
        losses = np.concatenate([[ratio, -ratio], inner])
        end_weights = [0.5, math.exp(-ratio) / 2]
        weights = np.concatenate([end_weights, density])
        return losses, weights
    a = math.exp(-ratio / steps)
    # The output lies j steps from the truth towards the neighbour.
    j = np.arange(steps + 1)
    # Both ends collect the whole tail beyond them.
    is_end = (j == 0) | (j == steps)
    factors = np.where(is_end, 1.0, 1 - a)
    weights = factors * a**j / (1 + a)
    return ratio * (1 - 2 * j / steps), weights


def cumulant_function(events: Event | Iterable[Event], lam: float) -> float:
    """Return K(λ) = ln E e^(λL) of the privacy loss L for λ > 0, from Rényi prices rounded up.

    It is the log-moment of the moments accountant (Abadi et al. 2016).

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

    Refuses: InvalidArgument for several events, and for events without one exact law.

    Law: tests/privacy/test_moments.py::test_tails_at_the_ends
    """
    atoms = _atoms_without_leaks(event)
    if len(atoms) != 1 or atoms[0][1] != 1:
        raise InvalidArgument(
            "the tail is given for one event; ask compose(events) for the curve of several"
        )
    atom = atoms[0][0]
    square = exact_square(atom)
    if square is not None:
        return _gaussian_tail(square, epsilon)
    losses, weights = loss_law(atom)
    # Two ends and the quadrature points: the law is continuous, and nodes are no atoms.
    if isinstance(atom, LaplaceNoise) and losses.size == 2 + _QUADRATURE_POINTS:
        return _laplace_tail(losses[0], epsilon)
    return float(np.sum(weights[losses > epsilon]))


def _gaussian_tail(square: Fraction, epsilon: float) -> float:
    if not square:
        return 0.0
    above_mean = epsilon - float(square) / 2
    return 0.5 * math.erfc(above_mean / math.sqrt(2 * square))


def _laplace_tail(ratio: float, epsilon: float) -> float:
    if epsilon < -ratio:
        return 1.0
    if epsilon >= ratio:
        return 0.0
    return 1 - math.exp((epsilon - ratio) / 2) / 2
