"""The two-level law: P(y | x) = e^ε/Z if y ∈ S_x, else 1/Z, with Z = e^ε w + |Y| − w."""

from __future__ import annotations

import math
from fractions import Fraction

from ..arithmetic.rational import Number, whole
from ..arithmetic.rounding import up
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.laws.error_bound import read_beta
from ..noise.exp import exp_neg
from ..privacy.events import Response
from ..privacy.neighbours import REPLACE
from .designs.design import Facts

_FINE = 256  # bits of e^−ε where a whole number is rounded down from it


@frozen
class TwoLevelLaw:
    """What the four sizes of a design and ε say: chances, variance, price.

    A report falls into the set of its own option with probability p = e^ε w/Z, into that of another with
    q = (e^ε λ + w − λ)/Z, and a count is told by (C − nq)/(p − q), C the reports in the option's set: unbiased.

    >>> from discreet.local.law import TwoLevelLaw
    >>> from fractions import Fraction
    >>> from discreet.local.designs.direct import direct_facts
    >>> law = TwoLevelLaw(direct_facts(2), Fraction(1))
    >>> round(law.p, 4), round(law.q, 4), round(law.variance(n=100, frequency=0.5), 6)
    (0.7311, 0.2689, 0.009207)
    """

    facts: Facts
    epsilon: Fraction

    @property
    def p(self) -> float:
        """The chance to fall into one's own set."""
        share = float(Fraction(self.facts.inside, self.facts.outputs))
        return share / (share + (1 - share) * self._other)

    @property
    def q(self) -> float:
        """The chance to fall into another option's set."""
        y = self.facts.outputs
        share, both = float(Fraction(self.facts.inside, y)), float(Fraction(self.facts.shared, y))
        apart = float(Fraction(self.facts.inside - self.facts.shared, y))
        return (both + apart * self._other) / (share + (1 - share) * self._other)

    @property
    def spread(self) -> float:
        """The difference p − q = (w − λ)(e^ε − 1)/Z, without cancellation."""
        y = self.facts.outputs
        share, apart = (
            float(Fraction(self.facts.inside, y)),
            float(Fraction(self.facts.inside - self.facts.shared, y)),
        )
        return apart * -math.expm1(-float(self.epsilon)) / (share + (1 - share) * self._other)

    @property
    def _other(self) -> float:
        return math.exp(-float(self.epsilon))

    @property
    def event(self) -> Response:
        """What one report costs: at most as much as randomized response among k options.

        Two options differ on w − λ outputs each way, so the losses are ±ε with masses e^ε a and a, a = (w − λ)/Z, and 0
        else. Such pairs are ordered by a (dH/da = e^ε − e^t ≥ 0 for t ≥ 0, e^{ε+t} − 1 ≥ 0 for −ε ≤ t < 0), and
        randomized response among k has a = 1/(e^ε + k − 1): k = ⌊(e^ε λ + |Y| − w)/(w − λ)⌋ + 1 is dear enough.
        """
        return Response(self.epsilon, max(2, self._alike()), neighbours=REPLACE)

    def _alike(self) -> int:
        facts = self.facts
        high = exp_neg(self.epsilon.numerator, self.epsilon.denominator, _FINE)[1]
        least = (facts.shared << _FINE) // high  # e^ε λ from below
        return (least + facts.outputs - facts.inside) // (facts.inside - facts.shared) + 1

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of an estimated frequency: [f p(1−p) + (1−f) q(1−q)]/(n(p−q)²).

        Refuses a frequency outside 0 … 1.
        """
        people = whole(n, "n", least=1)
        if not 0 <= frequency <= 1:
            raise InvalidArgument("frequency must lie from 0 to 1")
        p, q = self.p, self.q
        return (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)) / (people * self.spread**2)

    @property
    def total_variance(self) -> float:
        """The variances of all options for one report, added up: the same whatever the frequencies (they sum to 1)."""
        p, q = self.p, self.q
        return (p * (1 - p) + (self.facts.options - 1) * q * (1 - q)) / self.spread**2

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency, with probability at least 1 − β (Hoeffding
        1963).
        """
        return up(
            math.sqrt(math.log(2 / read_beta(beta)) / (2 * whole(n, "n", least=1))) / self.spread
        )

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the estimate of a frequency, whatever they say: m/(n(p − q)).

        A report adds 0 or 1 to the count of an option, forged or not.
        """
        people = whole(n, "n", least=1)
        return up(whole(forged, "forged", most=people) / (people * self.spread))
