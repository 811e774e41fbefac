"""Steps shared by the mechanisms on the integers: whole sensitivities, and their scales."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...noise.geometric import MAX_SCALE
from ...privacy.calibrate import least_scale
from ...privacy.events import Event
from ...privacy.measures import Measure, PureDP
from ..laws.error_bound import max_scale, per_cell_beta
from ..reading.value import Integers, add_saturating
from ..sensitivity import Sensitivity
from .lattice import Draw

# The samplers' noise stays below 2^62, and so does every error.
_MAX_ERROR = 1 << 62


def whole_norm(norm: Fraction) -> int:
    """Read a norm that a mechanism on the integers needs whole.

    >>> from discreet.mechanisms.additive.integer import whole_norm
    >>> from fractions import Fraction
    >>> whole_norm(Fraction(1, 2))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: noise on the integers needs a whole sensitivity, got 1/2; use Laplace or Gaussian
    """
    if norm.denominator != 1:
        raise InvalidArgument(
            f"noise on the integers needs a whole sensitivity, got {norm}; use Laplace or Gaussian"
        )
    return int(norm)


def whole_l1(sensitivity: Fraction | Sensitivity) -> int:
    """Read the whole number Δ1 of a sensitivity."""
    if isinstance(sensitivity, Sensitivity):
        return whole_norm(sensitivity.l1)
    return whole_norm(sensitivity)


def add_drawn(value: int | Integers, draw: Draw) -> int | Integers:
    """Add whole noise to whole numbers of any shape.

    >>> from discreet.mechanisms.additive.integer import add_drawn
    >>> add_drawn(5, lambda size: -7)
    -2
    """
    if isinstance(value, int):
        return value + int(draw(None))
    noise = np.asarray(draw(value.size))
    return add_saturating(value, noise.reshape(value.shape))


def least_laplace_scale(budget: Measure, make: Callable[[Fraction], Event], norm: int) -> Fraction:
    """Choose the least scale that keeps a budget: Δ1/ε, exactly, for pure ε."""
    if isinstance(budget, PureDP):
        return norm / budget.epsilon
    return least_scale(make, budget, start=Fraction(norm))


def max_noise_scale(
    error: Number, beta: Number, cells: int, tail: Callable[[int, float], float]
) -> Fraction:
    """Choose the largest scale, at most 2^50, whose error stays within a bound.

    P(|noise| > error) = tail(⌊error⌋, scale), and all cells together fail with probability ≤ β.

    >>> import math
    >>> from discreet.mechanisms.additive.integer import max_noise_scale
    >>> round(float(max_noise_scale(3, 0.5, 1, lambda t, scale: math.exp(-(t + 1) / scale))) * math.log(2), 9)
    4.0
    """
    # The noise is whole, so only the whole part of the bound matters.
    bound = min(math.floor(positive(error, "error")), _MAX_ERROR)
    cell_beta = per_cell_beta(beta, cells)

    def fits(scale: Fraction) -> bool:
        # The tail is rounded up: a scale that fits only by rounding is not taken.
        if scale > MAX_SCALE:
            return False
        return up(tail(bound, float(scale))) <= cell_beta

    guess = (bound + 1) / -math.log(cell_beta)
    return max_scale(fits, guess)
