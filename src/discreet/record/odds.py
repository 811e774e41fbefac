"""Odds of an attacker who guesses, from all that is published, whether one unit is in the data.

Let a be the equal error rate of the best attacker: false positives and false negatives both have
probability a. Every (ε, δ) that the promise implies gives the lower bound

    a ≥ (1 − δ)/(1 + e^ε)

because FN ≥ 1 − δ − e^ε·FP holds at FN = FP = a. The largest of these bounds is returned:

    promise   bound on a

    pure ε    1/(1 + e^ε)
    (ε, δ)    (1 − δ)/(1 + e^ε)
    μ         Φ(−μ/2), at ε = 0
    ρ, Rényi  the largest over the certified curve δ(ε), at 65 points

Guarantee: no attacker has a smaller equal error rate. The bound is rounded down, so that the
promise never looks better than it is.
Law: tests/record/test_odds.py
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..frozen import frozen
from ..privacy.compose import compose
from ..privacy.events import Promise
from ..privacy.measures import ApproxDP, Measure, PureDP

_STEPS = 64
_MAX_EPSILON = 700.0
"""Above it e^ε is no float; the bound is 0 then."""
_SLACK = 2.0**-50
"""Above the rounding of one exponential and one quotient."""


@frozen
class Odds:
    """Bounds for 100 guesses whether one unit is in the data, at equal error rates.

    Of 100 guesses about a unit that is not in the data, at least `outside` say that it is. Of 100
    about a unit that is, at most `inside` say so. `error` is the bound on the equal error rate.
    """

    error: float
    outside: int
    inside: int

    @property
    def hides(self) -> bool:
        """Whether the promise alone hides at all that somebody took part."""
        return self.outside > 0 or self.inside < 100


def odds_of(measure: Measure) -> Odds:
    """Return the odds of an attacker against a whole promise; `outside` rounds down, `inside` up.

    >>> import discreet as dp
    >>> from discreet.record.odds import odds_of
    >>> odds = odds_of(dp.PureDP(1))
    >>> odds.outside, odds.inside
    (26, 74)
    """
    error = equal_error(measure)
    # Down and up: fewer wrong guesses and more right ones than there are, never the other way.
    return Odds(error, math.floor(100 * error), math.ceil(100 * (1 - error)))


def equal_error(measure: Measure) -> float:
    """Return a lower bound on the equal error rate of every attacker."""
    match measure:
        case PureDP(epsilon=epsilon):
            points = [(float(epsilon), 0.0)]
        case ApproxDP(epsilon=epsilon, delta=delta):
            points = [(float(epsilon), float(delta))]
        case _:
            points = _curve_points(measure)
    bounds = [_error_at(epsilon, delta) for epsilon, delta in points]
    return max(0.0, max(bounds) - _SLACK)


def _error_at(epsilon: float, delta: float) -> float:
    if epsilon > _MAX_EPSILON:
        return 0.0
    return (1 - delta) / (1 + math.exp(epsilon))


def _curve_points(measure: Measure) -> list[tuple[float, float]]:
    """List 65 points (ε, δ) of the certified curve, from ε = 0 to the ε at which δ is 1/1000."""
    curve = compose(Promise(measure))
    far = min(curve.epsilon(Fraction(1, 1000)), _MAX_EPSILON)
    points = []
    for step in range(_STEPS + 1):
        epsilon = far * step / _STEPS
        points.append((epsilon, curve.delta(Fraction(epsilon))))
    return points
