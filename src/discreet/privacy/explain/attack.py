"""What an attacker can do who must guess whether one unit took part: his errors, and the lines that bound them.

A point δ of the privacy curve at ε says FN ≥ 1 − δ − e^ε·FP and FN ≥ e^−ε(1 − δ − FP) (Wasserman, Zhou 2010; Dong,
Roth, Su 2022, Proposition 2.5). Each line is a sound bound, so a few of them are one too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ...frozen import frozen


@frozen
class Attack:
    """A guess at its best: at this false-positive rate the false-negative rate is at least the one given."""

    false_positive: float
    false_negative: float

    @property
    def true_positive(self) -> float:
        """The most that can be found of what is there."""
        return 1 - self.false_negative

    @property
    def advantage(self) -> float:
        """How much better than a blind guess: true positives minus false positives."""
        return max(0.0, self.true_positive - self.false_positive)


def read_rate(value: Number, name: str) -> Fraction:
    """Read a rate from 0 to 1 exactly."""
    rate = rational(value, name)
    if not 0 <= rate <= 1:
        raise InvalidArgument(f"{name} must lie from 0 to 1, got {value}")
    return rate


def attack(lines: Iterable[tuple[float, float]], false_positive: float) -> Attack:
    """Bound the attack by points (ε, δ) of the curve, the best of all the lines.

    >>> import math
    >>> from discreet.privacy.explain.attack import attack
    >>> round(attack([(math.log(3), 0.0)], 0.1).false_negative, 12)  # randomized response with ε = ln 3
    0.7
    """
    alpha, least = false_positive, 0.0
    for epsilon, delta in lines:
        grown = math.exp(epsilon) if epsilon < 700 else math.inf
        least = max(
            least, 1 - delta - (grown * alpha if alpha else 0.0), (1 - delta - alpha) / grown
        )
    return Attack(alpha, max(0.0, least - 2.0**-50))
