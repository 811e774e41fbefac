"""Frequency oracle of one round of the heavy-hitter search: the frequency of every candidate.

Most people of a round hold none of its candidates. If "none of them" is an option like the others,
a report of it costs each candidate as much noise as a report of another candidate. A geometry with
a separate set for "none of them" (`designs/extra_option.py`) costs less: at ε = 2 up to half.
The fraction of people who hold no candidate is estimated from earlier rounds. The design with the
least variance at that fraction is taken.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..choose import FIELDS, choose, fits
from ..designs.design import DesignSizes, Integers
from ..designs.extra_option import ExtraOption
from ..designs.geometry import geometry_facts
from ..estimates.estimate import Array
from ..family import Family
from ..law import TwoLevelLaw


def best_extra_option_field(options: int, epsilon: Fraction, none: float) -> int:
    """Return the best field of a geometry with a separate set for "none of them".

    `options` counts "none of them" too; `none` is the fraction of people who hold no candidate. The
    result 0 means that the members without a separate set have less variance.

    >>> from discreet.local.search.oracle import best_extra_option_field
    >>> from fractions import Fraction
    >>> best_extra_option_field(1 << 20, Fraction(2), 0.8), best_extra_option_field(1 << 20, Fraction(2), 0.1)
    (5, 0)

    Law: `tests/local/test_extra_option.py::test_a_set_apart_is_taken_where_most_hold_none`
    """
    plain_law = TwoLevelLaw(choose(options, epsilon).taken.facts, epsilon)
    # Ties go to field 0, hence to the member without a separate set: it is the simpler report.
    best = (plain_law.variance(n=1, frequency=0.0), 0)
    for q in FIELDS:
        facts = geometry_facts(options - 1, q)
        if fits(facts, q):
            variance = _variance_of_absent(_with_apart(facts), facts.shared, epsilon, none)
            best = min(best, (variance, q))
    return best[1]


def frequencies_of(family: Family, counts: Integers, n: int) -> tuple[Array, float]:
    """Return an unbiased frequency of every option, and the variance of one that nobody holds.

    A report lies in the set of v with probability p for v, q for another candidate and q₀ for
    "none of them". The reports in the separate set estimate how many people hold none.

    Guarantee: the estimates are unbiased and have the variance returned.
    Law: `tests/local/test_extra_option.py::TestSetApart`
    """
    to_none = family.law
    between = candidates_law(family)
    observed = counts / n
    if not isinstance(family.design, ExtraOption):
        values = (observed - between.q) / between.spread
        return np.asarray(values), between.variance(n=n, frequency=0.0)
    none = float((observed[-1] - to_none.q) / to_none.spread)
    correction = none * (between.q - to_none.q)
    values = (observed - between.q + correction) / between.spread
    # The estimate of `none` may leave 0 … 1; the variance is a mixture and needs a fraction.
    fraction = min(max(none, 0.0), 1.0)
    one_report = _variance_of_absent(to_none.facts, between.facts.shared, family.epsilon, fraction)
    return values, one_report / n


def candidates_law(family: Family) -> TwoLevelLaw:
    """Return the law between two candidates.

    With a separate set, the law of `family` itself is between a candidate and "none of them".
    A report adds at most 1 to a candidate's count, and less if it is in the separate set. So
    `influence` of this law bounds the effect of forged reports.
    """
    design = family.design
    if not isinstance(design, ExtraOption):
        return family.law
    facts = replace(design.facts, shared=design.geometry.facts.shared)
    return TwoLevelLaw(facts, family.epsilon)


def _with_apart(facts: DesignSizes) -> DesignSizes:
    """Return the sizes of a geometry once a separate set of the same size is added."""
    outputs = facts.outputs + facts.inside
    return replace(facts, options=facts.options + 1, outputs=outputs, shared=0)


def _variance_of_absent(facts: DesignSizes, shared: int, epsilon: Fraction, none: float) -> float:
    """Return the variance that one report adds to a candidate that nobody holds.

    `shared` is λ of two candidates, and `none` the fraction of people who hold no candidate.

    The report adds (1[y ∈ S_v] + a·1[y in the separate set])/(p − q).
    """
    to_none = TwoLevelLaw(facts, epsilon)
    between = TwoLevelLaw(replace(facts, shared=shared), epsilon)
    a = (between.q - to_none.q) / to_none.spread
    # The two events exclude each other, so the second moment has no mixed term.
    holds_none_mean = to_none.q + a * to_none.p
    holds_none_square = to_none.q + a * a * to_none.p
    holds_none = holds_none_square - holds_none_mean**2
    holds_other_mean = between.q + a * to_none.q
    holds_other_square = between.q + a * a * to_none.q
    holds_other = holds_other_square - holds_other_mean**2
    mixture = none * holds_none + (1 - none) * holds_other
    return mixture / between.spread**2
