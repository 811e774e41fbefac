"""Bounds on every guess whether one unit took part (hypothesis testing, f-DP).

A point δ of the privacy curve at ε bounds the false-negative rate FN at a false-positive rate FP:

    FN ≥ 1 − δ − e^ε·FP   and   FN ≥ e^−ε(1 − δ − FP)

(Wasserman, Zhou 2010; Dong, Roth, Su 2022, Proposition 2.5). Each line is a sound bound, so the
largest of several lines is one too.
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
    """Best possible guess: the least false-negative rate at a false-positive rate."""

    false_positive: float
    false_negative: float

    @property
    def true_positive(self) -> float:
        """Bound on the true-positive rate: the share of units in the data that a guess finds."""
        return 1 - self.false_negative

    @property
    def advantage(self) -> float:
        """True positives minus false positives: 0 for a blind guess."""
        return max(0.0, self.true_positive - self.false_positive)


def read_rate(value: Number, name: str) -> Fraction:
    """Read a rate from 0 to 1 exactly.

    Refuses: a rate outside [0, 1] (InvalidArgument).
    """
    rate = rational(value, name)
    if not 0 <= rate <= 1:
        raise InvalidArgument(f"{name} must lie from 0 to 1, got {value}")
    return rate


def bound_attack(lines: Iterable[tuple[float, float]], false_positive: float) -> Attack:
    """Bound the attack by points (ε, δ) of the curve, the best of all the lines.

    Guarantee: no attack has a smaller false-negative rate at this false-positive rate.

    Law: tests/privacy/test_curve.py::TestAttack

    >>> import math
    >>> from discreet.privacy.explain.attack import bound_attack
    >>> round(bound_attack([(math.log(3), 0.0)], 0.1).false_negative, 12)  # randomized response, ε = ln 3
    0.7
    """
    least = 0.0
    for epsilon, delta in lines:
        # e^ε is infinite where it leaves the floats: both lines then say less, which is safe.
        growth = math.exp(epsilon) if epsilon < 700 else math.inf
        # 0 · ∞ is not a number, but a false-positive rate of 0 takes off nothing.
        guessed = growth * false_positive if false_positive else 0.0
        steep_line = 1 - delta - guessed
        flat_line = (1 - delta - false_positive) / growth
        least = max(least, steep_line, flat_line)
    # Down by a few units, above the rounding of the lines: the attacker may be better, not worse.
    return Attack(false_positive, max(0.0, least - 2.0**-50))
