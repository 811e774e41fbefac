"""Base class of the mechanisms that add whole noise to whole numbers, and what they share.

Readers of whole sensitivities, addition without overflow, and the search for a scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...noise.geometric import MAX_SCALE
from ...privacy.calibrate import least_scale
from ...privacy.events import Event
from ...privacy.measures import Measure, PureDP
from ..laws.error_bound import evaluate, interval_around, max_scale, per_cell_beta
from ..reading.value import Whole, add_saturating, read_whole
from ..sensitivity import ReadSensitivity, Sensitivity
from .lattice import Draw

# The samplers' noise stays below 2^62, and so does every error.
_MAX_ERROR = 1 << 62


class IntegerMechanism:
    """Base of the mechanisms that add whole noise to whole numbers.

    A subclass states what it draws (`release`), what that costs (`event`) and how far it is off
    (`error`). The base states what follows: the interval around an answer, and the law of a release
    from P(noise = distance) and P(noise ≤ distance), the `_pmf` and `_cdf` of the subclass.
    """

    __slots__ = ()

    error: Callable[..., int]
    _pmf: Callable[[Floats], Floats]
    _cdf: Callable[[Floats], Floats]

    def interval(self, answer: Whole, beta: Number = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return a confidence interval for the true value, of confidence 1 − β, around an answer.

        >>> import discreet as dp
        >>> dp.DiscreteLaplace(scale=2, sensitivity=1).interval(42)
        (36, 48)
        >>> dp.DiscreteGaussian(scale=10, sensitivity=1).interval(42)
        (22, 62)
        >>> dp.Binomial(trials=400, sensitivity=1).interval(42)
        (22, 62)
        """
        exact = read_whole(answer)
        return interval_around(exact, self.error(beta, cells=cells))

    def pmf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x).

        >>> import discreet as dp
        >>> round(dp.DiscreteLaplace.spending(dp.PureDP(0.5), sensitivity=1).pmf(0), 12)
        0.244918662404
        >>> round(dp.DiscreteGaussian(scale=1, sensitivity=1).pmf(0), 12)
        0.398942278267
        >>> dp.Binomial(trials=4, sensitivity=1).pmf([-2, 0, 3]).round(12).tolist()
        [0.0625, 0.375, 0.0]
        """
        return evaluate(lambda y: self._pmf(y - value), x)

    def cdf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        return evaluate(lambda y: self._cdf(y - value), x)


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


def whole_l1(sensitivity: ReadSensitivity) -> int:
    """Read the whole number Δ1 of a sensitivity."""
    if isinstance(sensitivity, Sensitivity):
        return whole_norm(sensitivity.l1)
    return whole_norm(sensitivity)


def add_drawn(value: Whole, draw: Draw) -> Whole:
    """Add whole noise to whole numbers of any shape.

    Refuses: all but whole numbers and arrays of them (InvalidArgument), before a bit is drawn.

    >>> from discreet.mechanisms.additive.integer import add_drawn
    >>> add_drawn(5, lambda size: -7)
    -2
    """
    exact = read_whole(value)
    if isinstance(exact, int):
        noisy = add_saturating(exact, int(draw(None)))
    else:
        noise = np.asarray(draw(exact.size))
        noisy = add_saturating(exact, noise.reshape(exact.shape))
    return cast("Whole", noisy)


def least_laplace_scale(budget: Measure, make: Callable[[Fraction], Event], norm: int) -> Fraction:
    """Choose the least scale that keeps a budget: Δ1/ε, exactly, for pure ε."""
    if isinstance(budget, PureDP):
        return norm / budget.epsilon
    return least_scale(make, budget, start=Fraction(norm))


def max_noise_scale(
    error: Number, beta: Number, cells: int, tail: Callable[[int, float], float]
) -> Fraction:
    """Choose the largest scale, at most 2^50, whose error stays within a bound.

    P(|noise| > error) = tail(⌊error⌋, scale), and some cell exceeds it with probability ≤ β.

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
