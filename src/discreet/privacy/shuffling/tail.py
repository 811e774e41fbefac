"""Far tail of the privacy loss of shuffled reports: Chernoff bounds, in logarithms.

The pair of `shuffling.pair` counts cases of a chance below about e^−depth (e^−80, or e^−160 for
the prices of `prices`) as lost, with an infinite loss. A price at one δ does not notice them. One
in ρ, μ or Rényi divergences holds for every δ and must know how rare a larger loss is, down to
e^−20,000.

A loss above t is a sum of independent terms above 0, one for each person:

| pair | loss ≥ t says | terms: in A, in B, in neither |
|---|---|---|
| two levels | N + (e^ε − 1)a ≥ e^t (N + (e^ε − 1)b) | e^ε − e^t, 1 − e^(ε+t), 1 − e^t |
| clones | s(a − b) ≥ tanh(t/2)(a + b) | s − tanh(t/2), −s − tanh(t/2), none |

Another person is in A with chance γh, in B with γh, in neither with γ(1 − 2h), and else contributes
nothing. With the moment generating functions f of the others' terms and g of the person's own, for
every θ ≥ 0

    P[loss ≥ t] ≤ f(θ)^(n−1) · g(θ).

Law: tests/local/test_shuffle.py::TestFarTail
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.rounding import up
from ...frozen import frozen
from ..events.choice import Shuffled
from ..loss.loss_masses import Array
from .pair import EXP_MARGIN, MAX_PEOPLE, two_level_shares

_HALVINGS = 60
"""Steps of the search for θ. Every θ is sound; more steps only make the bound smaller."""
_DOUBLINGS = 80
"""Largest exponent of two that is tried for θ."""


@frozen
class TermLaws:
    """Chances of the three kinds of reports: of another person, and of the person under P.

    `growth` is e^ε, rounded up; `clones` tells which terms belong to the chances.
    """

    growth: float
    others: tuple[float, float, float]
    own: tuple[float, float, float]
    clones: bool

    def terms(self, t: Array) -> Array:
        """Return the terms at each loss t: a row for each kind of report."""
        if self.clones:
            slope = (self.growth - 1) / (self.growth + 1)
            passed = np.tanh(t / 2)
            # No clone is in neither; its chance is 0.
            return np.array([slope - passed, -slope - passed, 0 * t])
        ratio = np.exp(t)
        return np.array([self.growth - ratio, 1 - self.growth * ratio, 1 - ratio])


def term_laws(event: Shuffled) -> TermLaws:
    """Return the laws by the sizes of the mechanism where they are known, else by clones.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.tail import term_laws
    >>> term_laws(Shuffled(1, 100)).clones, term_laws(Shuffled(1, 100, 10, 1, 0)).clones
    (True, False)
    """
    # e^ε rounds up: larger slopes and fewer reports to hide in, both of which dominate.
    growth = up(math.exp(float(event.epsilon)), EXP_MARGIN)
    if event.outputs is None or event.inside is None or event.shared is None:
        half = 1 / growth / 2
        slope = (growth - 1) / (growth + 1)
        return TermLaws(growth, (half, half, 0.0), ((1 + slope) / 2, (1 - slope) / 2, 0.0), True)
    blanket, apart = two_level_shares(event.outputs, event.inside, event.shared, growth)
    neither = blanket * max(0.0, 1 - 2 * apart)
    others = (blanket * apart, blanket * apart, neither)
    # The remaining chance of the person's own report is told, and has no loss.
    own = (growth * blanket * apart, blanket * apart, neither)
    return TermLaws(growth, others, own, False)


def log_tail(event: Shuffled, losses: Array) -> Array:
    """Return upper bounds on ln P[loss ≥ t] for losses t > 0, each at most 0.

    >>> import numpy as np
    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.tail import log_tail
    >>> log_tail(Shuffled(1, 10_000, 10, 1, 0), np.array([0.1, 0.5])).round().tolist()
    [-100.0, -2822.0]

    Guarantee: under P of the dominating pair (two levels where known, else clones) the probability
        is never above the bound.

    Law: tests/local/test_shuffle.py::TestFarTail
    """
    laws = term_laws(event)
    people = min(event.n, MAX_PEOPLE)
    terms = laws.terms(losses)
    high = np.ones_like(losses)
    for _ in range(_DOUBLINGS):
        # The exponent is convex in θ: its least is to the right while it falls.
        falls = _slope(laws, people, terms, high) < 0
        high = np.where(falls, 2 * high, high)
    low = np.zeros_like(losses)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        falls = _slope(laws, people, terms, middle) < 0
        low = np.where(falls, middle, low)
        high = np.where(falls, high, middle)
    # A logarithm of chances errs by some units in the last place, and is counted once a person.
    rounding = (8 * people + 4096) * 2.0**-52
    exponents = _exponent(laws, people, terms, high) + rounding
    return np.asarray(np.minimum(exponents, 0.0))


def _exponent(laws: TermLaws, people: int, terms: Array, theta: Array) -> Array:
    """Return (n − 1) ln f(θ) + ln g(θ)."""
    others, own, shift, _, _ = _moments(laws, terms, theta)
    return np.asarray((people - 1) * (np.log(others) + shift) + np.log(own) + shift)


def _slope(laws: TermLaws, people: int, terms: Array, theta: Array) -> Array:
    """Return the derivative of the exponent."""
    others, own, _, others_rise, own_rise = _moments(laws, terms, theta)
    return np.asarray((people - 1) * others_rise / others + own_rise / own)


def _moments(
    laws: TermLaws, terms: Array, theta: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return f and g over e^shift, the shift, and their derivatives over e^shift."""
    exponents = theta * terms
    # Nothing overflows once the largest exponent is taken out; 0 is that of no contribution.
    shift = np.maximum(exponents.max(axis=0), 0.0)
    powers = np.exp(exponents - shift)
    nothing = max(0.0, 1 - sum(laws.others))
    others_chances = np.array(laws.others)
    own_chances = np.array(laws.own)
    others = others_chances @ powers + nothing * np.exp(-shift)
    own = own_chances @ powers
    weighted = powers * terms
    return others, own, shift, others_chances @ weighted, own_chances @ weighted
