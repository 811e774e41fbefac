"""What mechanisms on the integers share: whole sensitivities, and scales from a budget or from an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...noise.geometric import MOST_SCALE
from ...privacy.calibrate import least_scale
from ...privacy.events import Event
from ...privacy.measures import Measure, PureDP
from ..laws.error_bound import level, most_scale
from ..reading.value import Integers, add_whole
from ..sensitivity import Sensitivity
from .lattice import Draw


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
    """Read Δ1 in whole steps."""
    return whole_norm(sensitivity.l1 if isinstance(sensitivity, Sensitivity) else sensitivity)


def add_drawn(value: int | Integers, draw: Draw) -> int | Integers:
    """Add whole noise to whole numbers of any shape.

    >>> from discreet.mechanisms.additive.integer import add_drawn
    >>> add_drawn(5, lambda size: -7)
    -2
    """
    if isinstance(value, int):
        return value + int(draw(None))
    return add_whole(value, np.asarray(draw(value.size)).reshape(value.shape))


def least_laplace(budget: Measure, make: Callable[[Fraction], Event], norm: int) -> Fraction:
    """Choose the least scale that keeps a promise: Δ1/ε, exactly, for pure ε."""
    if isinstance(budget, PureDP):
        return norm / budget.epsilon
    return least_scale(make, budget, start=Fraction(norm))


def most_noise(
    error: Number, beta: Number, cells: int, tail: Callable[[int, float], float]
) -> Fraction:
    """Choose the largest scale, at most 2^50, with P(|noise| > error) = tail(⌊error⌋, scale) within β in all cells.

    >>> import math
    >>> from discreet.mechanisms.additive.integer import most_noise
    >>> round(float(most_noise(3, 0.5, 1, lambda t, scale: math.exp(-(t + 1) / scale))) * math.log(2), 9)
    4.0
    """
    bound, chance = (
        min(math.floor(positive(error, "error")), 1 << 62),
        level(beta, cells),
    )  # whole: nothing to round
    guess = (bound + 1) / -math.log(chance)
    return most_scale(
        lambda scale: scale <= MOST_SCALE and up(tail(bound, float(scale))) <= chance, guess
    )
