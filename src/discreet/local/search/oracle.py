"""What a round's reports say of every candidate, and which member of the family tells it best.

Most people of a round hold none of its candidates. With "none of them" as one option like the others a report that
stands for it costs each candidate as much noise as a report of another candidate. With a set apart (`designs.apart`) it
costs less: at ε = 2 up to half. The share of such people is estimated from the rounds before, and computed variances
decide.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..choose import FIELDS, choose, fits
from ..designs.design import Facts, Integers
from ..designs.extra_option import Apart
from ..designs.geometry import geometry_facts
from ..estimates.estimate import Array
from ..family import Family
from ..law import TwoLevelLaw


def best_apart(options: int, epsilon: Fraction, none: float) -> int:
    """Return the field of the geometry with a set apart that is best if `none` of all people hold no candidate.

    >>> from discreet.local.search.oracle import best_apart
    >>> from fractions import Fraction
    >>> best_apart(1 << 20, Fraction(2), 0.8), best_apart(1 << 20, Fraction(2), 0.1)
    (5, 0)

    0: none; the members without one are better.
    """
    plain = TwoLevelLaw(choose(options, epsilon).taken.facts, epsilon).variance(n=1, frequency=0.0)
    sizes = [(geometry_facts(options - 1, q), q) for q in FIELDS]
    known = [
        (_noise(_beside(facts), facts.shared, epsilon, none), q)
        for facts, q in sizes
        if fits(facts, q)
    ]
    return min([(plain, 0), *known])[1]


def frequencies_of(family: Family, counts: Integers, n: int) -> tuple[Array, float]:
    """Return the frequency of every option, unbiased, and the variance of one that nobody holds.

    A report lies in the set of v with chance p for v, q for another candidate and q₀ for "none of them"; how many hold
    none is told by those apart.
    """
    alone, among, shares = family.law, candidates_law(family), counts / n
    if not isinstance(family.design, Apart):
        return np.asarray((shares - among.q) / among.spread), among.variance(n=n, frequency=0.0)
    none = float((shares[-1] - alone.q) / alone.spread)
    values = (shares - among.q + none * (among.q - alone.q)) / among.spread
    return values, _noise(
        alone.facts, among.facts.shared, family.epsilon, min(max(none, 0.0), 1.0)
    ) / n


def candidates_law(family: Family) -> TwoLevelLaw:
    """Return the law between two candidates; that of `family` is between a candidate and a set apart, if there is one.

    A report adds at most 1 to a candidate's count, apart less, so this law's `influence` bounds what forged ones do.
    """
    if not isinstance(family.design, Apart):
        return family.law
    return TwoLevelLaw(
        replace(family.design.facts, shared=family.design.geometry.facts.shared), family.epsilon
    )


def _beside(facts: Facts) -> Facts:
    return replace(facts, options=facts.options + 1, outputs=facts.outputs + facts.inside, shared=0)


def _noise(facts: Facts, shared: int, epsilon: Fraction, none: float) -> float:
    """Return the variance that one report adds to a candidate nobody holds: 1[y ∈ S_v] + a·1[y apart], over p − q."""
    alone, among = TwoLevelLaw(facts, epsilon), TwoLevelLaw(replace(facts, shared=shared), epsilon)
    a = (among.q - alone.q) / alone.spread
    held = alone.q + a * a * alone.p - (alone.q + a * alone.p) ** 2
    other = among.q + a * a * alone.q - (among.q + a * alone.q) ** 2
    return (none * held + (1 - none) * other) / among.spread**2
