"""Bernoulli coins that are True with probability exactly p, or exactly exp(−x), for rational p, x.

A uniform real number is compared with the bias; as many of its bits are drawn as that takes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import overload

import numpy as np

from ..arithmetic.arrays import Flags
from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from ..frozen import frozen
from .bits import Bits, RandomWords
from .block_draws import cached, serve
from .exact_search import GUARD, STEP, below
from .exp import Bounds, exp_neg
from .table import CHUNK


@frozen
class Coin:
    """Coin law: True with probability `bias`.

    Law: tests/noise/test_trees.py::TestCoins
    """

    bias: Fraction
    width: int = 64
    step: int = STEP

    def bounds(self, precision: int) -> Bounds:
        """Bound the bias, in units of 2^-precision."""
        num = self.bias.numerator << precision
        den = self.bias.denominator
        # Floor for the lower bound, ceiling for the upper one.
        return num // den, -(-num // den)

    def sample(self, count: int, draw: RandomWords, /) -> Flags:
        """Compare each word with the bounds of the bias; decide exactly the few that touch it."""
        out = np.empty(count, dtype=np.bool_)
        fine_low, fine_high = self.bounds(self.width + GUARD)
        # The lower bound is rounded down, the upper one up: between them a word is undecided.
        low = fine_low >> GUARD
        high = -(-fine_high >> GUARD)
        for start in range(0, count, CHUNK):
            part = out[start : start + CHUNK]
            words = draw.words(part.size, self.width)
            np.less(words, low, out=part)
            undecided = np.flatnonzero((words >= low) & (words < high))
            for at in undecided:
                word = int(words[at])
                part[at] = below(word, self.width, self.bounds, draw, step=self.step)
        return out


@frozen
class ExponentialCoin(Coin):
    """Coin law: True with probability exp(−bias)."""

    def bounds(self, precision: int) -> Bounds:
        """Bound exp(−bias), in units of 2^-precision."""
        return exp_neg(self.bias.numerator, self.bias.denominator, precision)


@cached
def _coin(bias: object) -> Coin:
    exact = rational(bias, "bias")
    if not 0 <= exact <= 1:
        raise InvalidArgument(f"bias must be a probability from 0 to 1, got {bias}")
    return Coin(exact)


@cached
def _exponential_coin(exponent: object) -> ExponentialCoin:
    exact = rational(exponent, "exponent")
    if exact < 0:
        raise InvalidArgument(
            f"exponent must be at least 0, so that exp(-exponent) is a probability, got {exponent}"
        )
    return ExponentialCoin(exact)


@overload
def coin(bias: Number, size: None = None, *, bits: Bits | None = None) -> bool: ...
@overload
def coin(bias: Number, size: int, *, bits: Bits | None = None) -> Flags: ...
def coin(bias: Number, size: int | None = None, *, bits: Bits | None = None) -> bool | Flags:
    """Draw True with probability exactly `bias`, a rational from 0 to 1.

    A uniform real, read as far as the comparison needs, is below the bias.

    >>> from discreet.noise import coin
    >>> coin(1), coin(0), coin(0.3, 5).shape
    (True, False, (5,))

    Guarantee: True has probability exactly `bias`.

    Refuses: InvalidArgument for a bias outside [0, 1], before any bit is drawn.

    Law: tests/noise/test_trees.py::TestCoins
    """
    return serve(_coin(bias), size, bits)  # type: ignore[return-value]


@overload
def exponential_coin(exponent: Number, size: None = None, *, bits: Bits | None = None) -> bool: ...
@overload
def exponential_coin(exponent: Number, size: int, *, bits: Bits | None = None) -> Flags: ...
def exponential_coin(
    exponent: Number, size: int | None = None, *, bits: Bits | None = None
) -> bool | Flags:
    """Draw True with probability exactly exp(−exponent), for any rational exponent ≥ 0.

    A uniform real, read as far as the comparison needs, is below exp(−exponent), enclosed as
    tightly as needed. The exponent may be arbitrarily large.

    >>> from discreet.noise import exponential_coin
    >>> exponential_coin(0), exponential_coin(10**400, 5).any()
    (True, np.False_)

    Guarantee: True has probability exactly exp(−exponent).

    Refuses: InvalidArgument for a negative exponent, before any bit is drawn.

    Law: tests/noise/test_trees.py::TestCoins
    """
    return serve(_exponential_coin(exponent), size, bits)  # type: ignore[return-value]
