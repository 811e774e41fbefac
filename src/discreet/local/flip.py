"""The coin of a flipped bit: true with probability 1/(1 + e^ε), exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..mechanisms.reading.allowance import largest_epsilon
from ..noise import Bits
from ..noise.coin import Coin
from ..noise.exp import Bounds, exp_neg
from ..noise.serve import cached, serve
from ..privacy.events import Promise
from ..privacy.measures import Measure, PureDP
from ..privacy.neighbours import REPLACE

__all__ = ["FlipCoin", "epsilon_of", "flips", "promise"]


@dataclass(frozen=True, slots=True)
class FlipCoin(Coin):
    """True with probability 1/(1 + e^bias) = e^(−bias)/(1 + e^(−bias)), for a rational bias of at least 0."""

    def bounds(self, precision: int) -> Bounds:
        """Bound the probability, in units of 2^-precision; x/(1 + x) grows with x, so the ends of e^(−bias) do."""
        one = 1 << precision
        low, high = exp_neg(self.bias.numerator, self.bias.denominator, precision)
        return (low << precision) // (one + low), -(-(high << precision) // (one + high))


@cached
def _flip(epsilon: object) -> FlipCoin:
    return FlipCoin(epsilon)  # type: ignore[arg-type]


def flips(epsilon: Fraction, count: int, bits: Bits | None = None) -> NDArray[np.bool_]:
    """Draw `count` independent flips, each true with probability exactly 1/(1 + e^ε).

    >>> flips(Fraction(10**6), 3).any()
    np.False_
    """
    return serve(_flip(epsilon), count, bits)  # type: ignore[return-value]


def promise(epsilon: Fraction) -> Promise:
    """Return the event of a report that is ε-private: any two values of the one who reports, whatever they are."""
    return Promise(PureDP(epsilon), neighbours=REPLACE)


def epsilon_of(spend: Measure) -> Fraction:
    """Return the largest ε of one report that fits a budget; ε itself under PureDP.

    >>> epsilon_of(PureDP(2))
    Fraction(2, 1)

    Refuses a budget of zero, and what is no measure.
    """
    return largest_epsilon(promise, spend)
