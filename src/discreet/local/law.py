"""Two-level law: P(y | x) = e^ε/Z if y ∈ S_x, else 1/Z, with Z = e^ε w + |Y| − w.

Y is the set of outputs. Every option x has a set S_x of w outputs, and any two sets share λ.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..arithmetic.rational import Number, check_from_0_to_1, whole
from ..arithmetic.rounding import up
from ..frozen import frozen
from ..mechanisms.laws.error_bound import hoeffding
from ..noise.exp import exp_neg
from ..privacy.events import Response
from ..privacy.measures import REPLACE
from .designs.design import DesignSizes
from .spend import read_forged

# Bits of e^−ε from which the whole number k of the price is rounded down.
_PRECISION = 256


@frozen
class TwoLevelLaw:
    """Probabilities, variance and price that follow from the sizes of a design and ε.

    A report falls into the set of its own option with probability p = e^ε w/Z, and into that of
    another option with q = (e^ε λ + w − λ)/Z. A count is estimated by (C − nq)/(p − q), C being
    the number of reports in the option's set.

    >>> from discreet.local.law import TwoLevelLaw
    >>> from fractions import Fraction
    >>> from discreet.local.designs.direct import direct_facts
    >>> law = TwoLevelLaw(direct_facts(2), Fraction(1))
    >>> round(law.p, 4), round(law.q, 4), round(law.variance(n=100, frequency=0.5), 6)
    (0.7311, 0.2689, 0.009207)

    Guarantee: the estimate is unbiased, and `event` costs at least as much as one report.
    Law: `tests/local/test_family.py::TestUnbiased`
    Law: `tests/local/test_family.py::TestPrice`
    """

    facts: DesignSizes
    epsilon: Fraction

    @property
    def p(self) -> float:
        """Probability that a report falls into the set of its own option."""
        return self._inside / self._scaled_total

    @property
    def q(self) -> float:
        """Probability that a report falls into the set of another option."""
        shared = float(Fraction(self.facts.shared, self.facts.outputs))
        return (shared + self._not_shared * self._shrink) / self._scaled_total

    @property
    def spread(self) -> float:
        """The difference p − q = (w − λ)(e^ε − 1)/Z, without cancellation."""
        # expm1 keeps all digits where ε is small and p and q nearly agree.
        growth = -math.expm1(-float(self.epsilon))
        return self._not_shared * growth / self._scaled_total

    @property
    def _inside(self) -> float:
        """The fraction w/|Y|; of exact integers, since both may exceed the floats."""
        return float(Fraction(self.facts.inside, self.facts.outputs))

    @property
    def _not_shared(self) -> float:
        """The fraction (w − λ)/|Y|."""
        return float(Fraction(self.facts.inside - self.facts.shared, self.facts.outputs))

    @property
    def _scaled_total(self) -> float:
        """Z/(e^ε |Y|): scaled by e^−ε, so that no power of e overflows."""
        inside = self._inside
        return inside + (1 - inside) * self._shrink

    @property
    def _shrink(self) -> float:
        """The factor e^−ε."""
        return math.exp(-float(self.epsilon))

    @property
    def event(self) -> Response:
        """Privacy event of one report: randomized response among k options costs no less.

        Two options differ on w − λ outputs each way, so the losses are ±ε with masses e^ε a and a,
        a = (w − λ)/Z, and 0 else. Such pairs are ordered by a (dH/da = e^ε − e^t ≥ 0 for t ≥ 0,
        e^{ε+t} − 1 ≥ 0 for −ε ≤ t < 0). Randomized response among k has a = 1/(e^ε + k − 1), so
        k = ⌊(e^ε λ + |Y| − w)/(w − λ)⌋ + 1 costs enough.
        """
        return Response(self.epsilon, max(2, self._equivalent_options()), neighbours=REPLACE)

    def _equivalent_options(self) -> int:
        """Return k, rounded down: fewer options cost more, so the price stays an upper bound."""
        facts = self.facts
        _, upper = exp_neg(self.epsilon.numerator, self.epsilon.denominator, _PRECISION)
        # Division by an upper bound of e^−ε gives e^ε λ from below.
        scaled_shared = (facts.shared << _PRECISION) // upper
        numerator = scaled_shared + facts.outputs - facts.inside
        return numerator // (facts.inside - facts.shared) + 1

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of an estimated frequency: [f p(1−p) + (1−f) q(1−q)]/(n(p−q)²).

        Refuses: `InvalidArgument` for a frequency outside 0 … 1.
        """
        people = whole(n, "n", least=1)
        check_from_0_to_1(frequency, "frequency")
        p = self.p
        q = self.q
        of_holders = frequency * p * (1 - p)
        of_others = (1 - frequency) * q * (1 - q)
        one_report = of_holders + of_others
        return one_report / (people * self.spread**2)

    @property
    def total_variance(self) -> float:
        """Sum of the variances of all options for one report.

        It does not depend on the frequencies, since they sum to 1.
        """
        p = self.p
        q = self.q
        others = self.facts.options - 1
        total = p * (1 - p) + others * q * (1 - q)
        return total / self.spread**2

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency (Hoeffding 1963).

        The bound holds with probability at least 1 − β.
        """
        # Rounded up: a promise of accuracy is never too small.
        return up(hoeffding(n, beta) / self.spread)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far m = `forged` of n reports can move an estimated frequency: m/(n(p − q)).

        A report adds 0 or 1 to the count of an option, forged or not.
        """
        people, forged_count = read_forged(n, forged)
        return up(forged_count / (people * self.spread))
