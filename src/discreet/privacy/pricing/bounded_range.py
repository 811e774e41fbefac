"""Bounded range as Gaussian DP: a selection of range ε is no easier to tell apart than randomized response ε/2."""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rounding import fraction_up
from .gaussian import mu_of_pure


def range_square(epsilon: Fraction) -> Fraction:
    """Return the least μ² for which every mechanism of bounded range ε is μ-Gaussian DP; rounded up.

    It is that of randomized response ε/2, a quarter of what ε-DP alone would cost for small ε. Proof: with y = ε/2 the
    worst loss is w + y or w − y for some offset |w| ≤ y (Dong, Durfee, Rogers 2020). Its trade-off function has one
    corner, α = (e^−w − e^−y)/2sinh y and β the same with −w, so μ ≥ K(w) = −Φ⁻¹(α) − Φ⁻¹(β) is needed and enough.
    K is even, and for w > 0 it falls if I(β) ≤ e^(2w) I(α), where I = φ∘Φ⁻¹. Now α + β < 1 and α < β, so α < min(β,
    1−β) ≤ ½; I(p)/p(1−p) falls on (0, ½) and I(p) = I(1−p); hence I(β)/I(α) ≤ β(1−β)/α(1−α), which is e^(2w) exactly.
    So the worst offset is w = 0: randomized response ε/2. (At p = Φ(z), I(p)/p(1−p) = h(z) + h(−z) with the normal
    hazard rate h, which is convex: Sampford 1953. So it is least at z = 0.)

    >>> from discreet.privacy.pricing.bounded_range import range_square
    >>> from discreet.privacy.pricing.gaussian import mu_of_pure
    >>> from fractions import Fraction
    >>> round(float(range_square(Fraction(2))), 6) == round(mu_of_pure(1.0) ** 2, 6)
    True
    """
    return fraction_up(mu_of_pure(float(epsilon) / 2) ** 2)
